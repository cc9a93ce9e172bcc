//! Usage of a network in an hour or in a part of it.

use crate::usage_counters::CountedUsage;

/// Counts add up over an hour's parts; the highest peak counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    pub(super) requests: i64,
    pub(super) events: i64,
    pub(super) module_calls: i64,
    pub(super) module_micros: i64,
    pub(super) fuel: i64,
    pub(super) peak_players: i64,
    pub(super) peak_servers: i64,
}

impl From<CountedUsage> for Amounts {
    fn from(counted: CountedUsage) -> Self {
        let CountedUsage { requests, events, module_calls, module_micros, fuel } = counted;
        Self { requests, events, module_calls, module_micros, fuel, ..Self::default() }
    }
}

impl Amounts {
    /// Adds another part of the same hour.
    pub(super) fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.requests, other.requests),
            (&mut self.events, other.events),
            (&mut self.module_calls, other.module_calls),
            (&mut self.module_micros, other.module_micros),
            (&mut self.fuel, other.fuel),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.peak_players = self.peak_players.max(other.peak_players);
        self.peak_servers = self.peak_servers.max(other.peak_servers);
    }
}

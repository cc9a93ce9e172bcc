//! Lease of the only node, as known to its holder.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Uptime;

/// The lease by which a node without a bus serves a shared database alone.
#[derive(Debug)]
pub struct SoleLease {
    /// Its end: another process may have it from then on.
    until: Mutex<Uptime>,
    /// True while the database does not answer: then no other process gets the lease either, unless this one is cut off
    /// and can write nothing.
    is_unreachable: AtomicBool,
    /// True once another process has it.
    is_lost: AtomicBool,
}

impl SoleLease {
    /// A lease that was claimed after `asked_at`.
    pub(super) fn new(asked_at: Uptime, ttl: Duration) -> Self {
        let (is_unreachable, is_lost) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { until: Mutex::new(asked_at + ttl), is_unreachable, is_lost }
    }

    /// Records the result of a renewal that began at `asked_at`; none without an answer. Returns true if the lease is lost
    /// by it.
    pub(super) fn record(&self, is_held: Option<bool>, asked_at: Uptime, ttl: Duration) -> bool {
        self.is_unreachable.store(is_held.is_none(), Ordering::Relaxed);
        match is_held {
            Some(true) => *self.until.lock() = asked_at + ttl,
            Some(false) => return !self.is_lost.swap(true, Ordering::Relaxed),
            None => {}
        }
        false
    }

    /// True once another process has it.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// True if no other process may serve the database. False after a pause, until the database has answered.
    pub fn is_valid(&self) -> bool {
        !self.is_lost() && (self.is_unreachable.load(Ordering::Relaxed) || Uptime::now() < *self.until.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(4);

    #[test]
    fn a_lease_is_valid_until_its_end_unless_the_database_is_away() {
        let now = Uptime::now();
        let lease = SoleLease::new(now, TTL);
        assert!(lease.is_valid());
        let paused = SoleLease::new(now, Duration::ZERO);
        assert!(!paused.is_valid() && !paused.is_lost());
        assert!(!paused.record(None, now, TTL) && paused.is_valid(), "nobody else gets it");
        assert!(!paused.record(Some(true), now, TTL) && paused.is_valid());
        assert!(paused.record(Some(false), now, TTL) && !paused.is_valid());
        assert!(!paused.record(Some(false), now, TTL), "it was lost before");
    }
}

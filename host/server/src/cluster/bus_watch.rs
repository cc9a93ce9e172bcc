//! Whether this node should be anybody's home: without the bus it cannot publish, so a node that has it does better.
//!
//! Slow on purpose. When the bus restarts, all nodes lose it at about the same time, and nothing is to move.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How long it is without the bus before the others are told.
const GONE_AFTER: Duration = Duration::from_secs(3);
/// How long it is without the bus before it gives away what it has, to those who have it.
const LEAVE_AFTER: Duration = Duration::from_secs(6);
/// How long it has the bus again before the others are told.
const BACK_AFTER: Duration = Duration::from_secs(5);

/// What a node saw of the bus.
pub(super) struct BusWatch(Mutex<Seen>);

struct Seen {
    has: bool,
    since: Instant,
    told: bool,
}

impl BusWatch {
    /// Of a node that has just connected.
    pub(super) fn new() -> Self {
        Self(Mutex::new(Seen { has: true, since: Instant::now(), told: true }))
    }

    /// Notes whether it has the bus now; says what the other nodes are to be told.
    pub(super) fn note(&self, has: bool, now: Instant) -> bool {
        let mut seen = self.0.lock();
        if seen.has != has {
            (seen.has, seen.since) = (has, now);
        }
        let lasts = now - seen.since;
        seen.told = if has { seen.told || lasts >= BACK_AFTER } else { seen.told && lasts < GONE_AFTER };
        seen.told
    }

    /// Whether the bus has been gone for so long that others should be home.
    pub(super) fn is_gone(&self, now: Instant) -> bool {
        let seen = self.0.lock();
        !seen.has && now - seen.since >= LEAVE_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lasts_is_told() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let watch = BusWatch::new();
        assert!(watch.note(false, at(10)) && watch.note(false, at(12)), "it may be a restart");
        assert!(!watch.note(false, at(13)) && !watch.is_gone(at(15)));
        assert!(watch.is_gone(at(16)));
        assert!(!watch.note(true, at(17)) && !watch.note(true, at(21)) && !watch.is_gone(at(21)), "it may not last");
        assert!(!watch.note(false, at(21)), "it did not");
        assert!(!watch.note(true, at(22)) && watch.note(true, at(27)));
    }
}

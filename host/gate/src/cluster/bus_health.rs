//! Decides if this node should own shards: it cannot publish without the bus, so nodes that reach it serve better.
//!
//! Slow on purpose: when the bus restarts, all nodes lose it at about the same time, and no shard should move.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Time without the bus before the other nodes are notified.
const REPORT_LOST_AFTER: Duration = Duration::from_secs(3);
/// Time without the bus before this node moves its shards to nodes that reach it.
const EVACUATE_AFTER: Duration = Duration::from_secs(6);
/// Time with the bus before the other nodes are notified.
const REPORT_BACK_AFTER: Duration = Duration::from_secs(5);

/// Debounced state of this node's bus connection.
pub(super) struct BusHealth {
    observed: Mutex<Observed>,
    /// Reported as lost while other nodes reach the bus: clients are better served there.
    pub(super) is_outvoted: AtomicBool,
}

struct Observed {
    reachable: bool,
    since: Instant,
    reported: bool,
}

impl BusHealth {
    /// State of a newly connected node.
    pub(super) fn new() -> Self {
        let observed = Observed { reachable: true, since: Instant::now(), reported: true };
        Self { observed: Mutex::new(observed), is_outvoted: AtomicBool::new(false) }
    }

    /// Records the current reachability of the bus. Returns the state to report to the other nodes.
    pub(super) fn observe(&self, reachable: bool, now: Instant) -> bool {
        let mut seen = self.observed.lock();
        if seen.reachable != reachable {
            (seen.reachable, seen.since) = (reachable, now);
        }
        let lasts = now - seen.since;
        seen.reported = if reachable {
            seen.reported || lasts >= REPORT_BACK_AFTER
        } else {
            seen.reported && lasts < REPORT_LOST_AFTER
        };
        seen.reported
    }

    /// True if the other nodes were notified that the bus is lost.
    pub(super) fn is_reported_lost(&self) -> bool {
        !self.observed.lock().reported
    }

    /// True if the bus has been lost for so long that other nodes should own this node's shards.
    pub(super) fn should_evacuate(&self, now: Instant) -> bool {
        let seen = self.observed.lock();
        !seen.reachable && now - seen.since >= EVACUATE_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lasting_changes_are_reported() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let health = BusHealth::new();
        assert!(health.observe(false, at(10)) && health.observe(false, at(12)), "it may be a restart");
        assert!(!health.observe(false, at(13)) && !health.should_evacuate(at(15)));
        assert!(health.should_evacuate(at(16)));
        assert!(!health.observe(true, at(17)) && !health.observe(true, at(21)), "it may not last");
        assert!(!health.should_evacuate(at(21)));
        assert!(!health.observe(false, at(21)), "it did not last");
        assert!(!health.observe(true, at(22)) && health.observe(true, at(27)));
    }
}

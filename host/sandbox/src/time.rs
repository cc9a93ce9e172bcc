//! Time of one call: its computing, and the remaining wait of its caller.

use crate::clock::CallClock;
use crate::limits::Limits;
use crate::report::CallTimes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Maximum wait of a caller whose limit is beyond all clocks.
const MAX_WAIT: Duration = Duration::from_hours(24);
/// Share of its waiting time that the call ends before its caller leaves, who so gets its logs and host calls.
const MARGIN: u32 = 16;

/// Time of one call. Its caller and its thread have one each, of the same call.
#[derive(Clone)]
pub(crate) struct CallTime {
    pub(crate) clock: CallClock,
    allowed: Duration,
    arrived: Instant,
    wait: Duration,
    /// Nanoseconds of computing, for the caller, who may leave while the thread still runs.
    computed: Arc<AtomicU64>,
    /// The thread's processor time when the call began.
    cpu_at_start: Duration,
}

impl CallTime {
    /// Time of a call that arrives now.
    pub(crate) fn new(clock: &CallClock, limits: &Limits) -> Self {
        Self {
            clock: clock.clone(),
            allowed: limits.compute,
            arrived: clock.now(),
            wait: limits.wait.min(MAX_WAIT),
            computed: Arc::default(),
            cpu_at_start: Duration::ZERO,
        }
    }

    /// Starts the call on this thread.
    pub(crate) fn start(&mut self) {
        self.cpu_at_start = self.clock.cpu_time();
    }

    /// Time at which the caller leaves.
    pub(crate) fn deadline(&self) -> Instant {
        self.arrived + self.wait
    }

    /// Time at which the call ends if its caller is still there.
    pub(crate) fn ends_at(&self) -> Instant {
        self.arrived + self.wait.saturating_sub(self.wait / MARGIN)
    }

    /// True if it must end because its caller leaves.
    pub(crate) fn is_late(&self) -> bool {
        self.clock.now() >= self.ends_at()
    }

    /// True if it has used up its computing time.
    pub(crate) fn is_used_up(&self) -> bool {
        self.computed() >= self.allowed
    }

    /// Counts the computing time up to now. Only on the call's own thread.
    pub(crate) fn count(&self) -> Duration {
        let computed = self.clock.cpu_time().saturating_sub(self.cpu_at_start);
        self.computed.store(u64::try_from(computed.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        computed
    }

    /// Computing time at the last count.
    pub(crate) fn computed(&self) -> Duration {
        Duration::from_nanos(self.computed.load(Ordering::Relaxed))
    }

    /// Time since its arrival in which it did not compute.
    pub(crate) fn waited(&self) -> Duration {
        self.clock.now().saturating_duration_since(self.arrived).saturating_sub(self.computed())
    }

    /// Both, for a message.
    pub(crate) fn times(&self) -> CallTimes {
        CallTimes::new(self.allowed, self.computed(), self.waited())
    }
}

/// Microseconds, the unit of reports.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualCallClock;
    use crate::contract::Point;

    #[test]
    fn a_stall_is_waiting_and_no_computing() {
        let manual = ManualCallClock::default();
        let clock = CallClock::Manual(manual.clone());
        let mut time = CallTime::new(&clock, &Limits::of(Point::Chat));
        manual.advance(Duration::from_millis(4));
        time.start();
        manual.set_tick(Duration::from_millis(40), Duration::from_millis(3));
        clock.tick();
        time.count();
        assert_eq!(time.times().to_string(), "10 ms of computing allowed, 3 used; waited 41 ms");
        assert_eq!((time.is_used_up(), time.is_late()), (false, false));
        // Of the 100 ms of the caller's wait the call has a sixteenth less.
        manual.advance(Duration::from_millis(50));
        assert!(time.is_late() && time.deadline() > clock.now());
        manual.set_tick(Duration::ZERO, Duration::from_millis(7));
        clock.tick();
        time.count();
        assert!(time.is_used_up());
    }
}

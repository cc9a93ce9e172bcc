//! Stops calling a module that keeps failing, and tries it again later.

use parking_lot::Mutex;
use serde::Serialize;

/// Failures that open it …
const FAILURES: usize = 5;
/// … when they happen within this time.
const WINDOW_MS: u64 = 30_000;
/// How long it stays open before a single call probes the module.
const OPEN_MS: u64 = 30_000;

/// Whether a link's module is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BreakerState {
    /// It is.
    Closed,
    /// It is not: it failed too often.
    Open,
    /// The next call probes it.
    HalfOpen,
}

/// Whether one call may go ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Normal,
    /// This call decides whether the breaker closes.
    Probe,
    Refused,
}

/// Times are the `now_ms` of the calls.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The latest failures, oldest first once it is full.
    failed_at: [Option<u64>; FAILURES],
    open_until: Option<u64>,
}

impl Breaker {
    /// Asks whether a call may go ahead.
    pub(super) fn admit(&self, now_ms: u64) -> Admission {
        let mut inner = self.0.lock();
        match inner.open_until {
            None => Admission::Normal,
            Some(until) if now_ms < until => Admission::Refused,
            Some(_) => {
                // Open for the others meanwhile; and should the probe be lost, there is another one later.
                inner.open_until = Some(now_ms + OPEN_MS);
                Admission::Probe
            }
        }
    }

    /// Records how an admitted call ended.
    pub(super) fn record(&self, admission: Admission, failed: bool, now_ms: u64) {
        let mut inner = self.0.lock();
        if !failed {
            if admission == Admission::Probe {
                *inner = Inner::default();
            }
            return;
        }
        inner.failed_at.rotate_left(1);
        inner.failed_at[FAILURES - 1] = Some(now_ms);
        let in_window = |at: u64| now_ms.saturating_sub(at) < WINDOW_MS;
        let opens = inner.failed_at.iter().all(|at| at.is_some_and(in_window));
        if opens || admission == Admission::Probe {
            inner.open_until = Some(now_ms + OPEN_MS);
        }
    }

    /// Its state at a time.
    pub(super) fn state(&self, now_ms: u64) -> BreakerState {
        match self.0.lock().open_until {
            None => BreakerState::Closed,
            Some(until) if now_ms < until => BreakerState::Open,
            Some(_) => BreakerState::HalfOpen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(breaker: &Breaker, now_ms: u64) {
        let admission = breaker.admit(now_ms);
        assert_ne!(admission, Admission::Refused);
        breaker.record(admission, true, now_ms);
    }

    fn opened() -> Breaker {
        let breaker = Breaker::default();
        (0..5).for_each(|at| fail(&breaker, at));
        breaker
    }

    #[test]
    fn five_failures_in_30_s_open_it() {
        let breaker = Breaker::default();
        for at in [0, 1000, 2000, 3000] {
            fail(&breaker, at);
            assert_eq!(breaker.state(at), BreakerState::Closed);
        }
        // The first has left the window by now, so these are four.
        fail(&breaker, 30_000);
        assert_eq!(breaker.state(30_000), BreakerState::Closed);
        fail(&breaker, 30_500);
        assert_eq!(breaker.state(30_500), BreakerState::Open);
        assert_eq!(breaker.admit(30_501), Admission::Refused);
    }

    #[test]
    fn a_single_probe_follows_and_closes_it() {
        let breaker = opened();
        assert_eq!(breaker.admit(30_003), Admission::Refused);
        assert_eq!(breaker.state(30_004), BreakerState::HalfOpen);
        assert_eq!(breaker.admit(30_004), Admission::Probe);
        assert_eq!(breaker.admit(30_004), Admission::Refused);
        breaker.record(Admission::Probe, false, 30_010);
        assert_eq!(breaker.state(30_010), BreakerState::Closed);
        // The earlier failures are forgotten.
        fail(&breaker, 30_011);
        assert_eq!(breaker.state(30_011), BreakerState::Closed);
    }

    #[test]
    fn a_failed_probe_opens_it_again() {
        let breaker = opened();
        assert_eq!(breaker.admit(40_000), Admission::Probe);
        breaker.record(Admission::Probe, true, 40_020);
        assert_eq!(breaker.admit(70_019), Admission::Refused);
        assert_eq!(breaker.admit(70_020), Admission::Probe);
    }

    #[test]
    fn a_call_from_before_it_opened_does_not_close_it() {
        let breaker = opened();
        breaker.record(Admission::Normal, false, 10);
        assert_eq!(breaker.state(10), BreakerState::Open);
    }

    #[test]
    fn a_lost_probe_is_followed_by_another() {
        let breaker = opened();
        assert_eq!(breaker.admit(40_000), Admission::Probe);
        assert_eq!(breaker.admit(69_999), Admission::Refused);
        assert_eq!(breaker.admit(70_000), Admission::Probe);
    }
}

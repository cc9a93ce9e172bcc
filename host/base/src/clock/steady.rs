//! The clock of a running hub.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use parking_lot::Mutex;

use crate::clock::{Millis, Uptime, millis};

/// A reading that differs by more is believed only when it is confirmed: no clock drifts that far.
const MAX_DIFFERENCE: Millis = 60_000;
/// Share of the time between two readings by which the clock is set at most, so that durations stay nearly right.
const PACE: u32 = 10;

/// Time that advances with the machine's [`Uptime`], from a start that is proven. Clocks that are set, jump or are wrong
/// do not move it: small differences are made up for slowly, large ones are a [`Contradiction`].
#[derive(Clone, Debug)]
pub struct SteadyClock(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The time of day at uptime 0.
    offset: AtomicI64,
    is_doubtful: AtomicBool,
    /// Latest time under which usage may be booked.
    booked_until: AtomicI64,
    last_reading: Mutex<Uptime>,
}

/// A reading that cannot be true if the hub's own time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// Milliseconds by which the reading is ahead.
    pub ahead: Millis,
}

impl SteadyClock {
    /// A clock that showed `now` at that moment.
    pub fn new(now: Millis, at: Uptime) -> Self {
        Self(Arc::new(Shared {
            offset: AtomicI64::new(now.saturating_sub(millis(at.0))),
            is_doubtful: AtomicBool::new(false),
            booked_until: AtomicI64::new(Millis::MAX),
            last_reading: Mutex::new(at),
        }))
    }

    /// The time that it shows, or showed, at a moment.
    pub fn at(&self, moment: Uptime) -> Millis {
        self.0.offset.load(Ordering::Relaxed).saturating_add(millis(moment.0))
    }

    /// Brings the clock nearer to a reading that differs by more than its own `uncertainty`.
    pub fn correct(&self, now: Millis, at: Uptime, uncertainty: Millis) -> Result<(), Contradiction> {
        let passed = {
            let mut last = self.0.last_reading.lock();
            at.saturating_since(std::mem::replace(&mut *last, at))
        };
        let ahead = now.saturating_sub(self.at(at));
        if ahead.saturating_abs() > MAX_DIFFERENCE {
            return Err(Contradiction { ahead });
        }
        if ahead.saturating_abs() > uncertainty {
            let most = millis(passed / PACE).max(1);
            self.0.offset.fetch_add(ahead.clamp(-most, most), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Sets the clock to a reading that is confirmed.
    pub fn set(&self, now: Millis, at: Uptime) {
        self.0.offset.store(now.saturating_sub(millis(at.0)), Ordering::Relaxed);
    }

    /// Makes the time doubtful. Usage is booked until `booked_until` at the latest: what is booked too late is wrong for good.
    pub fn doubt(&self, booked_until: Millis) {
        self.0.booked_until.store(booked_until, Ordering::Relaxed);
        self.0.is_doubtful.store(true, Ordering::Relaxed);
    }

    /// Makes the time proven again.
    pub fn settle(&self) {
        self.0.is_doubtful.store(false, Ordering::Relaxed);
        self.0.booked_until.store(Millis::MAX, Ordering::Relaxed);
    }

    pub(super) fn now(&self) -> Millis {
        self.at(Uptime::now())
    }

    pub(super) fn is_doubtful(&self) -> bool {
        self.0.is_doubtful.load(Ordering::Relaxed)
    }

    pub(super) fn booked(&self) -> Millis {
        self.now().min(self.0.booked_until.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn small_differences_are_made_up_for_slowly_and_large_ones_contradict() {
        let begin = Uptime::now();
        let clock = SteadyClock::new(1_000_000, begin);
        let after = |seconds: u64| begin + Duration::from_secs(seconds);
        assert_eq!(clock.correct(1_001_003, after(1), 5), Ok(()));
        assert_eq!(clock.at(after(1)), 1_001_000, "the reading may be that far off itself");
        assert_eq!(clock.correct(1_032_000, after(2), 5), Ok(()));
        assert_eq!(clock.at(after(2)), 1_002_100, "a tenth of the second since the last reading");
        assert_eq!(clock.correct(993_000, after(3), 5), Ok(()));
        assert_eq!(clock.at(after(3)), 1_003_000);
        assert_eq!(clock.correct(2_000_000, after(4), 5), Err(Contradiction { ahead: 996_000 }));
        assert_eq!(clock.correct(4_000, after(4), 5), Err(Contradiction { ahead: -1_000_000 }));
        assert_eq!(clock.at(after(5)), 1_005_000);
        clock.set(4_000, after(5));
        assert_eq!(clock.at(after(6)), 5_000);
    }

    #[test]
    fn usage_is_booked_before_the_doubt() {
        let clock = SteadyClock::new(1_000_000, Uptime::now());
        clock.doubt(900_000);
        assert_eq!((clock.is_doubtful(), clock.booked()), (true, 900_000));
        clock.settle();
        assert!(!clock.is_doubtful() && clock.booked() >= 1_000_000);
    }
}

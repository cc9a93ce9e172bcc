//! Source of time, replaceable in tests. Nothing else in the hub reads the machine's clock.

use std::ops::Add;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;

/// Milliseconds since the Unix epoch, UTC: the unit of every timestamp on the wire and in the database.
pub type Millis = i64;

/// Source of time: the machine, the database shared by the nodes, or a test.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// The database's clock, shared by all nodes.
    Database(DatabaseClock),
    /// Advances only by [`ManualClock::advance`].
    Manual(ManualClock),
}

impl Clock {
    /// Current time.
    pub fn now(&self) -> Millis {
        match self {
            Self::System => system_now(),
            Self::Database(clock) => clock.now(),
            Self::Manual(clock) => *clock.now.borrow(),
        }
    }

    /// Waits for `duration` of this clock's time.
    pub async fn sleep(&self, duration: Duration) {
        match self {
            Self::System | Self::Database(_) => tokio::time::sleep(duration).await,
            Self::Manual(_) => self.sleep_until(self.now().saturating_add(millis(duration))).await,
        }
    }

    /// Waits until this clock shows `until`. Periodic loops wait for their start plus the period, so that the duration
    /// of a run does not delay the next one.
    pub async fn sleep_until(&self, until: Millis) {
        match self {
            Self::System | Self::Database(_) => {
                let left = u64::try_from(until.saturating_sub(self.now())).unwrap_or(0);
                tokio::time::sleep(Duration::from_millis(left)).await;
            }
            Self::Manual(clock) => {
                let mut now = clock.now.subscribe();
                // The sender lives inside `clock`, so waiting cannot fail.
                let _ = now.wait_for(|now| *now >= until).await;
            }
        }
    }
}

/// The database's clock as known on this machine: a reading that advances with the machine's [`Uptime`]. Wrong times
/// and jumps of the machine's own clock have no effect on it.
#[derive(Clone, Debug)]
pub struct DatabaseClock {
    /// The database's time at uptime 0.
    offset: Arc<AtomicI64>,
}

impl DatabaseClock {
    /// Creates a clock that showed `now` at that moment.
    pub fn new(now: Millis, at: Uptime) -> Self {
        Self { offset: Arc::new(AtomicI64::new(now.saturating_sub(millis(at.0)))) }
    }

    /// Sets the clock if it differs from a reading by more than the reading's own `uncertainty`.
    pub fn correct(&self, now: Millis, at: Uptime, uncertainty: Millis) {
        let offset = now.saturating_sub(millis(at.0));
        if self.offset.load(Ordering::Relaxed).abs_diff(offset) > uncertainty.unsigned_abs() {
            self.offset.store(offset, Ordering::Relaxed);
        }
    }

    fn now(&self) -> Millis {
        self.offset.load(Ordering::Relaxed).saturating_add(millis(Uptime::now().0))
    }
}

/// Uptime of the machine including suspension. `Instant` stops during suspension, so a lease timed by it would still
/// seem valid after waking up, although others took it long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uptime(Duration);

impl Uptime {
    /// Current uptime.
    pub fn now() -> Self {
        #[cfg(target_os = "linux")]
        const CLOCK: ClockId = ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        const CLOCK: ClockId = ClockId::Monotonic;
        let time = clock_gettime(CLOCK);
        Self(Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0)))
    }

    /// The time since then.
    pub fn elapsed(self) -> Duration {
        Self::now().saturating_since(self)
    }

    /// Time since an earlier moment; zero if that is later.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Uptime {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}

/// A clock for tests, moved by [`ManualClock::advance`].
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<watch::Sender<Millis>>,
}

impl ManualClock {
    /// Creates a clock that shows `now`.
    pub fn new(now: Millis) -> Self {
        Self { now: Arc::new(watch::Sender::new(now)) }
    }

    /// Advances the clock and wakes the waiters.
    pub fn advance(&self, duration: Duration) {
        self.now.send_modify(|now| *now += millis(duration));
    }
}

/// Strictly increasing numbers, close to microseconds since the Unix epoch. Two nodes may produce the same one.
#[derive(Debug, Default)]
pub struct LogicalClock(AtomicI64);

impl LogicalClock {
    /// Next number, for an event at `now`.
    pub fn next(&self, now: Millis) -> i64 {
        let earliest = now.saturating_mul(1_000);
        let after = |last: i64| earliest.max(last.saturating_add(1));
        let last = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
        after(last.unwrap_or_default())
    }
}

/// Converts a duration to [`Millis`].
pub fn millis(duration: Duration) -> Millis {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[allow(clippy::disallowed_methods, reason = "the only place that reads the machine's clock")]
fn system_now() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_databases_clock_goes_on_and_follows_what_differs_for_certain() {
        let (clock, began) = (DatabaseClock::new(1_000_000, Uptime::now()), Uptime::now());
        let shows = |expected: Millis| {
            let (now, passed) = (Clock::Database(clock.clone()).now(), millis(began.elapsed()));
            assert!((expected..=expected + passed + 1).contains(&now), "{now} instead of {expected}");
        };
        shows(1_000_000);
        clock.correct(1_000_004, began, 5);
        shows(1_000_000);
        clock.correct(960_000, began, 5);
        shows(960_000);
    }

    #[test]
    fn numbers_rise_and_follow_the_clock() {
        let clock = LogicalClock::default();
        assert_eq!([clock.next(5), clock.next(5), clock.next(4)], [5_000, 5_001, 5_002]);
        assert_eq!(clock.next(6), 6_000);
    }
}

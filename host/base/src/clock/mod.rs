//! Source of time, replaceable in tests. Nothing else in the hub reads the machine's clock.
//!
//! Three types keep three questions apart: [`Millis`] is the time of day, which is stored and may be set; a [`Moment`] is
//! for durations within this process; [`Settled`] proves that the time of day may decide for good.

mod steady;
mod uptime;

use std::ops::Add;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use steady::{Contradiction, SteadyClock};
pub use uptime::Uptime;

use tokio::sync::watch;

/// Milliseconds since the Unix epoch, UTC: the unit of every timestamp on the wire and in the database.
pub type Millis = i64;

/// Source of time: the machine, the hub's own steady clock, or a test.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock, for commands that end soon.
    System,
    /// The clock of a running hub.
    Steady(SteadyClock),
    /// Advances only by [`ManualClock::advance`].
    Manual(ManualClock),
}

impl Clock {
    /// Current time.
    pub fn now(&self) -> Millis {
        match self {
            Self::System => system_now(),
            Self::Steady(clock) => clock.now(),
            Self::Manual(clock) => *clock.now.borrow(),
        }
    }

    /// Current moment, for durations and deadlines: no clock that is set moves it.
    pub fn moment(&self) -> Moment {
        match self {
            Self::System | Self::Steady(_) => Moment(Uptime::now().0),
            Self::Manual(clock) => Moment(Duration::from_millis(u64::try_from(*clock.now.borrow()).unwrap_or(0))),
        }
    }

    /// Proof that the current time may decide for good; none while it is doubtful.
    pub fn settled(&self) -> Option<Settled> {
        let is_doubtful = match self {
            Self::System => false,
            Self::Steady(clock) => clock.is_doubtful(),
            Self::Manual(clock) => clock.is_doubtful.load(Ordering::Relaxed),
        };
        (!is_doubtful).then(|| Settled { now: self.now() })
    }

    /// Time under which usage is booked: the current one, or the last that was not doubtful.
    pub fn booked(&self) -> Millis {
        match self {
            Self::Steady(clock) => clock.booked(),
            Self::System | Self::Manual(_) => self.now(),
        }
    }

    /// The cutoff for times that have passed by now; [`Cutoff::NEVER`] while the time is doubtful.
    pub fn cutoff(&self) -> Cutoff {
        self.settled().map_or(Cutoff::NEVER, |settled| settled.before(0))
    }

    /// Waits for `duration`.
    pub async fn sleep(&self, duration: Duration) {
        self.sleep_until(self.moment() + duration).await;
    }

    /// Waits until `until`. Periodic loops wait for their start plus the period, so that the duration of a run does not
    /// delay the next one.
    pub async fn sleep_until(&self, until: Moment) {
        match self {
            Self::System | Self::Steady(_) => tokio::time::sleep(until.saturating_since(self.moment())).await,
            Self::Manual(clock) => {
                let mut now = clock.now.subscribe();
                // The sender lives inside `clock`, so waiting cannot fail.
                let _ = now.wait_for(|now| *now >= millis(until.0)).await;
            }
        }
    }

    /// The moment at which this clock will show `at`; now if that has passed.
    pub fn moment_of(&self, at: Millis) -> Moment {
        self.moment() + Duration::from_millis(u64::try_from(at.saturating_sub(self.now())).unwrap_or(0))
    }
}

/// A moment of this process, for durations and deadlines. It says nothing to other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// Time since an earlier moment; zero if that is later.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}

/// A time that is not doubtful. Code that deletes, closes or expires for good asks for one ([`Clock::settled`]).
#[derive(Clone, Copy, Debug)]
pub struct Settled {
    now: Millis,
}

impl Settled {
    /// The time itself.
    pub fn now(self) -> Millis {
        self.now
    }

    /// The cutoff this long before the time.
    pub fn before(self, age: Millis) -> Cutoff {
        Cutoff(self.now.saturating_sub(age))
    }
}

/// Time before which something may be deleted, closed or expired for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cutoff(Millis);

impl Cutoff {
    /// The cutoff before which there is no time.
    pub const NEVER: Self = Self(Millis::MIN);

    /// The time as a parameter of a statement.
    pub fn at(self) -> Millis {
        self.0
    }

    /// The earlier of both.
    pub fn min(self, other: Millis) -> Self {
        Self(self.0.min(other))
    }
}

/// A clock for tests, moved by [`ManualClock::advance`].
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<watch::Sender<Millis>>,
    is_doubtful: Arc<AtomicBool>,
}

impl ManualClock {
    /// Creates a clock that shows `now`.
    pub fn new(now: Millis) -> Self {
        Self { now: Arc::new(watch::Sender::new(now)), is_doubtful: Arc::default() }
    }

    /// Advances the clock and wakes the waiters.
    pub fn advance(&self, duration: Duration) {
        self.now.send_modify(|now| *now += millis(duration));
    }

    /// Sets whether its time is doubtful.
    pub fn doubt(&self, is_doubtful: bool) {
        self.is_doubtful.store(is_doubtful, Ordering::Relaxed);
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
    fn numbers_rise_and_follow_the_clock() {
        let clock = LogicalClock::default();
        assert_eq!([clock.next(5), clock.next(5), clock.next(4)], [5_000, 5_001, 5_002]);
        assert_eq!(clock.next(6), 6_000);
    }
}

//! Time since the machine was started.

use std::ops::Add;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Uptime of the machine including suspension. `Instant` stops during suspension, so a lease timed by it would still
/// seem valid after waking up, although others took it long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uptime(pub(super) Duration);

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

    /// Milliseconds.
    pub fn millis(self) -> i64 {
        crate::clock::millis(self.0)
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

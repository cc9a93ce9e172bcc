//! Clocks of calls. The time in a module's context is the caller's `now_ms`.

use crate::priority;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::watch;

/// Now, on the monotonic clock of the machine.
#[allow(clippy::disallowed_methods)]
pub(crate) fn monotonic() -> Instant {
    Instant::now()
}

/// Now, in the format of file times.
#[allow(clippy::disallowed_methods)]
pub(crate) fn system_time() -> SystemTime {
    SystemTime::now()
}

/// Source of the time of calls: the machine, or a test that moves it.
#[derive(Clone, Debug, Default)]
pub enum CallClock {
    /// The machine's clocks.
    #[default]
    System,
    /// Stands still until a test moves it.
    Manual(ManualCallClock),
}

impl CallClock {
    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::System => monotonic(),
            Self::Manual(clock) => clock.now(),
        }
    }

    /// Processor time that the calling thread has had.
    pub(crate) fn cpu_time(&self) -> Duration {
        match self {
            Self::System => priority::cpu_time(),
            Self::Manual(clock) => clock.times.borrow().computed,
        }
    }

    /// Called at each tick of a running module.
    pub(crate) fn tick(&self) {
        if let Self::Manual(clock) = self {
            clock.times.send_modify(|times| {
                times.passed += times.passed_per_tick;
                times.computed += times.computed_per_tick;
            });
        }
    }

    /// The future's output; `None` if it is not ready before the deadline.
    pub(crate) async fn timeout_at<T>(&self, deadline: Instant, future: impl Future<Output = T>) -> Option<T> {
        match self {
            Self::System => tokio::time::timeout_at(deadline.into(), future).await.ok(),
            Self::Manual(clock) => tokio::select! {
                biased;
                output = future => Some(output),
                () = clock.sleep_until(deadline) => None,
            },
        }
    }
}

/// A clock for tests. All threads share its processor time.
#[derive(Clone, Debug)]
pub struct ManualCallClock {
    start: Instant,
    times: Arc<watch::Sender<ManualTimes>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ManualTimes {
    passed: Duration,
    computed: Duration,
    passed_per_tick: Duration,
    computed_per_tick: Duration,
}

impl Default for ManualCallClock {
    fn default() -> Self {
        Self { start: monotonic(), times: Arc::default() }
    }
}

impl ManualCallClock {
    /// Lets time pass without any computing.
    pub fn advance(&self, passed: Duration) {
        self.times.send_modify(|times| times.passed += passed);
    }

    /// Time between two ticks of a running module, and its thread's processor time. On a stalling machine much of the
    /// first passes and nothing of the second.
    pub fn set_tick(&self, passed: Duration, computed: Duration) {
        self.times.send_modify(|times| (times.passed_per_tick, times.computed_per_tick) = (passed, computed));
    }

    fn now(&self) -> Instant {
        self.start + self.times.borrow().passed
    }

    async fn sleep_until(&self, until: Instant) {
        // The sender lives in `self`, so that waiting cannot fail.
        let _ = self.times.subscribe().wait_for(|times| self.start + times.passed >= until).await;
    }
}

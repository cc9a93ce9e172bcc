//! The monotonic clock deadlines are measured with. What a module is told as time is the caller's `now_ms`.

use std::time::{Duration, Instant};

/// Now, on the monotonic clock. The only place of this crate that reads a clock.
#[allow(clippy::disallowed_methods)]
pub(crate) fn monotonic() -> Instant {
    Instant::now()
}

/// Time left until a deadline; zero once it has passed.
pub(crate) fn left_until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(monotonic())
}

//! The monotonic clock deadlines are measured with. The time in a module's context is the caller's `now_ms`.

use std::time::{Duration, Instant};

/// Now, on the monotonic clock. Nothing else in this crate reads a clock.
#[allow(clippy::disallowed_methods)]
pub(crate) fn monotonic() -> Instant {
    Instant::now()
}

/// Time left until a deadline; zero once it has passed.
pub(crate) fn left_until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(monotonic())
}

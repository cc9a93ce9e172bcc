//! Policy for repeats.

use std::time::Duration;

/// Policy for calls that may safely be repeated: how often they are made, and how far apart. The wait doubles with each attempt and
/// is random between half and all of it, so that many servers do not come at once after an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of attempts of a call; 1 never repeats it.
    pub attempts: u32,
    /// The wait after the first attempt.
    pub first_delay: Duration,
    /// No wait is longer. Where the hub asks for more the call fails, and its error says for how much.
    pub max_delay: Duration,
}

impl RetryPolicy {
    /// Four attempts, after 250 ms, 500 ms and 1 s.
    pub const DEFAULT: Self = Self::delays(4, 250, 5_000);
    /// Each call once, and no `Idempotency-Key` unless the caller gives one.
    pub const NONE: Self = Self::delays(1, 250, 5_000);

    pub(crate) const fn delays(attempts: u32, first_ms: u64, max_ms: u64) -> Self {
        Self { attempts, first_delay: Duration::from_millis(first_ms), max_delay: Duration::from_millis(max_ms) }
    }

    /// The wait after so many failures in a row, from 1.
    pub fn delay(&self, failures: u32) -> Duration {
        let factor = 1_u32 << failures.saturating_sub(1).min(20);
        self.first_delay.saturating_mul(factor).min(self.max_delay).mul_f64(0.5 + random_share() / 2.0)
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[allow(clippy::disallowed_methods, reason = "a client has no ids to be reproduced")]
fn random_share() -> f64 {
    rand::random()
}

/// A new random `Idempotency-Key`.
#[allow(clippy::disallowed_methods, reason = "a client has no ids to be reproduced")]
pub(crate) fn new_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

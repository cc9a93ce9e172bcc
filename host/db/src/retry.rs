//! Retries of work that may lose against other transactions.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::Error;

/// Maximum number of attempts.
const MAX_ATTEMPTS: u32 = 8;

/// Attempts made so far.
pub(crate) struct Attempts(u32);

impl Attempts {
    pub(crate) fn first() -> Self {
        Self(1)
    }

    /// Waits before the next attempt. After the last one it returns the error.
    pub(crate) fn retry(&mut self, error: Error) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async {
            if self.0 >= MAX_ATTEMPTS {
                return Err(error);
            }
            back_off(self.0).await;
            self.0 += 1;
            Ok(())
        })
    }
}

/// Waits up to 4 ms after the first attempt, twice as long after each further one. At random, so that colliding
/// transactions don't meet again.
#[expect(clippy::disallowed_methods, reason = "what it draws changes when, never what")]
pub(crate) async fn back_off(attempt: u32) {
    let most = Duration::from_millis(2) * 2_u32.saturating_pow(attempt.min(MAX_ATTEMPTS));
    tokio::time::sleep(most.mul_f64(rand::random())).await;
}

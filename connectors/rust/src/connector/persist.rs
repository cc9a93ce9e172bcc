//! Repeating a call for as long as the hub is away.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{HubError, RetryPolicy};

const DELAYS: RetryPolicy = RetryPolicy::delays(1, 500, 5_000);

/// The call's first answer that is no transient error, or its last error when the time is up; without a time: never.
pub(super) async fn persist<T, F>(patience: Option<Duration>, mut call: impl FnMut() -> F) -> Result<T, HubError>
where
    F: Future<Output = Result<T, HubError>>,
{
    let deadline = patience.map(|patience| Instant::now() + patience);
    let mut attempts = 0;
    loop {
        let error = match call().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        attempts += 1;
        let delay = error.retry_after().unwrap_or_else(|| DELAYS.delay(attempts));
        if !error.is_transient() || deadline.is_some_and(|deadline| Instant::now() + delay >= deadline) {
            return Err(error);
        }
        sleep(delay).await;
    }
}

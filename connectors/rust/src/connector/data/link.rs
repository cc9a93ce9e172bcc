//! The way of saves to the hub.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::sleep;

use crate::HubError;

const PROBE_INTERVAL: Duration = Duration::from_millis(300);

/// Sends saves one at a time while the hub is away, in quick succession: after an outage they have to be there soon, because another
/// server that asks for a player waits half a second for one whose event stream is not open yet.
#[derive(Default)]
pub(super) struct Link {
    is_away: AtomicBool,
    probe: Mutex<()>,
}

impl Link {
    /// The answer to a call, once it is its turn.
    pub(super) async fn send<T>(&self, call: impl Future<Output = Result<T, HubError>>) -> Result<T, HubError> {
        if self.is_away.load(Ordering::Relaxed) {
            let probe = self.probe.lock().await;
            if self.is_away.load(Ordering::Relaxed) {
                sleep(PROBE_INTERVAL).await;
                let answer = self.note(call.await);
                drop(probe);
                return answer;
            }
        }
        self.note(call.await)
    }

    fn note<T>(&self, answer: Result<T, HubError>) -> Result<T, HubError> {
        self.is_away.store(answer.as_ref().is_err_and(HubError::is_transient), Ordering::Relaxed);
        answer
    }
}

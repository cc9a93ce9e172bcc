//! The connection a request came on.

use tokio_util::sync::CancellationToken;

/// Aborts the connection a request came on. A response whose client stops reading blocks in a write, which nothing else ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connection(CancellationToken);

impl Connection {
    /// Ends the connection at once, with everything in flight on it.
    pub(crate) fn abort(&self) {
        self.0.cancel();
    }

    /// Waits until it is aborted.
    pub(crate) async fn aborted(&self) {
        self.0.cancelled().await;
    }
}

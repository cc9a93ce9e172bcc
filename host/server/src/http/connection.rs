//! The connection a request came on.

use tokio_util::sync::CancellationToken;

/// The connection a request came on. A response whose client reads nothing is stuck in a write, where nothing but the
/// end of its connection reaches it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connection(CancellationToken);

impl Connection {
    /// Ends it as it is, with everything that is under way on it.
    pub(crate) fn cut(&self) {
        self.0.cancel();
    }

    /// Waits until it is cut.
    pub(crate) async fn is_cut(&self) {
        self.0.cancelled().await;
    }
}

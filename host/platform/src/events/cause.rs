//! Cause of events: the module's call whose effects are being applied.

use std::sync::Arc;

tokio::task_local! {
    static CAUSE: Arc<str>;
}

/// Runs `work`, whose events are caused by this call of a module: a JSON text, which their subscribers get.
pub async fn caused_by<F: Future>(cause: Arc<str>, work: F) -> F::Output {
    CAUSE.scope(cause, work).await
}

/// True if a module's call causes the events of this task.
pub fn has_cause() -> bool {
    CAUSE.try_with(|_| ()).is_ok()
}

/// Cause of the events of this task; none if a request or the hub itself causes them.
pub(super) fn current() -> Option<Arc<str>> {
    CAUSE.try_with(Arc::clone).ok()
}

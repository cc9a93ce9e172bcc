//! Tenant of a task, so that one tenant's work waits behind its own and never behind another's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::task::futures::TaskLocalFuture;
use uuid::Uuid;

tokio::task_local! {
    static CONTEXT: TaskContext;
}

/// Tenant of a task, and counter of its statements.
#[derive(Clone, Debug)]
pub struct TaskContext {
    tenant: Uuid,
    statements: Option<Arc<AtomicU32>>,
    /// Most bytes that a reading statement may give.
    most_read: Option<u64>,
}

impl TaskContext {
    fn current() -> Self {
        CONTEXT.try_with(Self::clone).unwrap_or(Self { tenant: NO_TENANT, statements: None, most_read: None })
    }
}

/// Tenant of work that belongs to no network.
pub const NO_TENANT: Uuid = Uuid::nil();

/// Runs `work` for a tenant: its statements take turns with those of other tenants. Tasks that `work` starts are not
/// included, see [`in_current_tenant`].
pub fn with_tenant<F: Future>(tenant: Uuid, work: F) -> TaskLocalFuture<TaskContext, F> {
    CONTEXT.scope(TaskContext { tenant, ..TaskContext::current() }, work)
}

/// The same, for work that must not hold much at once: a reading statement whose rows have more bytes fails with
/// [`Error::TooLarge`](crate::Error::TooLarge), and keeps none of them.
pub fn with_tenant_reading<F: Future>(tenant: Uuid, most: u64, work: F) -> TaskLocalFuture<TaskContext, F> {
    CONTEXT.scope(TaskContext { tenant, most_read: Some(most), ..TaskContext::current() }, work)
}

/// Runs `work`, in a task of its own, for the tenant of this task.
pub fn in_current_tenant<F: Future>(work: F) -> TaskLocalFuture<TaskContext, F> {
    CONTEXT.scope(TaskContext::current(), work)
}

/// Runs `work`, which does not wait, for a tenant, such as one step of a polled future.
pub fn as_tenant<T>(tenant: Uuid, work: impl FnOnce() -> T) -> T {
    CONTEXT.sync_scope(TaskContext { tenant, ..TaskContext::current() }, work)
}

/// Tenant of this task; [`NO_TENANT`] by default.
pub fn current_tenant() -> Uuid {
    CONTEXT.try_with(|context| context.tenant).unwrap_or(NO_TENANT)
}

/// Most bytes that a reading statement of this task may give.
pub(crate) fn most_read() -> Option<u64> {
    CONTEXT.try_with(|context| context.most_read).unwrap_or_default()
}

/// Runs `work` with its statements counted.
pub(crate) fn with_counter<F: Future>(counter: Arc<AtomicU32>, work: F) -> TaskLocalFuture<TaskContext, F> {
    CONTEXT.scope(TaskContext { statements: Some(counter), ..TaskContext::current() }, work)
}

/// Counts a statement at this task's counter.
pub(crate) fn count_statement() {
    let _ = CONTEXT.try_with(|context| {
        if let Some(statements) = &context.statements {
            statements.fetch_add(1, Ordering::Relaxed);
        }
    });
}

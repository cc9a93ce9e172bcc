//! Whose work a task does, so that one tenant's work waits behind its own and never behind another's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::task::futures::TaskLocalFuture;
use uuid::Uuid;

tokio::task_local! {
    static CONTEXT: TaskContext;
}

/// Whose work a task does, and where its statements are counted.
#[derive(Clone, Debug)]
pub struct TaskContext {
    tenant: Uuid,
    statements: Option<Arc<AtomicU32>>,
}

impl TaskContext {
    fn current() -> Self {
        CONTEXT.try_with(Self::clone).unwrap_or(Self { tenant: NO_TENANT, statements: None })
    }
}

/// The tenant of work that belongs to nobody in particular.
pub const NO_TENANT: Uuid = Uuid::nil();

/// Runs `work` as that of a tenant: its statements take their turns among those of other tenants. Tasks that `work`
/// starts are not part of it, see [`in_current_tenant`].
pub fn with_tenant<F: Future>(tenant: Uuid, work: F) -> TaskLocalFuture<TaskContext, F> {
    CONTEXT.scope(TaskContext { tenant, ..TaskContext::current() }, work)
}

/// Runs `work`, in a task of its own, as that of the tenant whose work this task does.
pub fn in_current_tenant<F: Future>(work: F) -> TaskLocalFuture<TaskContext, F> {
    CONTEXT.scope(TaskContext::current(), work)
}

/// Runs `work`, which does not wait, as that of a tenant, such as one step of something that is polled.
pub fn as_tenant<T>(tenant: Uuid, work: impl FnOnce() -> T) -> T {
    CONTEXT.sync_scope(TaskContext { tenant, ..TaskContext::current() }, work)
}

/// The tenant whose work this task does; [`NO_TENANT`] where none was named.
pub fn current_tenant() -> Uuid {
    CONTEXT.try_with(|context| context.tenant).unwrap_or(NO_TENANT)
}

/// Runs `work` with its statements counted.
pub(crate) fn with_counter<F: Future>(counter: Arc<AtomicU32>, work: F) -> TaskLocalFuture<TaskContext, F> {
    CONTEXT.scope(TaskContext { statements: Some(counter), ..TaskContext::current() }, work)
}

/// Counts a statement where this task's are counted.
pub(crate) fn count_statement() {
    let _ = CONTEXT.try_with(|context| {
        if let Some(statements) = &context.statements {
            statements.fetch_add(1, Ordering::Relaxed);
        }
    });
}

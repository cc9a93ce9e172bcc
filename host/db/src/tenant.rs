//! Whose work a task does, so that one tenant's work waits behind its own and never behind another's.

use tokio::task::futures::TaskLocalFuture;
use uuid::Uuid;

tokio::task_local! {
    static TENANT: Uuid;
}

/// The tenant of work that belongs to nobody in particular.
pub const NO_TENANT: Uuid = Uuid::nil();

/// Runs `work` as that of a tenant: its statements take their turns among those of other tenants. Tasks that `work`
/// starts are not part of it, see [`in_current_tenant`].
pub fn with_tenant<F: Future>(tenant: Uuid, work: F) -> TaskLocalFuture<Uuid, F> {
    TENANT.scope(tenant, work)
}

/// Runs `work`, in a task of its own, as that of the tenant whose work this task does.
pub fn in_current_tenant<F: Future>(work: F) -> TaskLocalFuture<Uuid, F> {
    with_tenant(current_tenant(), work)
}

/// Runs `work`, which does not wait, as that of a tenant, such as one step of something that is polled.
pub fn as_tenant<T>(tenant: Uuid, work: impl FnOnce() -> T) -> T {
    TENANT.sync_scope(tenant, work)
}

/// The tenant whose work this task does; [`NO_TENANT`] where none was named.
pub fn current_tenant() -> Uuid {
    TENANT.try_with(|tenant| *tenant).unwrap_or(NO_TENANT)
}

//! Whose work a task does, so that one tenant's work waits behind its own and never behind another's.

use tokio::task::futures::TaskLocalFuture;
use uuid::Uuid;

tokio::task_local! {
    static TENANT: Uuid;
}

/// The tenant of work that belongs to nobody in particular.
pub const NO_TENANT: Uuid = Uuid::nil();

/// Runs `work` as that of a tenant: its statements take their turns among those of other tenants. Tasks that `work`
/// starts are not part of it, see [`current_tenant`].
pub fn with_tenant<F: Future>(tenant: Uuid, work: F) -> TaskLocalFuture<Uuid, F> {
    TENANT.scope(tenant, work)
}

/// The tenant whose work this task does; [`NO_TENANT`] where none was named.
pub fn current_tenant() -> Uuid {
    TENANT.try_with(|tenant| *tenant).unwrap_or(NO_TENANT)
}

//! Which connections a statement goes over.

/// The connections that a statement goes over. A write on SQLite: the queue in front of its one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolKind {
    /// Those that tenants share.
    Shared,
    /// Those for what must not wait behind any tenant.
    Reserved,
    /// The one for what is useless a second later.
    TimeCritical,
}

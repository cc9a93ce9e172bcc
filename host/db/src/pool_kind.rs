//! Choice of the connections for a statement.

/// Connections for a statement. For a write on SQLite: queue in front of its one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolKind {
    /// Those that tenants share.
    Shared,
    /// Those that never wait behind a tenant.
    Reserved,
    /// The connection for statements that are useless a second later.
    TimeCritical,
}

//! Reading the audit log.

use hub_db::Db;

use crate::audit::store;
pub(crate) use crate::audit::store::{EntryRow, Filter};
use crate::values::NetworkId;

/// Entries that are read at a time for an export.
const BATCH: i64 = 200;

/// A page, newest first, of the entries with ids below `before`, and how many there are.
pub(super) async fn page(
    db: &Db,
    network: NetworkId,
    filter: &Filter,
    before: Option<&str>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<EntryRow>, i64), hub_db::Error> {
    store::page(db, network, filter, before, limit, offset).await
}

/// The next entries of an export, oldest first; none at the end.
pub(crate) async fn next(db: &Db, network: NetworkId, after: &str) -> Result<Vec<EntryRow>, hub_db::Error> {
    store::after(db, network, after, BATCH).await
}

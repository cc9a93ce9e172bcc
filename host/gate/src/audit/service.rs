//! Reads the audit log.

use hub_db::Db;

pub use crate::audit::store::{EntryRow, Filter};
use crate::audit::{Action, store};
use crate::clock::Millis;
use crate::values::NetworkId;

/// Number of entries read at a time for an export.
const BATCH: i64 = 200;

/// Page of entries with ids below `before`, newest first, and their number.
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

/// One entry of a network's log.
pub(super) async fn find(db: &Db, network: NetworkId, id: &str) -> Result<Option<EntryRow>, hub_db::Error> {
    store::find(db, network, id).await
}

/// Next entries of an export, oldest first; empty at the end.
pub async fn next(db: &Db, network: NetworkId, after: &str) -> Result<Vec<EntryRow>, hub_db::Error> {
    store::after(db, network, after, BATCH).await
}

/// Modules whose breakers opened since then, latest first.
pub async fn breakers_opened_since(db: &Db, network: NetworkId, since: Millis) -> Result<Vec<String>, hub_db::Error> {
    // Ids begin with the entry's time in microseconds.
    let after = format!("{:015x}", since.saturating_mul(1000).max(0));
    store::targets_after(db, network, Action::BreakerOpened.into(), &after, 10).await
}

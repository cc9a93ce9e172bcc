//! Due leases of all networks.

use hub_db::{Db, Error, Sql, Tx};

use crate::clock::{Cutoff, Millis};
use crate::values::NetworkId;

/// True if any expired lease is not marked as lost. Crosses networks: one watch covers all.
pub(in crate::worlds) async fn is_any_lost(db: &Db, now: Millis) -> Result<bool, Error> {
    let row: Option<(Millis,)> = db
        .query(
            "SELECT expires_at FROM world_leases
             WHERE state IN ('LOADING', 'READY', 'DRAINING') AND expires_at <= $1 LIMIT 1",
        )
        .bind(now)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Marks at most `limit` expired leases as lost. Crosses networks: see [`is_any_lost`]. A lease that another transaction
/// changes, maybe renews, is left for the next time: it holds up no other.
pub(in crate::worlds) async fn mark_lost(tx: &mut Tx, now: Millis, limit: i64) -> Result<Vec<(NetworkId, i64)>, Error> {
    macro_rules! statement {
        ($lock:literal) => {
            concat!(
                "UPDATE world_leases SET state = 'LOST', ended_at = expires_at
                 WHERE (network_id, id) IN (
                     SELECT network_id, id FROM world_leases
                     WHERE state IN ('LOADING', 'READY', 'DRAINING') AND expires_at <= $1 LIMIT $2 ",
                $lock,
                ") RETURNING network_id, id"
            )
        };
    }
    tx.query(Sql { sqlite: statement!(""), postgres: statement!("FOR UPDATE SKIP LOCKED") })
        .bind(now)
        .bind(limit)
        .readable()
        .await
}

/// Worlds without players since `since`, longest empty first. Crosses networks: see [`is_any_lost`].
pub(in crate::worlds) async fn idle(
    db: &Db,
    since: Millis,
    now: Millis,
    limit: i64,
) -> Result<Vec<(NetworkId, i64)>, Error> {
    db.query(
        "SELECT network_id, id FROM world_leases WHERE state = 'READY' AND idle_since <= $1 AND expires_at > $2
         ORDER BY idle_since LIMIT $3",
    )
    .bind(since)
    .bind(now)
    .bind(limit)
    .readable()
    .await
}

/// Worlds with a lease that waits for a node. Crosses networks: see [`is_any_lost`].
pub(in crate::worlds) async fn waiting(db: &Db, now: Millis, limit: i64) -> Result<Vec<(NetworkId, i64)>, Error> {
    db.query(
        "SELECT network_id, world_no FROM world_leases
         WHERE state = 'LOADING' AND node_server_id IS NULL AND expires_at > $1
         ORDER BY opened_at LIMIT $2",
    )
    .bind(now)
    .bind(limit)
    .readable()
    .await
}

/// Deletes at most `limit` leases that ended long ago. Returns their number. Crosses networks: see [`is_any_lost`].
pub(in crate::worlds) async fn purge(db: &Db, before: Cutoff, limit: i64) -> Result<u64, Error> {
    db.write(
        "DELETE FROM world_leases WHERE (network_id, id) IN (
             SELECT network_id, id FROM world_leases WHERE ended_at IS NOT NULL AND ended_at < $1
             ORDER BY ended_at LIMIT $2)",
    )
    .bind(before.at())
    .bind(limit)
    .execute()
    .await
}

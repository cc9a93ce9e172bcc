//! Leases, and their changes by callers and nodes.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::Millis;
use crate::values::{Identifier, NetworkId};
use crate::worlds::model::{Lease, LeaseHolder, OpenWorldRequest, WorldRef};

/// A statement that returns leases' rows.
macro_rules! returning_lease {
    ($statement:literal) => {
        concat!(
            $statement,
            " RETURNING network_id, id, world_no, fence, state, node_server_id, prefer_node, persistence, world_gen, seed,
                 hub_url, players, idle_since, uploads, blob_key, expires_at"
        )
    };
}

/// A query of leases' rows.
macro_rules! select_lease {
    ($from:literal) => {
        concat!(
            "SELECT network_id, id, world_no, fence, state, node_server_id, prefer_node, persistence, world_gen, seed,
                 hub_url, players, idle_since, uploads, blob_key, expires_at ",
            $from
        )
    };
}

// `CROSS JOIN` tells SQLite to begin with the world's name.
const LIVE: &str = "SELECT l.network_id, l.id, l.world_no, l.fence, l.state, l.node_server_id, l.prefer_node,
         l.persistence, l.world_gen, l.seed, l.hub_url, l.players, l.idle_since, l.uploads, l.blob_key, l.expires_at
     FROM worlds w CROSS JOIN world_leases l
     WHERE w.network_id = $1 AND w.game_id = $2 AND w.owner_scope = $3 AND w.owner_id = $4 AND w.world_key = $5
       AND l.network_id = $1 AND l.world_no = w.world_no AND l.state IN ('LOADING', 'READY') AND l.expires_at > $6";

/// Lease of a world that is booting or up.
pub(in crate::worlds) async fn live(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    world: &WorldRef,
    now: Millis,
) -> Result<Option<Lease>, Error> {
    on.into()
        .query(LIVE)
        .bind(network)
        .bind(&world.game_id)
        .bind(&world.owner_scope)
        .bind(&world.owner_id)
        .bind(&world.world_key)
        .bind(now)
        .optional()
        .await
}

pub(in crate::worlds) async fn get(db: &Db, network: NetworkId, id: i64) -> Result<Option<Lease>, Error> {
    db.query(select_lease!("FROM world_leases WHERE network_id = $1 AND id = $2"))
        .bind(network)
        .bind(id)
        .optional()
        .await
}

/// Marks expired leases of a world as lost, so that it can have another. Returns their ids.
pub(in crate::worlds) async fn mark_expired_lost(
    tx: &mut Tx,
    network: NetworkId,
    world_no: i64,
    now: Millis,
) -> Result<Vec<i64>, Error> {
    let lost: Vec<(i64,)> = tx
        .query(
            "UPDATE world_leases SET state = 'LOST', ended_at = expires_at
             WHERE network_id = $1 AND world_no = $2 AND state IN ('LOADING', 'READY', 'DRAINING') AND expires_at <= $3
             RETURNING id",
        )
        .bind(network)
        .bind(world_no)
        .bind(now)
        .all()
        .await?;
    Ok(lost.into_iter().map(|(id,)| id).collect())
}

/// True if an earlier lease of the world is still draining.
pub(in crate::worlds) async fn is_draining(
    tx: &mut Tx,
    network: NetworkId,
    world_no: i64,
    now: Millis,
) -> Result<bool, Error> {
    let row: Option<(i64,)> = tx
        .query(
            "SELECT id FROM world_leases
             WHERE network_id = $1 AND world_no = $2 AND state IN ('LOADING', 'READY', 'DRAINING')
               AND state = 'DRAINING' AND expires_at > $3 LIMIT 1",
        )
        .bind(network)
        .bind(world_no)
        .bind(now)
        .optional()
        .await?;
    Ok(row.is_some())
}

// The sign keeps SQLite from reading by the ends of leases, and sorting by node then.
const PER_NODE: &str = "SELECT node_server_id, COUNT(*) FROM world_leases
     WHERE network_id = $1 AND node_server_id IS NOT NULL AND state IN ('LOADING', 'READY', 'DRAINING')
       AND +expires_at > $2
     GROUP BY node_server_id";

/// Number of leases of each node.
pub(in crate::worlds) async fn per_node(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    now: Millis,
) -> Result<Vec<(Identifier, i64)>, Error> {
    on.into().query(PER_NODE).bind(network).bind(now).all().await
}

/// A row to insert.
pub(in crate::worlds) struct NewLease<'a> {
    pub(in crate::worlds) id: i64,
    pub(in crate::worlds) world_no: i64,
    pub(in crate::worlds) fence: i64,
    pub(in crate::worlds) node: Option<Identifier>,
    pub(in crate::worlds) request: &'a OpenWorldRequest,
    pub(in crate::worlds) seed: Option<String>,
    pub(in crate::worlds) hub_url: &'a str,
    pub(in crate::worlds) opened_at: Millis,
    pub(in crate::worlds) expires_at: Millis,
}

pub(in crate::worlds) async fn insert(tx: &mut Tx, network: NetworkId, new: NewLease<'_>) -> Result<Lease, Error> {
    tx.query(returning_lease!(
        "INSERT INTO world_leases (network_id, id, world_no, fence, state, node_server_id, prefer_node, persistence,
             world_gen, seed, hub_url, players, uploads, opened_at, expires_at)
         VALUES ($1, $2, $3, $4, 'LOADING', $5, $6, $7, $8, $9, $10, 0, 0, $11, $12)"
    ))
    .bind(network)
    .bind(new.id)
    .bind(new.world_no)
    .bind(new.fence)
    .bind(new.node)
    .bind(&new.request.prefer_node)
    .bind(new.request.persistence.as_str())
    .bind(&new.request.world_gen)
    .bind(new.seed)
    .bind(new.hub_url)
    .bind(new.opened_at)
    .bind(new.expires_at)
    .one()
    .await
}

/// Assigns a waiting lease to a node, once no earlier one of its world is draining.
pub(in crate::worlds) async fn assign(
    tx: &mut Tx,
    network: NetworkId,
    world_no: i64,
    node: &Identifier,
    now: Millis,
    until: Millis,
) -> Result<Option<Lease>, Error> {
    tx.query(returning_lease!(
        "UPDATE world_leases SET node_server_id = $3, expires_at = $5
         WHERE network_id = $1 AND world_no = $2 AND state IN ('LOADING', 'READY') AND state = 'LOADING'
           AND node_server_id IS NULL AND expires_at > $4
           AND NOT EXISTS (
             SELECT d.id FROM world_leases d
             WHERE d.network_id = $1 AND d.world_no = $2 AND d.state IN ('LOADING', 'READY', 'DRAINING')
               AND d.state = 'DRAINING' AND d.expires_at > $4)"
    ))
    .bind(network)
    .bind(world_no)
    .bind(node)
    .bind(now)
    .bind(until)
    .optional()
    .await
}

/// Lease of the world that waits for a node.
pub(in crate::worlds) async fn waiting(
    db: &Db,
    network: NetworkId,
    world_no: i64,
    now: Millis,
) -> Result<Option<Lease>, Error> {
    db.query(select_lease!(
        "FROM world_leases
             WHERE network_id = $1 AND world_no = $2 AND state IN ('LOADING', 'READY') AND state = 'LOADING'
               AND node_server_id IS NULL AND expires_at > $3"
    ))
    .bind(network)
    .bind(world_no)
    .bind(now)
    .optional()
    .await
}

/// Marks the lease as up; none if the node is not the holder, or has already reported it.
pub(in crate::worlds) async fn ready(
    tx: &mut Tx,
    network: NetworkId,
    by: &LeaseHolder,
    now: Millis,
    until: Millis,
) -> Result<Option<Lease>, Error> {
    tx.query(returning_lease!(
        "UPDATE world_leases SET state = 'READY', idle_since = $5, expires_at = $6
         WHERE network_id = $1 AND id = $2 AND fence = $3 AND node_server_id = $4 AND state = 'LOADING'
           AND expires_at > $5"
    ))
    .bind(network)
    .bind(by.id)
    .bind(by.fence)
    .bind(&by.node)
    .bind(now)
    .bind(until)
    .optional()
    .await
}

/// Renews the lease, and never shortens it: another node may have set the clock forwards, and renewed it by that. Players count from the time it is up; an unknown number leaves the old one.
pub(in crate::worlds) async fn renew(
    tx: &mut Tx,
    network: NetworkId,
    by: &LeaseHolder,
    players: Option<i64>,
    now: Millis,
    until: Millis,
) -> Result<Option<Lease>, Error> {
    tx.query(returning_lease!(
        "UPDATE world_leases SET expires_at = CASE WHEN expires_at > $6 THEN expires_at ELSE $6 END, players = COALESCE($7, players),
             idle_since = CASE
                 WHEN state <> 'READY' OR $7 IS NULL THEN idle_since
                 WHEN $7 > 0 THEN NULL
                 ELSE COALESCE(idle_since, $5) END
         WHERE network_id = $1 AND id = $2 AND fence = $3 AND node_server_id = $4
           AND state IN ('LOADING', 'READY', 'DRAINING') AND expires_at > $5"
    ))
    .bind(network)
    .bind(by.id)
    .bind(by.fence)
    .bind(&by.node)
    .bind(now)
    .bind(until)
    .bind(players)
    .optional()
    .await
}

/// Restarts the time without players before an expected join. None if it is no longer up.
pub(in crate::worlds) async fn expect_players(
    db: &Db,
    network: NetworkId,
    id: i64,
    now: Millis,
) -> Result<Option<Lease>, Error> {
    db.write(returning_lease!(
        "UPDATE world_leases SET idle_since = CASE WHEN idle_since IS NULL THEN NULL ELSE $3 END
         WHERE network_id = $1 AND id = $2 AND state = 'READY' AND expires_at > $3"
    ))
    .bind(network)
    .bind(id)
    .bind(now)
    .optional()
    .await
}

/// Begins draining if it is up and, with `idle_since`, had no players since.
pub(in crate::worlds) async fn drain(
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
    idle_since: Option<Millis>,
    now: Millis,
) -> Result<Option<Lease>, Error> {
    tx.query(returning_lease!(
        "UPDATE world_leases SET state = 'DRAINING'
         WHERE network_id = $1 AND id = $2 AND state = 'READY' AND expires_at > $3
           AND ($4 IS NULL OR idle_since <= $4)"
    ))
    .bind(network)
    .bind(id)
    .bind(now)
    .bind(idle_since)
    .optional()
    .await
}

/// Ends the lease of an unloaded world.
pub(in crate::worlds) async fn unload(
    tx: &mut Tx,
    network: NetworkId,
    by: &LeaseHolder,
    blob_key: Option<&str>,
    now: Millis,
) -> Result<Option<Lease>, Error> {
    tx.query(returning_lease!(
        "UPDATE world_leases SET state = 'UNLOADED', ended_at = $5, blob_key = $6, players = 0
         WHERE network_id = $1 AND id = $2 AND fence = $3 AND node_server_id = $4
           AND state IN ('LOADING', 'READY', 'DRAINING') AND expires_at > $5"
    ))
    .bind(network)
    .bind(by.id)
    .bind(by.fence)
    .bind(&by.node)
    .bind(now)
    .bind(blob_key)
    .optional()
    .await
}

/// Marks all leases of a restarted node as lost.
pub(in crate::worlds) async fn mark_all_lost(
    tx: &mut Tx,
    network: NetworkId,
    node: &Identifier,
    now: Millis,
) -> Result<Vec<Lease>, Error> {
    tx.query(returning_lease!(
        "UPDATE world_leases SET state = 'LOST', ended_at = $3
         WHERE network_id = $1 AND node_server_id = $2 AND state IN ('LOADING', 'READY', 'DRAINING')"
    ))
    .bind(network)
    .bind(node)
    .bind(now)
    .all()
    .await
}

/// Counts an upload that is about to begin. Returns the lease, unless it has ended.
pub(in crate::worlds) async fn count_upload(
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
    now: Millis,
) -> Result<Option<Lease>, Error> {
    tx.query(returning_lease!(
        "UPDATE world_leases SET uploads = uploads + 1
         WHERE network_id = $1 AND id = $2 AND state IN ('LOADING', 'READY', 'DRAINING') AND expires_at > $3"
    ))
    .bind(network)
    .bind(id)
    .bind(now)
    .optional()
    .await
}

/// Number of a snapshot with a key that the hub did not create.
pub(in crate::worlds) async fn next_seq(tx: &mut Tx, network: NetworkId, id: i64) -> Result<i64, Error> {
    let (seq,): (i64,) = tx
        .query(
            "UPDATE world_leases SET uploads = uploads + 1 WHERE network_id = $1 AND id = $2
             RETURNING uploads",
        )
        .bind(network)
        .bind(id)
        .one()
        .await?;
    Ok(seq)
}

/// Locks a lease that has not ended until the transaction ends.
pub(in crate::worlds) async fn lock(tx: &mut Tx, network: NetworkId, id: i64, now: Millis) -> Result<bool, Error> {
    let held = tx
        .query(
            "UPDATE world_leases SET uploads = uploads
             WHERE network_id = $1 AND id = $2 AND state IN ('LOADING', 'READY', 'DRAINING') AND expires_at > $3",
        )
        .bind(network)
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(held > 0)
}

#[cfg(test)]
mod tests {
    use hub_db::Config;

    use super::*;

    /// SQLite has no statistics to plan by; without these indexes it would read all leases that a network ever had.
    #[tokio::test]
    async fn a_world_is_found_without_reading_others() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await.unwrap();
        db.migrate().await.unwrap();
        for (sql, searched) in [
            (LIVE, vec!["owner_id=? AND world_key=?", "world_no=? AND state=?"]),
            (PER_NODE, vec!["world_leases_per_node"]),
        ] {
            let explain: &'static str = format!("EXPLAIN QUERY PLAN {sql}").leak();
            let plan: Vec<(i64, i64, i64, String)> = db.query(explain).all().await.unwrap();
            assert_eq!(plan.len(), searched.len(), "{plan:?}");
            assert!(plan.iter().zip(searched).all(|(step, searched)| step.3.contains(searched)), "{plan:?}");
        }
    }
}

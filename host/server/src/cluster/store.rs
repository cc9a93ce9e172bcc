//! All SQL of nodes and shard leases. None of it is a network's.
//!
//! Times are by the database's clock: `clock_timestamp()`, since `now()` does not advance within a transaction.

use hub_db::{Db, Error, Sql, Tx};

use crate::clock::Millis;

/// A lease on a shard.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct LeaseRow {
    pub(super) shard: i32,
    pub(super) node: String,
    pub(super) url: Option<String>,
    pub(super) fence: i64,
    /// Milliseconds until it expires; 0 or less: it has expired.
    pub(super) left: Millis,
}

/// Records that a node is alive, and whether it reaches the bus.
pub(super) async fn upsert_node(db: &Db, node: &str, url: &str, has_bus: bool) -> Result<(), Error> {
    db.write(Sql {
        sqlite: "INSERT INTO hub_nodes (node, url, seen_at, has_bus)
                 VALUES ($1, $2, CAST(unixepoch('subsec') * 1000 AS INTEGER), $3)
                 ON CONFLICT (node) DO UPDATE
                 SET url = excluded.url, seen_at = excluded.seen_at, has_bus = excluded.has_bus",
        postgres: "INSERT INTO hub_nodes (node, url, seen_at, has_bus)
                   VALUES ($1, $2, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT), $3)
                   ON CONFLICT (node) DO UPDATE
                   SET url = excluded.url, seen_at = excluded.seen_at, has_bus = excluded.has_bus",
    })
    .bind(node)
    .bind(url)
    .bind(has_bus)
    .execute()
    .await?;
    Ok(())
}

/// Makes a node that is about to stop count as silent for `silent`, so that it gets no more shards. Its URL stays known
/// while it owns some.
pub(super) async fn retire_node(db: &Db, node: &str, silent: Millis) -> Result<(), Error> {
    db.write("UPDATE hub_nodes SET seen_at = seen_at - $2 WHERE node = $1").bind(node).bind(silent).execute().await?;
    Ok(())
}

/// Deletes a node that has stopped, and those that were silent for longer than `silent`.
pub(super) async fn delete_node(db: &Db, node: &str, silent: Millis) -> Result<(), Error> {
    db.write(Sql {
        sqlite: "DELETE FROM hub_nodes
                 WHERE node = $1 OR seen_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - $2",
        postgres: "DELETE FROM hub_nodes
                   WHERE node = $1 OR seen_at < CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $2",
    })
    .bind(node)
    .bind(silent)
    .execute()
    .await?;
    Ok(())
}

/// The names of the nodes that were alive lately and should own shards, in order: those that reach the bus, or all where
/// none does.
pub(super) async fn eligible_nodes(db: &Db, within: Millis) -> Result<Vec<String>, Error> {
    let rows: Vec<(String, bool)> = db
        .query(Sql {
            sqlite: "SELECT node, has_bus FROM hub_nodes
                     WHERE seen_at > CAST(unixepoch('subsec') * 1000 AS INTEGER) - $1 ORDER BY node",
            postgres: "SELECT node, has_bus FROM hub_nodes
                       WHERE seen_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $1 ORDER BY node",
        })
        .bind(within)
        .all()
        .await?;
    let any_has_bus = rows.iter().any(|(_, has_bus)| *has_bus);
    Ok(rows.into_iter().filter(|(_, has_bus)| *has_bus || !any_has_bus).map(|(node, _)| node).collect())
}

/// All leases, also expired ones.
pub(super) async fn leases(db: &Db) -> Result<Vec<LeaseRow>, Error> {
    db.query(Sql {
        sqlite: "SELECT h.shard, h.node, n.url, h.fence,
                        h.expires_at - CAST(unixepoch('subsec') * 1000 AS INTEGER) AS \"left\"
                 FROM network_homes h LEFT JOIN hub_nodes n ON n.node = h.node",
        postgres: "SELECT h.shard, h.node, n.url, h.fence,
                          h.expires_at - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS \"left\"
                   FROM network_homes h LEFT JOIN hub_nodes n ON n.node = h.node",
    })
    .all()
    .await
}

/// Renews a node's unexpired leases for `ttl` from now; returns their shards and fences.
pub(super) async fn renew(db: &Db, node: &str, ttl: Millis) -> Result<Vec<(i32, i64)>, Error> {
    db.write(Sql {
        sqlite: "UPDATE network_homes SET expires_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + $2
                 WHERE node = $1 AND expires_at > CAST(unixepoch('subsec') * 1000 AS INTEGER)
                 RETURNING shard, fence",
        postgres: "UPDATE network_homes
                   SET expires_at = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + $2
                   WHERE node = $1 AND expires_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
                   RETURNING shard, fence",
    })
    .bind(node)
    .bind(ttl)
    .all()
    .await
}

/// Claims those of the shards that have no unexpired lease; returns these with their fences.
pub(super) async fn claim(db: &Db, shards: &[u16], node: &str, ttl: Millis) -> Result<Vec<(i32, i64)>, Error> {
    db.write(Sql {
        sqlite: "INSERT INTO network_homes (shard, node, fence, expires_at)
                 SELECT value, $2, 1, CAST(unixepoch('subsec') * 1000 AS INTEGER) + $3 FROM json_each($1) WHERE true
                 ON CONFLICT (shard) DO UPDATE
                 SET node = excluded.node, fence = network_homes.fence + 1, expires_at = excluded.expires_at
                 WHERE network_homes.expires_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER)
                 RETURNING shard, fence",
        // In order, so that two nodes that claim at once do not deadlock.
        postgres: "INSERT INTO network_homes (shard, node, fence, expires_at)
                   SELECT CAST(value AS INTEGER), $2, 1,
                          CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + $3
                   FROM jsonb_array_elements_text(CAST($1 AS JSONB)) ORDER BY CAST(value AS INTEGER)
                   ON CONFLICT (shard) DO UPDATE
                   SET node = excluded.node, fence = network_homes.fence + 1, expires_at = excluded.expires_at
                   WHERE network_homes.expires_at <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
                   RETURNING shard, fence",
    })
    .bind(serde_json::json!(shards).to_string())
    .bind(node)
    .bind(ttl)
    .all()
    .await
}

/// Whether a node has the lease; it is locked until the transaction ends.
pub(super) async fn lock_lease(tx: &mut Tx, shard: u16, fence: i64, node: &str) -> Result<bool, Error> {
    let row: Option<(i64,)> = tx
        .query(Sql {
            sqlite: "SELECT fence FROM network_homes WHERE shard = $1 AND fence = $2 AND node = $3",
            postgres: "SELECT fence FROM network_homes WHERE shard = $1 AND fence = $2 AND node = $3 FOR SHARE",
        })
        .bind(i32::from(shard))
        .bind(fence)
        .bind(node)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Transfers a lease to another node, or (with none) expires it. Does nothing where the fence or the node differs.
pub(super) async fn transfer(
    db: &Db,
    shard: u16,
    fence: i64,
    node: &str,
    to: Option<&str>,
    ttl: Millis,
) -> Result<(), Error> {
    db.write(Sql {
        sqlite: "UPDATE network_homes SET node = COALESCE($4, node), fence = fence + 1,
                    expires_at = CASE WHEN $4 IS NULL THEN 0
                                 ELSE CAST(unixepoch('subsec') * 1000 AS INTEGER) + $5 END
                 WHERE shard = $1 AND fence = $2 AND node = $3",
        postgres: "UPDATE network_homes SET node = COALESCE(CAST($4 AS TEXT), node), fence = fence + 1,
                      expires_at = CASE WHEN CAST($4 AS TEXT) IS NULL THEN 0
                                   ELSE CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + $5 END
                   WHERE shard = $1 AND fence = $2 AND node = $3",
    })
    .bind(i32::from(shard))
    .bind(fence)
    .bind(node)
    .bind(to)
    .bind(ttl)
    .execute()
    .await?;
    Ok(())
}

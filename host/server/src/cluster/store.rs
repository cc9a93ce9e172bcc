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

/// A node, as it reported itself.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct NodeRow {
    pub(super) node: String,
    pub(super) url: String,
    pub(super) has_bus: bool,
    /// The names of the nodes that it reaches, as a JSON array; `None` at nodes of a version that does not report them.
    pub(super) reached: Option<String>,
    /// Milliseconds since it reported.
    pub(super) silent: Millis,
}

/// Records that a node is alive, whether it reaches the bus, and which other nodes.
pub(super) async fn upsert_node(
    db: &Db,
    node: &str,
    url: &str,
    has_bus: bool,
    reached: &[String],
) -> Result<(), Error> {
    db.write(Sql {
        sqlite: "INSERT INTO hub_nodes (node, url, seen_at, has_bus, reached)
                 VALUES ($1, $2, CAST(unixepoch('subsec') * 1000 AS INTEGER), $3, $4)
                 ON CONFLICT (node) DO UPDATE
                 SET url = excluded.url, seen_at = excluded.seen_at, has_bus = excluded.has_bus,
                     reached = excluded.reached",
        postgres: "INSERT INTO hub_nodes (node, url, seen_at, has_bus, reached)
                   VALUES ($1, $2, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT), $3, $4)
                   ON CONFLICT (node) DO UPDATE
                   SET url = excluded.url, seen_at = excluded.seen_at, has_bus = excluded.has_bus,
                       reached = excluded.reached",
    })
    .bind(node)
    .bind(url)
    .bind(has_bus)
    .bind(serde_json::json!(reached).to_string())
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

/// The nodes that were alive within this time, in the order of their names.
pub(super) async fn nodes(db: &Db, within: Millis) -> Result<Vec<NodeRow>, Error> {
    db.query(Sql {
        sqlite: "SELECT node, url, has_bus, reached, CAST(unixepoch('subsec') * 1000 AS INTEGER) - seen_at AS silent
                 FROM hub_nodes WHERE seen_at > CAST(unixepoch('subsec') * 1000 AS INTEGER) - $1 ORDER BY node",
        postgres: "SELECT node, url, has_bus, reached,
                          CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - seen_at AS silent
                   FROM hub_nodes
                   WHERE seen_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $1 ORDER BY node",
    })
    .bind(within)
    .all()
    .await
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

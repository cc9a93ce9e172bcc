//! All SQL of nodes and shard leases. It belongs to no network, and only to PostgreSQL: a single node on SQLite has no
//! leases.
//!
//! Times are by the database's clock: `clock_timestamp()`, since `now()` does not advance within a transaction. No
//! statement waits for a row: rows locked by other transactions are skipped, so that a node that stopped in one holds
//! up no lease but that one. Ending a lease locks its row `FOR UPDATE`, which is skipped during a write that the lease
//! allowed; renewals do not conflict with those.

pub(super) mod key_requests;

use hub_db::{Db, Error, Sql, Tx, next_number};
use serde_json::json;

use crate::clock::Millis;
use crate::values::NetworkId;

/// Shortest time between two moves of a shard to where its requests arrive.
const FOLLOW_INTERVAL: Millis = 120_000;

/// Lease on a shard.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct LeaseRow {
    pub(super) shard: i32,
    pub(super) node: String,
    pub(super) url: Option<String>,
    pub(super) fence: i64,
    pub(super) expires_at: Millis,
    /// Milliseconds until expiry; expired if 0 or less.
    pub(super) left: Millis,
    /// Milliseconds since it last followed its requests; negative if the database's clock was set back since.
    pub(super) followed: Millis,
}

impl LeaseRow {
    /// False shortly after the shard followed its requests: each move delays those of all its networks.
    pub(super) fn may_follow(&self) -> bool {
        self.followed.saturating_abs() >= FOLLOW_INTERVAL
    }
}

/// Fitness of a node to own shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Fitness {
    /// True if it reaches the bus.
    pub(super) reaches_bus: bool,
    /// True if its machine's clock agrees with the database's.
    pub(super) is_clock_right: bool,
}

/// Node as in its last heartbeat.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct NodeRow {
    pub(super) node: String,
    pub(super) url: String,
    #[sqlx(flatten)]
    pub(super) fitness: Fitness,
    /// The names of the nodes that it reaches, as a JSON array.
    pub(super) reached: String,
    /// Its options that have to be those of all nodes, as JSON.
    pub(super) options: String,
    /// Milliseconds since its heartbeat; negative if the database's clock was set back since.
    pub(super) silent: Millis,
}

impl NodeRow {
    /// True if it sent a heartbeat within this time. A heartbeat far in the future is from before the database's clock
    /// was set back: a live node sends another within a second.
    pub(super) fn is_live(&self, within: Millis) -> bool {
        self.silent.saturating_abs() < within
    }
}

/// Records that a node is alive, which other nodes it reaches, and whether it should own shards.
pub(super) async fn upsert_node(
    db: &Db,
    node: &str,
    url: &str,
    fitness: Fitness,
    (reached, options): (&[String], &str),
) -> Result<(), Error> {
    db.time_critical()
        .write(
            "INSERT INTO hub_nodes (node, url, seen_at, reaches_bus, is_clock_right, reached, options)
             VALUES ($1, $2, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT), $3, $4, $5, $6)
             ON CONFLICT (node) DO UPDATE
             SET url = excluded.url, seen_at = excluded.seen_at, reaches_bus = excluded.reaches_bus,
                 is_clock_right = excluded.is_clock_right, reached = excluded.reached, options = excluded.options",
        )
        .bind(node)
        .bind(url)
        .bind(fitness.reaches_bus)
        .bind(fitness.is_clock_right)
        .bind(json!(reached).to_string())
        .bind(options)
        .execute()
        .await?;
    Ok(())
}

/// Makes a node that is about to stop count as silent for `silent`, so that it gets no more shards. Its URL stays
/// known while it owns some.
pub(super) async fn retire_node(db: &Db, node: &str, silent: Millis) -> Result<(), Error> {
    let sql = "UPDATE hub_nodes SET seen_at = seen_at - $2 WHERE node = $1";
    db.time_critical().write(sql).bind(node).bind(silent).execute().await?;
    Ok(())
}

/// Deletes a node that has stopped, and nodes silent for longer than `silent`. Not for good: a node that lives comes back
/// with its next heartbeat.
pub(super) async fn delete_node(db: &Db, node: &str, silent: Millis) -> Result<(), Error> {
    db.time_critical()
        .write(
            "DELETE FROM hub_nodes
             WHERE node = $1 OR seen_at < CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $2",
        )
        .bind(node)
        .bind(silent)
        .execute()
        .await?;
    Ok(())
}

/// Records the time until which all erasures of players are done in a node's memory.
pub(super) async fn note_forgotten(db: &Db, node: &str, until: Millis) -> Result<(), Error> {
    let sql = "UPDATE hub_nodes SET forgot_until = $2 WHERE node = $1";
    db.write(sql).bind(node).bind(until).execute().await?;
    Ok(())
}

/// Number of nodes alive within this time that may have players in memory whose erasure began at `at`.
pub(super) async fn count_remembering(db: &Db, at: Millis, within: Millis) -> Result<i64, Error> {
    let sql = "SELECT COUNT(*) FROM hub_nodes
               WHERE seen_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $2
                 AND (forgot_until IS NULL OR forgot_until < $1)";
    let (count,): (i64,) = db.query(sql).bind(at).bind(within).one().await?;
    Ok(count)
}

/// Nodes alive within this time, ordered by name.
pub(super) async fn nodes(db: &Db, within: Millis) -> Result<Vec<NodeRow>, Error> {
    db.time_critical()
        .query(
            "SELECT node, url, reaches_bus, is_clock_right, reached, options,
                    CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - seen_at AS silent
             FROM hub_nodes
             WHERE seen_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $1 ORDER BY node",
        )
        .bind(within)
        .all()
        .await
}

/// All leases, including expired ones.
pub(super) async fn leases(db: &Db) -> Result<Vec<LeaseRow>, Error> {
    db.time_critical()
        .query(
            "SELECT h.shard, h.node, n.url, h.fence, h.expires_at,
                    h.expires_at - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS \"left\",
                    CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - h.followed_at AS followed
             FROM shard_leases h LEFT JOIN hub_nodes n ON n.node = h.node",
        )
        .all()
        .await
}

/// Adds the rows of shards that never had a lease.
pub(super) async fn insert_shards(db: &Db, shards: &[u16], node: &str) -> Result<(), Error> {
    db.time_critical()
        .write(
            "INSERT INTO shard_leases (shard, node, fence, expires_at, followed_at)
             SELECT CAST(value AS INTEGER), $2, 0, 0, 0
             FROM jsonb_array_elements_text(CAST($1 AS JSONB)) ORDER BY CAST(value AS INTEGER)
             ON CONFLICT (shard) DO NOTHING",
        )
        .bind(json!(shards).to_string())
        .bind(node)
        .execute()
        .await?;
    Ok(())
}

/// Renews a node's unexpired leases for `ttl` from now, with exceptions. Returns their shards and fences.
pub(super) async fn renew(db: &Db, node: &str, ttl: Millis, except: &[u16]) -> Result<Vec<(i32, i64)>, Error> {
    db.time_critical()
        .write(
            "WITH own AS (
                 SELECT shard FROM shard_leases
                 WHERE node = $1 AND expires_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
                   AND shard NOT IN
                       (SELECT CAST(value AS INTEGER) FROM jsonb_array_elements_text(CAST($3 AS JSONB)) AS value)
                 FOR NO KEY UPDATE SKIP LOCKED
             )
             UPDATE shard_leases h
             SET expires_at = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + $2
             FROM own WHERE h.shard = own.shard
             RETURNING h.shard, h.fence",
        )
        .bind(node)
        .bind(ttl)
        .bind(json!(except).to_string())
        .all()
        .await
}

/// Claims those of the shards without an unexpired lease and returns them with their fences. No lease lasts for twice
/// `ttl` or longer: if one seems to, the database's clock was set back.
pub(super) async fn claim(db: &Db, shards: &[u16], node: &str, ttl: Millis) -> Result<Vec<(i32, i64)>, Error> {
    db.time_critical()
        .write(
            concat!(
            "WITH free AS (
                 SELECT shard FROM shard_leases
                 WHERE shard IN (SELECT CAST(value AS INTEGER) FROM jsonb_array_elements_text(CAST($1 AS JSONB)) AS value)
                   AND (expires_at <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
                        OR expires_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + 2 * $3)
                 FOR UPDATE SKIP LOCKED
             )
             UPDATE shard_leases h
             SET node = $2, fence = ",
 next_number!("h.fence"),
 ", expires_at = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + $3
             FROM free WHERE h.shard = free.shard
             RETURNING h.shard, h.fence"
            ),
        )
        .bind(json!(shards).to_string())
        .bind(node)
        .bind(ttl)
        .all()
        .await
}

/// Expires the given leases of a node, so that the next ones have other fences. Returns their shards. Locked leases
/// are skipped.
pub(super) async fn release(db: &Db, node: &str, leases: &[(u16, i64)]) -> Result<Vec<(i32,)>, Error> {
    let (shards, fences): (Vec<_>, Vec<_>) = leases.iter().copied().unzip();
    db.time_critical()
        .write(concat!(
            "WITH ended AS (
                 SELECT h.shard FROM shard_leases h
                 JOIN jsonb_array_elements_text(CAST($2 AS JSONB)) WITH ORDINALITY AS shards (value, place)
                   ON h.shard = CAST(shards.value AS INTEGER)
                 JOIN jsonb_array_elements_text(CAST($3 AS JSONB)) WITH ORDINALITY AS fences (value, place)
                   ON shards.place = fences.place AND h.fence = CAST(fences.value AS BIGINT)
                 WHERE h.node = $1 FOR UPDATE OF h SKIP LOCKED
             )
             UPDATE shard_leases h SET fence = ",
            next_number!("h.fence"),
            ", expires_at = 0
             FROM ended WHERE h.shard = ended.shard
             RETURNING h.shard"
        ))
        .bind(node)
        .bind(json!(shards).to_string())
        .bind(json!(fences).to_string())
        .all()
        .await
}

/// True if a node has the lease; no other node gets it until the transaction ends. A node that stops within the
/// transaction (paused, cut off) loses its database session after two seconds, before its leases expire.
pub(super) async fn lock_lease(tx: &mut Tx, shard: u16, fence: i64, node: &str) -> Result<bool, Error> {
    let row: Option<(i64,)> = tx
        .query(
            "SELECT fence, set_config('idle_in_transaction_session_timeout', '2s', true) FROM shard_leases
             WHERE shard = $1 AND fence = $2 AND node = $3 FOR KEY SHARE",
        )
        .bind(i32::from(shard))
        .bind(fence)
        .bind(node)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// True if a network is served: it exists, and is neither suspended nor on its way to another hub. It stays so until the
/// transaction ends.
pub async fn lock_open(tx: &mut Tx, network: NetworkId) -> Result<bool, Error> {
    let suspended: Option<(bool,)> = tx
        .query(Sql {
            sqlite: "SELECT suspended FROM networks WHERE network_id = $1",
            postgres: "SELECT suspended FROM networks WHERE network_id = $1 FOR SHARE",
        })
        .bind(network)
        .optional()
        .await?;
    Ok(suspended == Some((false,)))
}

/// Next owner of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The node that claims it first.
    Any,
    /// This node.
    Node(String),
    /// The node at which its requests arrive.
    Source(String),
}

impl Target {
    fn node(&self) -> Option<&str> {
        match self {
            Self::Any => None,
            Self::Node(name) | Self::Source(name) => Some(name),
        }
    }
}

/// Result of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transferred {
    Done,
    /// A write under the lease is in progress.
    Locked,
    /// The node no longer has the lease.
    NotHeld,
}

/// Transfers a lease to another node, or (with none) expires it.
pub(super) async fn transfer(
    db: &Db,
    (shard, fence): (u16, i64),
    node: &str,
    to: &Target,
    ttl: Millis,
) -> Result<Transferred, Error> {
    let db = db.time_critical();
    let transferred = db
        .write(concat!(
            "WITH own AS (
                 SELECT shard FROM shard_leases WHERE shard = $1 AND fence = $2 AND node = $3 FOR UPDATE SKIP LOCKED
             )
             UPDATE shard_leases h
             SET node = COALESCE(CAST($4 AS TEXT), h.node), fence = ",
            next_number!("h.fence"),
            ",
                 expires_at = CASE WHEN CAST($4 AS TEXT) IS NULL THEN 0
                              ELSE CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + $5 END,
                 followed_at = CASE WHEN $6 THEN CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
                               ELSE h.followed_at END
             FROM own WHERE h.shard = own.shard"
        ))
        .bind(i32::from(shard))
        .bind(fence)
        .bind(node)
        .bind(to.node())
        .bind(ttl)
        .bind(matches!(to, Target::Source(_)))
        .execute()
        .await?;
    if transferred == 1 {
        return Ok(Transferred::Done);
    }
    let held: Option<(i32,)> = db
        .query("SELECT shard FROM shard_leases WHERE shard = $1 AND fence = $2 AND node = $3")
        .bind(i32::from(shard))
        .bind(fence)
        .bind(node)
        .optional()
        .await?;
    Ok(if held.is_some() { Transferred::Locked } else { Transferred::NotHeld })
}

/// True if there is the network.
pub(super) async fn has_network(db: &Db, network: NetworkId) -> Result<bool, Error> {
    let query = db.query("SELECT network_id FROM networks WHERE network_id = $1").bind(network);
    Ok(query.optional::<(NetworkId,)>().await?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_reported_before_the_clock_was_set_back_is_not_live() {
        let is_live = |silent| {
            let fitness = Fitness { reaches_bus: true, is_clock_right: true };
            let row = NodeRow {
                node: "n".into(),
                url: "u".into(),
                fitness,
                reached: "[]".into(),
                options: "{}".into(),
                silent,
            };
            row.is_live(3_000)
        };
        assert!(is_live(0) && is_live(2_999) && is_live(-1));
        assert!(!is_live(3_000) && !is_live(-40_000));
    }
}

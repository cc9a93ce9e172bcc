//! Due leases of all networks.

use std::time::Duration;

use hub_db::{Db, Error, Sql, Tx};

use crate::clock::{Cutoff, Millis};
use crate::component::{Term, renew_term};
use crate::config::Settings;
use crate::values::NetworkId;
use crate::worlds::model::MAX_WAIT;

/// Live leases, and the begin of the time without players: both are corrected with the clock.
pub(in crate::worlds) const TERMS: &[Term] = &[
    Term::new(
        renew_term!(
            "world_leases",
            "network_id, id",
            "expires_at",
            "state IN ('LOADING', 'READY', 'DRAINING') AND node_server_id IS NOT NULL"
        ),
        Settings::lease,
    ),
    Term::new(
        renew_term!("world_leases", "network_id, id", "expires_at", "state = 'LOADING' AND node_server_id IS NULL"),
        |_| Duration::from_millis(MAX_WAIT.unsigned_abs()),
    ),
    Term::new(renew_term!("world_leases", "network_id, id", "idle_since", "state = 'READY'"), |_| Duration::ZERO),
];

/// Leaps by an index from network to network, to those with due work: one with much of it costs no more than others.
macro_rules! due_networks {
    ($live:literal, $at:literal) => {
        concat!(
            "WITH RECURSIVE n (network_id) AS (
                 SELECT (SELECT network_id FROM world_leases WHERE ",
            $live,
            " ORDER BY network_id, ",
            $at,
            " LIMIT 1)
                 UNION ALL
                 SELECT (SELECT w.network_id FROM world_leases w WHERE ",
            $live,
            " AND w.network_id > n.network_id ORDER BY w.network_id, ",
            $at,
            " LIMIT 1)
                 FROM n WHERE n.network_id IS NOT NULL)
             SELECT network_id FROM n WHERE network_id IS NOT NULL AND EXISTS (
                 SELECT 1 FROM world_leases w WHERE w.network_id = n.network_id AND ",
            $live,
            " AND ",
            $at,
            " <= $1)"
        )
    };
}

pub(in crate::worlds) const LOST_NETWORKS: &str =
    due_networks!("state IN ('LOADING', 'READY', 'DRAINING')", "expires_at");
pub(in crate::worlds) const IDLE_NETWORKS: &str =
    due_networks!("state = 'READY' AND idle_since IS NOT NULL", "idle_since");
pub(in crate::worlds) const WAITING_NETWORKS: &str =
    due_networks!("state = 'LOADING' AND node_server_id IS NULL", "opened_at");

/// Networks that one of these statements finds by `due`. Crosses networks: each owner then does the work of its own.
pub(in crate::worlds) async fn networks(db: &Db, sql: &'static str, due: Millis) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(sql).bind(due).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Marks at most `limit` expired leases of a network as lost. A lease that another transaction changes, maybe renews, is
/// left for the next time: it holds up no other.
pub(in crate::worlds) async fn mark_lost(
    tx: &mut Tx,
    network: NetworkId,
    now: Millis,
    limit: i64,
) -> Result<Vec<i64>, Error> {
    macro_rules! statement {
        ($lock:literal) => {
            concat!(
                "UPDATE world_leases SET state = 'LOST', ended_at = expires_at
                 WHERE (network_id, id) IN (
                     SELECT network_id, id FROM world_leases
                     WHERE network_id = $3 AND state IN ('LOADING', 'READY', 'DRAINING') AND expires_at <= $1
                     LIMIT $2 ",
                $lock,
                ") RETURNING id"
            )
        };
    }
    let rows: Vec<(i64,)> = tx
        .query(Sql { sqlite: statement!(""), postgres: statement!("FOR UPDATE SKIP LOCKED") })
        .bind(now)
        .bind(limit)
        .bind(network)
        .readable()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

pub(in crate::worlds) const IDLE: &str = "SELECT id FROM world_leases
     WHERE network_id = $1 AND state = 'READY' AND idle_since IS NOT NULL AND idle_since <= $2 AND expires_at > $3
     ORDER BY idle_since LIMIT $4";

/// Worlds of a network without players since `since`, longest empty first.
pub(in crate::worlds) async fn idle(
    db: &Db,
    network: NetworkId,
    since: Millis,
    now: Millis,
    limit: i64,
) -> Result<Vec<i64>, Error> {
    let rows: Vec<(i64,)> = db.query(IDLE).bind(network).bind(since).bind(now).bind(limit).readable().await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

pub(in crate::worlds) const WAITING: &str = "SELECT world_no FROM world_leases
     WHERE network_id = $1 AND state = 'LOADING' AND node_server_id IS NULL AND expires_at > $2
     ORDER BY opened_at LIMIT $3";

/// Worlds of a network with a lease that waits for a node.
pub(in crate::worlds) async fn waiting(
    db: &Db,
    network: NetworkId,
    now: Millis,
    limit: i64,
) -> Result<Vec<i64>, Error> {
    let rows: Vec<(i64,)> = db.query(WAITING).bind(network).bind(now).bind(limit).readable().await?;
    Ok(rows.into_iter().map(|(world,)| world).collect())
}

/// Deletes at most `limit` leases that ended long ago. Returns their number. Crosses networks: they are nobody's work.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn due_leases_are_found_by_their_indexes() {
        let statements = [LOST_NETWORKS, IDLE_NETWORKS, WAITING_NETWORKS, IDLE, WAITING];
        for (sql, plan) in statements.iter().zip(query_plans(&statements).await) {
            // The first network is the first of an index.
            let is_scan = |step: &String| step.contains("SCAN world_leases") && !step.contains("INDEX world_leases_");
            assert!(!plan.iter().any(is_scan), "{sql}: {plan:#?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{sql}: {plan:#?}");
        }
    }
}

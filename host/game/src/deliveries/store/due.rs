//! SQL of the passes over all networks.

use std::time::Duration;

use hub_db::{Db, Error, Sql, Tx};
use serde::Serialize;

use super::columns;
use crate::clock::{Cutoff, Millis};
use crate::component::{Term, renew_term};
use crate::deliveries::model::{CLAIM_TTL, Delivery};
use crate::values::NetworkId;

/// Time after which deliveries that this hub cannot read are looked at again.
const UNREADABLE_LATER: Millis = 60_000;

/// Claims, whose ends are corrected with the clock.
pub(in crate::deliveries) const CLAIMS: Term = Term::new(
    renew_term!("deliveries", "network_id, delivery_id", "due_at", "state = 'CLAIMED'", ", claimed_until = $1"),
    |_| Duration::from_millis(CLAIM_TTL.unsigned_abs()),
);

// Crosses networks: one task looks for all.
pub(in crate::deliveries) const NEXT_DUE: &str =
    "SELECT due_at FROM deliveries WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";

/// Time at which the next delivery is due. Crosses networks: one task looks for all, and each network's own are then
/// changed.
pub(in crate::deliveries) async fn next_due(db: &Db) -> Result<Option<Millis>, Error> {
    let row: Option<(Millis,)> = db.query(NEXT_DUE).optional().await?;
    Ok(row.map(|(at,)| at))
}

// Leaps from network to network: those with many deliveries cost no more than others.
pub(in crate::deliveries) const DUE_NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM deliveries WHERE due_at IS NOT NULL ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT d.network_id FROM deliveries d
                 WHERE d.due_at IS NOT NULL AND d.network_id > n.network_id ORDER BY d.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL AND EXISTS (
         SELECT 1 FROM deliveries d WHERE d.network_id = n.network_id AND d.due_at <= $1)";

/// Networks with due deliveries. Crosses networks: each owner then records those of its own.
pub(in crate::deliveries) async fn due_networks(db: &Db, due: Cutoff) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(DUE_NETWORKS).bind(due.at()).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

pub(in crate::deliveries) const DUE: &str =
    "SELECT delivery_id FROM deliveries WHERE network_id = $1 AND due_at <= $2 ORDER BY due_at LIMIT $3";

/// Due deliveries of a network.
pub(in crate::deliveries) async fn due(
    db: &Db,
    network: NetworkId,
    due: Cutoff,
    limit: i64,
) -> Result<Vec<i64>, Error> {
    let rows: Vec<(i64,)> = db.query(DUE).bind(network).bind(due.at()).bind(limit).readable().await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

macro_rules! of_ids {
    ($columns:expr, $ids:literal, $lock:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM deliveries WHERE network_id = $1 AND due_at <= $2 AND delivery_id IN (SELECT ",
            $ids,
            ") ORDER BY delivery_id",
            $lock
        )
    };
}
macro_rules! lock_due {
    ($columns:expr) => {
        Sql {
            sqlite: of_ids!($columns, "value FROM json_each($3)", ""),
            postgres: of_ids!(
                $columns,
                "CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST($3 AS JSONB)) AS ids (value)",
                " FOR UPDATE SKIP LOCKED"
            ),
        }
    };
}
const LOCK_DUE_IDS: Sql = lock_due!("delivery_id");
const LOCK_DUE: Sql = lock_due!(columns!());
const POSTPONE: Sql = Sql {
    sqlite: "UPDATE deliveries SET due_at = $3 WHERE network_id = $1 AND due_at < $3
                 AND delivery_id IN (SELECT value FROM json_each($2))",
    postgres: "UPDATE deliveries SET due_at = $3 WHERE network_id = $1 AND due_at < $3 AND delivery_id IN (
                   SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value))",
};

/// Those of a network that are due, locked until the transaction ends. Ones that are being changed are left for the next
/// pass, ones that this hub cannot read for one after a while, so that others have their turn.
pub(in crate::deliveries) async fn lock_due(
    tx: &mut Tx,
    network: NetworkId,
    due: Cutoff,
    ids: &[i64],
) -> Result<Vec<Delivery>, Error> {
    let asked = serde_json::json!(ids).to_string();
    let locked: Vec<(i64,)> = tx.query(LOCK_DUE_IDS).bind(network).bind(due.at()).bind(asked).all().await?;
    let locked: Vec<i64> = locked.into_iter().map(|(id,)| id).collect();
    let asked = serde_json::json!(locked).to_string();
    let read: Vec<Delivery> = tx.query(LOCK_DUE).bind(network).bind(due.at()).bind(asked).readable().await?;
    let is_read = |id: &i64| read.iter().any(|delivery| delivery.delivery_id == *id);
    let unreadable: Vec<i64> = locked.into_iter().filter(|id| !is_read(id)).collect();
    if !unreadable.is_empty() {
        let (ids, later) = (serde_json::json!(unreadable).to_string(), due.at().saturating_add(UNREADABLE_LATER));
        tx.query(POSTPONE).bind(network).bind(ids).bind(later).execute().await?;
    }
    Ok(read)
}

pub(in crate::deliveries) const PURGE: &str =
    "SELECT network_id, delivery_id FROM deliveries WHERE settled_at < $1 ORDER BY settled_at LIMIT $2";

/// Old settled deliveries. Crosses networks: see [`next_due`].
pub(in crate::deliveries) async fn old(db: &Db, before: Cutoff, limit: i64) -> Result<Vec<(NetworkId, i64)>, Error> {
    db.query(PURGE).bind(before.at()).bind(limit).readable().await
}

/// End of a deleted delivery.
#[derive(Debug, Serialize, sqlx::FromRow)]
struct Deleted {
    delivery_id: i64,
    state: String,
    attempts: i64,
    settled_at: Option<Millis>,
}

// Before a `Cutoff`.
const DELETE_OLD: Sql = Sql {
    sqlite: "DELETE FROM deliveries WHERE network_id = $1 AND settled_at < $2
                 AND delivery_id IN (SELECT value FROM json_each($3))
             RETURNING delivery_id, state, attempts, settled_at",
    postgres: "DELETE FROM deliveries WHERE network_id = $1 AND settled_at < $2 AND delivery_id IN (
                   SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST($3 AS JSONB)) AS ids (value))
               RETURNING delivery_id, state, attempts, settled_at",
};
const KEEP_ENDS: Sql = Sql {
    sqlite:
        "UPDATE delivery_references SET state = ended.state, attempts = ended.attempts, settled_at = ended.settled_at
             FROM (SELECT value ->> 'delivery_id' AS id, value ->> 'state' AS state, value ->> 'attempts' AS attempts,
                       value ->> 'settled_at' AS settled_at FROM json_each($2)) AS ended
             WHERE network_id = $1 AND delivery_id = ended.id AND values_sha256 IS NOT NULL",
    postgres: "UPDATE delivery_references SET state = ended.value ->> 'state',
                   attempts = CAST(ended.value ->> 'attempts' AS BIGINT),
                   settled_at = CAST(ended.value ->> 'settled_at' AS BIGINT)
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS ended (value)
               WHERE network_id = $1 AND delivery_id = CAST(ended.value ->> 'delivery_id' AS BIGINT)
                   AND values_sha256 IS NOT NULL",
};

/// Deletes old settled deliveries of a network; their references keep how they ended.
pub(in crate::deliveries) async fn delete_old(
    tx: &mut Tx,
    network: NetworkId,
    before: Cutoff,
    ids: &[i64],
) -> Result<(), Error> {
    let ids = serde_json::json!(ids).to_string();
    let deleted: Vec<Deleted> = tx.query(DELETE_OLD).bind(network).bind(before.at()).bind(ids).all().await?;
    tx.query(KEEP_ENDS).bind(network).bind(serde_json::json!(deleted).to_string()).execute().await?;
    Ok(())
}

//! Table `outbox`.

use std::collections::{HashMap, HashSet};

use hub_db::{Db, Error, Executor, Sql, Tx};
use serde_json::json;
use sqlx::FromRow;

use crate::clock::Millis;
use crate::events::cause;
use crate::values::NetworkId;

/// Event that waits to be published.
#[derive(Debug, FromRow)]
pub(in crate::events) struct WaitingEvent {
    pub(in crate::events) id: i64,
    pub(in crate::events) name: String,
    pub(in crate::events) target: Option<String>,
    pub(in crate::events) data: String,
    pub(in crate::events) created_at: Millis,
}

pub(in crate::events) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    target: Option<&str>,
    data: &str,
    now: Millis,
) -> Result<(), Error> {
    tx.query("INSERT INTO outbox (network_id, name, target, data, created_at, cause) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(network)
        .bind(name)
        .bind(target)
        .bind(data)
        .bind(now)
        .bind(cause::current().as_deref())
        .execute()
        .await?;
    Ok(())
}

const INSERT_COPIES: Sql = Sql {
    sqlite: "INSERT INTO outbox (network_id, name, target, data, created_at, is_copy, cause)
             SELECT $1, $2, value, $3, $4, key > 0, $5 FROM json_each($6) ORDER BY key",
    postgres: "INSERT INTO outbox (network_id, name, target, data, created_at, is_copy, cause)
               SELECT $1, $2, target, $3, $4, number > 1, CAST($5 AS TEXT)
               FROM jsonb_array_elements_text(CAST($6 AS JSONB)) WITH ORDINALITY AS targets (target, number)
               ORDER BY number",
};

/// Inserts an event for each of these servers, of which there may be many; all but the first are copies, which subscribers
/// do not get. Without servers it is for subscribers alone: no stream has an empty id.
pub(in crate::events) async fn insert_copies(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    targets: &[&str],
    data: &str,
    now: Millis,
) -> Result<(), Error> {
    let targets = if targets.is_empty() { json!([""]) } else { json!(targets) };
    tx.query(INSERT_COPIES)
        .bind(network)
        .bind(name)
        .bind(data)
        .bind(now)
        .bind(cause::current().as_deref())
        .bind(targets.to_string())
        .execute()
        .await?;
    Ok(())
}

pub(super) const INSERT_IF_WANTED: &str = "INSERT INTO outbox (network_id, name, target, data, created_at, cause)
     SELECT $1, $2, $3, $4, $5, CAST($6 AS TEXT)
     WHERE EXISTS (SELECT until FROM event_listeners WHERE network_id = $1 AND name = $2 AND until > $5)
        OR EXISTS (SELECT subscriber FROM event_subscriptions WHERE network_id = $1 AND name = $2)";

/// Like [`insert`], if a stream or subscriber requests the event. True if one does.
pub(in crate::events) async fn insert_if_wanted(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    target: Option<&str>,
    data: &str,
    now: Millis,
) -> Result<bool, Error> {
    let statement = tx.query(INSERT_IF_WANTED).bind(network).bind(name).bind(target).bind(data).bind(now);
    let statement = statement.bind(cause::current().as_deref());
    Ok(statement.execute().await? > 0)
}

pub(super) const WAITING: &str =
    "SELECT id, name, target, data, created_at FROM outbox WHERE network_id = $1 ORDER BY id LIMIT $2";

/// Oldest waiting events of the network, in order.
pub(in crate::events) async fn waiting(db: &Db, network: NetworkId, limit: i64) -> Result<Vec<WaitingEvent>, Error> {
    db.query(WAITING).bind(network).bind(limit).all().await
}

macro_rules! delete {
    ($($end:literal)?) => {
        Sql {
            sqlite: concat!(
                "DELETE FROM outbox WHERE network_id = $1 AND id IN (SELECT value FROM json_each($2))" $(, $end)?
            ),
            postgres: concat!(
                "DELETE FROM outbox
                 WHERE network_id = $1 AND id IN (SELECT CAST(value AS BIGINT)
                                                  FROM jsonb_array_elements_text(CAST($2 AS JSONB)))" $(, $end)?
            ),
        }
    };
}

pub(super) const DELETE: Sql = delete!();
pub(super) const DELETE_RETURNING: Sql = delete!(" RETURNING id, name");

/// Deletes published events.
pub(in crate::events) async fn delete(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    ids: &HashSet<i64>,
) -> Result<(), Error> {
    on.into().write(DELETE).bind(network).bind(serde_json::json!(ids).to_string()).execute().await?;
    Ok(())
}

/// Like [`delete`]. Returns the deleted ones, with the names that they had by then.
pub(in crate::events) async fn delete_returning(
    tx: &mut Tx,
    network: NetworkId,
    ids: &HashSet<i64>,
) -> Result<HashMap<i64, String>, Error> {
    let deleted = tx.query(DELETE_RETURNING).bind(network).bind(serde_json::json!(ids).to_string());
    let rows: Vec<(i64, String)> = deleted.all().await?;
    Ok(rows.into_iter().collect())
}

// Steps through the networks in the index: `DISTINCT` would read every event.
pub(super) const NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM outbox ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT o.network_id FROM outbox o WHERE o.network_id > n.network_id ORDER BY o.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL";

/// Networks with waiting events. Crosses networks: each relay then reads its own.
pub(in crate::events) async fn networks(db: &Db) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(NETWORKS).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Id of the newest waiting event of any network. Crosses networks: used only for comparison.
pub(in crate::events) async fn newest(db: &Db) -> Result<Option<i64>, Error> {
    let (newest,): (Option<i64>,) = db.query("SELECT MAX(id) FROM outbox").one().await?;
    Ok(newest)
}

pub(super) const NTH_NEWEST: &str = "SELECT id FROM outbox WHERE network_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2";

/// Last event to delete if `most` events and a tenth more wait: the newest `most` stay.
pub(in crate::events) async fn excess(tx: &mut Tx, network: NetworkId, most: i64) -> Result<Option<i64>, Error> {
    let nth = async |tx: &mut Tx, nth: i64| tx.query(NTH_NEWEST).bind(network).bind(nth).optional::<(i64,)>().await;
    if nth(tx, most + most / 10).await?.is_none() {
        return Ok(None);
    }
    Ok(nth(tx, most).await?.map(|(id,)| id))
}

pub(super) const LOCK_UP_TO: Sql = Sql {
    sqlite: "SELECT id FROM outbox WHERE network_id = $1 AND id <= $2",
    postgres: "SELECT id FROM outbox WHERE network_id = $1 AND id <= $2 ORDER BY id FOR UPDATE",
};

/// Locks the waiting events up to one. Those of transactions that commit later are not among them.
pub(in crate::events) async fn lock_up_to(tx: &mut Tx, network: NetworkId, last: i64) -> Result<HashSet<i64>, Error> {
    let rows: Vec<(i64,)> = tx.query(LOCK_UP_TO).bind(network).bind(last).all().await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Replaces a waiting event with one with this name and data.
pub(in crate::events) async fn replace(
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
    (name, data): (&str, &str),
) -> Result<(), Error> {
    tx.query("UPDATE outbox SET name = $3, target = NULL, data = $4 WHERE network_id = $1 AND id = $2")
        .bind(network)
        .bind(id)
        .bind(name)
        .bind(data)
        .execute()
        .await?;
    Ok(())
}

/// Number of waiting events, up to 10,000.
pub(in crate::events) async fn count_waiting(db: &Db) -> Result<i64, Error> {
    // Crosses networks: the operator's count.
    let (waiting,) = db.query("SELECT COUNT(*) FROM (SELECT 1 FROM outbox LIMIT 10000) AS waiting").one().await?;
    Ok(waiting)
}

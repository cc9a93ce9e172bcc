//! Tables `handler_events` and `handler_queue`.

use std::time::Duration;

use hub_db::{Db, Error, Executor, Sql, Tx};
use serde_json::json;

use crate::clock::Millis;
use crate::component::{Term, renew_term};
use crate::modules::handlers::model::{QueueRow, QueuedEvent};
use crate::values::NetworkId;

/// Pauses, which end when the clock is set back: how long they would last by the new time is not known.
pub(in crate::modules::handlers) const PAUSES: Term =
    Term::new(renew_term!("handler_queue", "network_id, module, seq", "due_at", "attempts > 0"), |_| Duration::ZERO);

const INSERT_EVENTS: Sql = Sql {
    sqlite:
        "INSERT INTO handler_events (network_id, seq, name, data, at, player_name, server_id, depth, root_id, cause,
                 player_uuid)
             SELECT $1, json_extract(value, '$.seq'), json_extract(value, '$.name'), json_extract(value, '$.data'),
                 json_extract(value, '$.at'), json_extract(value, '$.player_name'), json_extract(value, '$.server_id'),
                 json_extract(value, '$.depth'), json_extract(value, '$.root_id'), json_extract(value, '$.cause'),
                 unhex(json_extract(value, '$.player'))
             FROM json_each($2)",
    postgres:
        "INSERT INTO handler_events (network_id, seq, name, data, at, player_name, server_id, depth, root_id, cause,
                   player_uuid)
               SELECT $1, CAST(e.value ->> 'seq' AS BIGINT), e.value ->> 'name', e.value ->> 'data',
                   CAST(e.value ->> 'at' AS BIGINT), e.value ->> 'player_name', e.value ->> 'server_id',
                   CAST(e.value ->> 'depth' AS BIGINT), e.value ->> 'root_id', e.value ->> 'cause',
                   CAST(e.value ->> 'player' AS UUID)
               FROM json_array_elements(CAST($2 AS JSON)) AS e (value)",
};

/// Adds events.
pub(in crate::modules::handlers) async fn insert_events(
    tx: &mut Tx,
    network: NetworkId,
    events: &[QueuedEvent],
) -> Result<(), Error> {
    let rows: Vec<_> = events
        .iter()
        .map(|event| {
            let player = event.player_uuid.map(|player| player.0.simple().to_string());
            json!({"seq": event.seq, "name": event.name, "data": event.data, "at": event.at, "player": player,
                "player_name": event.player_name, "server_id": event.server_id, "depth": event.depth,
                "root_id": event.root_id, "cause": event.cause})
        })
        .collect();
    tx.query(INSERT_EVENTS).bind(network).bind(json!(rows).to_string()).execute().await?;
    Ok(())
}

const INSERT_ROWS: Sql = Sql {
    sqlite: "INSERT INTO handler_queue (network_id, module, seq, event_key, attempts, due_at, queued_at)
             SELECT $1, json_extract(value, '$.module'), json_extract(value, '$.seq'), json_extract(value, '$.key'), 0,
                 $3, $3
             FROM json_each($2)",
    postgres: "INSERT INTO handler_queue (network_id, module, seq, event_key, attempts, due_at, queued_at)
               SELECT $1, e.value ->> 'module', CAST(e.value ->> 'seq' AS BIGINT), e.value ->> 'key', 0, $3, $3
               FROM json_array_elements(CAST($2 AS JSON)) AS e (value)",
};

/// Queues events for handlers: module, number and key of each.
pub(in crate::modules::handlers) async fn insert_rows(
    tx: &mut Tx,
    network: NetworkId,
    rows: &[(String, i64, String)],
    now: Millis,
) -> Result<(), Error> {
    let rows: Vec<_> =
        rows.iter().map(|(module, seq, key)| json!({"module": module, "seq": seq, "key": key})).collect();
    tx.query(INSERT_ROWS).bind(network).bind(json!(rows).to_string()).bind(now).execute().await?;
    Ok(())
}

// Leaps from network to network: those with long queues cost no more than others.
pub(super) const NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM handler_queue ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT q.network_id FROM handler_queue q WHERE q.network_id > n.network_id
                 ORDER BY q.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL";

pub(super) const NETWORKS_WITH_EVENTS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM handler_events ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT e.network_id FROM handler_events e WHERE e.network_id > n.network_id
                 ORDER BY e.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL";

/// Networks with stored events, queued or not. Crosses networks: each is then served by itself.
pub(in crate::modules::handlers) async fn networks_with_events(db: &Db) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(NETWORKS_WITH_EVENTS).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Number of a network's last stored event.
pub(in crate::modules::handlers) async fn last_event(tx: &mut Tx, network: NetworkId) -> Result<Option<i64>, Error> {
    let sql = "SELECT seq FROM handler_events WHERE network_id = $1 ORDER BY seq DESC LIMIT 1";
    let last: Option<(i64,)> = tx.query(sql).bind(network).optional().await?;
    Ok(last.map(|(seq,)| seq))
}

/// Networks with queued events. Crosses networks: each is then served by itself.
pub(in crate::modules::handlers) async fn networks(db: &Db) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(NETWORKS).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

pub(super) const WAITING: Sql = Sql {
    sqlite: "SELECT seq, event_key, attempts, due_at, queued_at FROM handler_queue
             WHERE network_id = $1 AND module = $2 AND seq <= $3
               AND event_key NOT IN (SELECT value FROM json_each($4))
             ORDER BY seq LIMIT $5",
    postgres: "SELECT seq, event_key, attempts, due_at, queued_at FROM handler_queue
               WHERE network_id = $1 AND module = $2 AND seq <= $3
                 AND event_key <> ALL (ARRAY(SELECT jsonb_array_elements_text(CAST($4 AS JSONB))))
               ORDER BY seq LIMIT $5",
};

/// First queued events of a handler up to a number, but for those of some keys.
pub(in crate::modules::handlers) async fn waiting(
    db: &Db,
    network: NetworkId,
    module: &str,
    up_to: i64,
    except: &[&str],
    limit: i64,
) -> Result<Vec<QueueRow>, Error> {
    db.query(WAITING).bind(network).bind(module).bind(up_to).bind(json!(except).to_string()).bind(limit).all().await
}

/// Number of the first queued event of a handler, and its time.
pub(in crate::modules::handlers) async fn first(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    module: &str,
) -> Result<Option<(i64, Millis)>, Error> {
    on.into()
        .query("SELECT seq, queued_at FROM handler_queue WHERE network_id = $1 AND module = $2 ORDER BY seq LIMIT 1")
        .bind(network)
        .bind(module)
        .optional()
        .await
}

/// Number of queued events of a handler.
pub(in crate::modules::handlers) async fn count(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    module: &str,
) -> Result<i64, Error> {
    count_to(on, network, module, i64::MAX).await
}

/// The same, counted up to `most`.
pub(in crate::modules::handlers) async fn count_to(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    module: &str,
    most: i64,
) -> Result<i64, Error> {
    let (count,) = on
        .into()
        .query(
            "SELECT COUNT(*) FROM (SELECT seq FROM handler_queue WHERE network_id = $1 AND module = $2 LIMIT $3)
             AS counted",
        )
        .bind(network)
        .bind(module)
        .bind(most)
        .one()
        .await?;
    Ok(count)
}

/// Rows and bytes of a network's queue.
pub(in crate::modules::handlers) async fn backlog(tx: &mut Tx, network: NetworkId) -> Result<(i64, i64), Error> {
    let (rows,) = tx.query("SELECT COUNT(*) FROM handler_queue WHERE network_id = $1").bind(network).one().await?;
    let (bytes,) = tx
        .query("SELECT CAST(COALESCE(SUM(OCTET_LENGTH(data)), 0) AS BIGINT) FROM handler_events WHERE network_id = $1")
        .bind(network)
        .one()
        .await?;
    Ok((rows, bytes))
}

/// An event; none if it was erased with its player.
pub(in crate::modules::handlers) async fn event(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    seq: i64,
) -> Result<Option<QueuedEvent>, Error> {
    on.into()
        .query(
            "SELECT seq, name, data, at, player_uuid, player_name, server_id, depth, root_id, cause
         FROM handler_events WHERE network_id = $1 AND seq = $2",
        )
        .bind(network)
        .bind(seq)
        .optional()
        .await
}

/// True if an event is there, which then stays until the transaction ends.
pub(in crate::modules::handlers) async fn has_event(tx: &mut Tx, network: NetworkId, seq: i64) -> Result<bool, Error> {
    let found: Option<(i64,)> = tx.query(HAS_EVENT).bind(network).bind(seq).optional().await?;
    Ok(found.is_some())
}

const HAS_EVENT: Sql = Sql {
    sqlite: "SELECT seq FROM handler_events WHERE network_id = $1 AND seq = $2",
    postgres: "SELECT seq FROM handler_events WHERE network_id = $1 AND seq = $2 FOR SHARE",
};

/// Takes an event out of a handler's queue; false if it is not there. One that no other handler waits for is deleted.
pub(in crate::modules::handlers) async fn take(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    seq: i64,
) -> Result<bool, Error> {
    let rows = tx
        .query("DELETE FROM handler_queue WHERE network_id = $1 AND module = $2 AND seq = $3")
        .bind(network)
        .bind(module)
        .bind(seq)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Deletes an event that no handler waits for. Two handlers that take it at once leave it to [`delete_unused`].
pub(in crate::modules::handlers) async fn delete_event(
    tx: &mut Tx,
    network: NetworkId,
    (seq, modules): (i64, &[String]),
) -> Result<(), Error> {
    for module in modules {
        let other: Option<(i64,)> = tx
            .query("SELECT seq FROM handler_queue WHERE network_id = $1 AND module = $2 AND seq = $3")
            .bind(network)
            .bind(module)
            .bind(seq)
            .optional()
            .await?;
        if other.is_some() {
            return Ok(());
        }
    }
    tx.query("DELETE FROM handler_events WHERE network_id = $1 AND seq = $2").bind(network).bind(seq).execute().await?;
    Ok(())
}

/// Deletes the events up to a number; those after it may be waited for.
pub(in crate::modules::handlers) async fn delete_unused(
    tx: &mut Tx,
    network: NetworkId,
    before: i64,
) -> Result<(), Error> {
    tx.query("DELETE FROM handler_events WHERE network_id = $1 AND seq < $2")
        .bind(network)
        .bind(before)
        .execute()
        .await?;
    Ok(())
}

/// Ends a failed attempt: the next one is due at a time.
pub(in crate::modules::handlers) async fn fail(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    seq: i64,
    (attempts, due_at): (i64, Millis),
) -> Result<bool, Error> {
    let rows = tx
        .query("UPDATE handler_queue SET attempts = $4, due_at = $5 WHERE network_id = $1 AND module = $2 AND seq = $3")
        .bind(network)
        .bind(module)
        .bind(seq)
        .bind(attempts)
        .bind(due_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Empties a handler's queue.
pub(in crate::modules::handlers) async fn clear(tx: &mut Tx, network: NetworkId, module: &str) -> Result<(), Error> {
    tx.query("DELETE FROM handler_queue WHERE network_id = $1 AND module = $2")
        .bind(network)
        .bind(module)
        .execute()
        .await?;
    Ok(())
}

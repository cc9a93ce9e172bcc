//! All SQL of the component.

use std::collections::HashSet;

use hub_db::{Db, Error, Executor, Sql, Tx};
use sqlx::FromRow;

use crate::clock::Millis;
use crate::values::NetworkId;

/// Event that a subscriber receives when it leaves the outbox.
#[derive(Clone, Debug, FromRow)]
pub struct SubscribedEvent {
    pub(super) id: i64,
    pub subscriber: String,
    pub name: String,
    pub data: String,
    pub created_at: Millis,
}

/// Event that waits to be published.
#[derive(Debug, FromRow)]
pub(super) struct WaitingEvent {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) target: Option<String>,
    pub(super) data: String,
    pub(super) created_at: Millis,
}

pub(super) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    target: Option<&str>,
    data: &str,
    now: Millis,
) -> Result<(), Error> {
    tx.query("INSERT INTO outbox (network_id, name, target, data, created_at) VALUES ($1, $2, $3, $4, $5)")
        .bind(network)
        .bind(name)
        .bind(target)
        .bind(data)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

const INSERT_IF_WANTED: &str = "INSERT INTO outbox (network_id, name, target, data, created_at)
     SELECT $1, $2, $3, $4, $5
     WHERE EXISTS (SELECT until FROM event_listeners WHERE network_id = $1 AND name = $2 AND until > $5)
        OR EXISTS (SELECT subscriber FROM event_subscriptions WHERE network_id = $1 AND name = $2)";

/// Part of a larger writing statement, equivalent to [`insert_if_wanted`]: the event `$name` at the time `$now`, with
/// the data `$data`, for each row of `$from`. See [`publish_written`](super::publish_written).
#[macro_export]
macro_rules! insert_event {
    (sqlite, $name:literal, $now:literal, $data:expr, $from:expr) => {
        concat!(
            "INSERT INTO outbox (network_id, name, data, created_at) SELECT $1, ",
            $name,
            ", ",
            $data,
            ", ",
            $now,
            " FROM ",
            $from,
            " AND (EXISTS (SELECT until FROM event_listeners WHERE network_id = $1 AND name = ",
            $name,
            " AND until > ",
            $now,
            ") OR EXISTS (SELECT subscriber FROM event_subscriptions WHERE network_id = $1 AND name = ",
            $name,
            "))"
        )
    };
    // PostgreSQL's statement sees tables as of its start, but the function as of its call: after the change got its
    // transaction number, for which a new stream waits.
    (postgres, $name:literal, $now:literal, $data:expr, $from:expr) => {
        concat!(
            "INSERT INTO outbox (network_id, name, data, created_at) SELECT $1, ",
            $name,
            ", ",
            $data,
            ", ",
            $now,
            " FROM ",
            $from,
            " WHERE is_wanted($1, ",
            $name,
            ", ",
            $now,
            ")"
        )
    };
}
pub use insert_event;

/// Like [`insert`], if a stream or subscriber requests the event. True if one does.
pub(super) async fn insert_if_wanted(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    target: Option<&str>,
    data: &str,
    now: Millis,
) -> Result<bool, Error> {
    let statement = tx.query(INSERT_IF_WANTED).bind(network).bind(name).bind(target).bind(data).bind(now);
    Ok(statement.execute().await? > 0)
}

const LISTENERS: &str = "SELECT name FROM event_listeners WHERE network_id = $1 AND until > $2";

/// Events requested by streams at `time`.
pub(super) async fn listeners(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    time: Millis,
) -> Result<HashSet<String>, Error> {
    let rows: Vec<(String,)> = on.into().query(LISTENERS).bind(network).bind(time).all().await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

const SUBSCRIBED_NAMES: &str = "SELECT name FROM event_subscriptions WHERE network_id = $1";

/// Events with subscribers, once per subscriber.
pub(super) async fn subscribed_names(tx: &mut Tx, network: NetworkId) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> = tx.query(SUBSCRIBED_NAMES).bind(network).all().await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

const SUBSCRIPTIONS: &str = "SELECT DISTINCT name FROM event_subscriptions WHERE network_id = $1";

/// Events with subscribers.
pub(super) async fn subscriptions(db: &Db, network: NetworkId) -> Result<HashSet<String>, Error> {
    let rows: Vec<(String,)> = db.query(SUBSCRIPTIONS).bind(network).all().await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

/// Deletes all subscriptions of a subscriber.
pub(super) async fn unsubscribe(tx: &mut Tx, network: NetworkId, subscriber: &str) -> Result<(), Error> {
    tx.query("DELETE FROM event_subscriptions WHERE network_id = $1 AND subscriber = $2")
        .bind(network)
        .bind(subscriber)
        .execute()
        .await?;
    Ok(())
}

/// Subscribes to an event.
pub(super) async fn subscribe(tx: &mut Tx, network: NetworkId, subscriber: &str, name: &str) -> Result<(), Error> {
    tx.query(
        "INSERT INTO event_subscriptions (network_id, name, subscriber) VALUES ($1, $2, $3)
         ON CONFLICT (network_id, name, subscriber) DO NOTHING",
    )
    .bind(network)
    .bind(name)
    .bind(subscriber)
    .execute()
    .await?;
    Ok(())
}

macro_rules! select_subscribed {
    ($condition:literal) => {
        concat!(
            "SELECT o.id, s.subscriber, o.name, o.data, o.created_at
             FROM outbox o JOIN event_subscriptions s ON s.network_id = o.network_id AND s.name = o.name
             WHERE o.network_id = $1 AND ",
            $condition,
            " ORDER BY o.id, s.subscriber"
        )
    };
}

const SUBSCRIBED: Sql = Sql {
    sqlite: select_subscribed!("o.id IN (SELECT value FROM json_each($2))"),
    postgres: select_subscribed!(
        "o.id IN (SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST($2 AS JSONB)))"
    ),
};

/// Those of the events that have subscribers, in order, once per subscriber.
pub(super) async fn subscribed(db: &Db, network: NetworkId, ids: &HashSet<i64>) -> Result<Vec<SubscribedEvent>, Error> {
    db.query(SUBSCRIBED).bind(network).bind(serde_json::json!(ids).to_string()).all().await
}

const SUBSCRIBED_UP_TO: &str = select_subscribed!("o.id <= $2");

/// Like [`subscribed`], for all waiting events up to one.
pub(super) async fn subscribed_up_to(
    tx: &mut Tx,
    network: NetworkId,
    last: i64,
) -> Result<Vec<SubscribedEvent>, Error> {
    tx.query(SUBSCRIBED_UP_TO).bind(network).bind(last).all().await
}

/// Records that a stream requests these events.
pub(super) async fn add_listeners(db: &Db, network: NetworkId, names: &[&str], until: Millis) -> Result<(), Error> {
    db.write(Sql {
        sqlite:
            "INSERT INTO event_listeners (network_id, name, until) SELECT $1, value, $3 FROM json_each($2) WHERE true
                 ON CONFLICT (network_id, name) DO UPDATE SET until = MAX(event_listeners.until, excluded.until)",
        postgres: "INSERT INTO event_listeners (network_id, name, until)
                   SELECT $1, name, $3 FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS names (name) ORDER BY name
                   ON CONFLICT (network_id, name)
                   DO UPDATE SET until = GREATEST(event_listeners.until, excluded.until)",
    })
    .bind(network)
    .bind(serde_json::json!(names).to_string())
    .bind(until)
    .execute()
    .await?;
    Ok(())
}

/// PostgreSQL's number of the oldest running transaction that has written, or else of the next. Crosses networks:
/// transactions have no other number.
pub(super) async fn oldest_transaction(db: &Db) -> Result<i64, Error> {
    // Crosses networks: it reads no table.
    let row = db.query("SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)").one();
    row.await.map(|(number,): (i64,)| number)
}

/// PostgreSQL's number of the next transaction that writes. Crosses networks: like [`oldest_transaction`].
pub(super) async fn next_transaction(db: &Db) -> Result<i64, Error> {
    // Crosses networks: it reads no table.
    let row = db.query("SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)").one();
    row.await.map(|(number,): (i64,)| number)
}

const WAITING: &str =
    "SELECT id, name, target, data, created_at FROM outbox WHERE network_id = $1 ORDER BY id LIMIT $2";

/// Oldest waiting events of the network, in order.
pub(super) async fn waiting(db: &Db, network: NetworkId, limit: i64) -> Result<Vec<WaitingEvent>, Error> {
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

const DELETE: Sql = delete!();
const DELETE_RETURNING: Sql = delete!(" RETURNING id");

/// Deletes published events.
pub(super) async fn delete(db: &Db, network: NetworkId, ids: &HashSet<i64>) -> Result<(), Error> {
    db.write(DELETE).bind(network).bind(serde_json::json!(ids).to_string()).execute().await?;
    Ok(())
}

/// Like [`delete`]. Returns the deleted ones.
pub(super) async fn delete_returning(
    tx: &mut Tx,
    network: NetworkId,
    ids: &HashSet<i64>,
) -> Result<HashSet<i64>, Error> {
    let deleted = tx.query(DELETE_RETURNING).bind(network).bind(serde_json::json!(ids).to_string());
    let rows: Vec<(i64,)> = deleted.all().await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

// Steps through the networks in the index: `DISTINCT` would read every event.
const NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM outbox ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT o.network_id FROM outbox o WHERE o.network_id > n.network_id ORDER BY o.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL";

/// Networks with waiting events. Crosses networks: each relay then reads its own.
pub(super) async fn networks(db: &Db) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(NETWORKS).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Id of the newest waiting event of any network. Crosses networks: used only for comparison.
pub(super) async fn newest(db: &Db) -> Result<Option<i64>, Error> {
    let (newest,): (Option<i64>,) = db.query("SELECT MAX(id) FROM outbox").one().await?;
    Ok(newest)
}

const NTH_NEWEST: &str = "SELECT id FROM outbox WHERE network_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2";

/// Last event to delete if `most` events and a tenth more wait: the newest `most` stay.
pub(super) async fn excess(tx: &mut Tx, network: NetworkId, most: i64) -> Result<Option<i64>, Error> {
    let nth = async |tx: &mut Tx, nth: i64| tx.query(NTH_NEWEST).bind(network).bind(nth).optional::<(i64,)>().await;
    if nth(tx, most + most / 10).await?.is_none() {
        return Ok(None);
    }
    Ok(nth(tx, most).await?.map(|(id,)| id))
}

/// Replaces all waiting events up to `last` with one with this name and data. Returns the number of replaced events.
pub(super) async fn replace_up_to(
    tx: &mut Tx,
    network: NetworkId,
    last: i64,
    (name, data): (&str, &str),
) -> Result<u64, Error> {
    tx.query("UPDATE outbox SET name = $3, target = NULL, data = $4 WHERE network_id = $1 AND id = $2")
        .bind(network)
        .bind(last)
        .bind(name)
        .bind(data)
        .execute()
        .await?;
    tx.query("DELETE FROM outbox WHERE network_id = $1 AND id < $2").bind(network).bind(last).execute().await
}

/// Number of waiting events, up to 10,000.
pub(super) async fn count_waiting(db: &Db) -> Result<i64, Error> {
    // Crosses networks: the operator's count.
    let (waiting,) = db.query("SELECT COUNT(*) FROM (SELECT 1 FROM outbox LIMIT 10000) AS waiting").one().await?;
    Ok(waiting)
}

#[cfg(test)]
mod tests {
    use hub_db::Config;
    use uuid::Uuid;

    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn the_oldest_of_too_many_events_give_way_to_one() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await.unwrap();
        db.migrate().await.unwrap();
        let (network, other) = (NetworkId(Uuid::from_u128(1)), NetworkId(Uuid::from_u128(2)));
        let add = async |network, count| {
            for _ in 0..count {
                db.transaction(async |mut tx| insert(&mut tx, network, "CHAT", Some("a"), "{}", 5).await)
                    .await
                    .unwrap();
            }
        };
        let names = async |network| {
            let waiting = waiting(&db, network, 100).await.unwrap();
            waiting.into_iter().map(|event| (event.name, event.target)).collect::<Vec<_>>()
        };
        let trim = async || {
            db.transaction(async |mut tx| match excess(&mut tx, network, 20).await? {
                Some(last) => replace_up_to(&mut tx, network, last, ("RESYNC", "{}")).await,
                None => Ok(0),
            })
            .await
            .unwrap()
        };
        add(network, 22).await;
        add(other, 30).await;
        assert_eq!(trim().await, 0, "a tenth more is kept");
        add(network, 1).await;
        assert_eq!(trim().await, 2);
        let kept = names(network).await;
        assert_eq!((kept.len(), &kept[0]), (21, &("RESYNC".to_owned(), None)));
        assert!(kept[1..].iter().all(|(name, target)| name == "CHAT" && target.as_deref() == Some("a")));
        assert_eq!(names(other).await.len(), 30);
        assert_eq!(networks(&db).await.unwrap(), [network, other]);
        let ids = waiting(&db, network, 100).await.unwrap().into_iter().map(|event| event.id).collect();
        delete(&db, other, &ids).await.unwrap();
        assert_eq!(names(network).await.len(), 21, "another network's");
        delete(&db, network, &ids).await.unwrap();
        assert_eq!((networks(&db).await.unwrap(), newest(&db).await.unwrap()), (vec![other], Some(52)));
    }

    #[tokio::test]
    async fn every_statement_reads_its_networks_events_alone() {
        let statements = [
            WAITING,
            DELETE.sqlite,
            NTH_NEWEST,
            LISTENERS,
            INSERT_IF_WANTED,
            SUBSCRIBED_NAMES,
            SUBSCRIPTIONS,
            SUBSCRIBED.sqlite,
            SUBSCRIBED_UP_TO,
        ];
        for plan in query_plans(&statements).await {
            assert!(plan.iter().all(|step| !step.contains("SCAN outbox")), "{plan:?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{plan:?}");
        }
        for plan in query_plans(&[NETWORKS]).await {
            let reads = plan.iter().filter(|step| step.contains("outbox") || step.contains(" o "));
            assert!(reads.clone().count() == 2 && reads.clone().all(|step| step.contains("INDEX")), "{plan:?}");
        }
    }
}

//! Table `event_subscriptions`.

use std::collections::HashSet;

use hub_db::{Db, Error, Executor, Sql, Tx};
use sqlx::FromRow;

use crate::clock::Millis;
use crate::values::NetworkId;

/// Event that a subscriber receives when it leaves the outbox.
#[derive(Clone, Debug, FromRow)]
pub struct SubscribedEvent {
    /// Number of the event in the outbox.
    pub id: i64,
    pub subscriber: String,
    pub name: String,
    pub data: String,
    pub created_at: Millis,
    /// JSON of the module's call that caused it.
    pub cause: Option<String>,
}

pub(super) const SUBSCRIBED_NAMES: &str = "SELECT name FROM event_subscriptions WHERE network_id = $1";

/// Events with subscribers, once per subscriber.
pub(in crate::events) async fn subscribed_names(tx: &mut Tx, network: NetworkId) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> = tx.query(SUBSCRIBED_NAMES).bind(network).all().await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

pub(super) const SUBSCRIPTIONS: &str = "SELECT DISTINCT name FROM event_subscriptions WHERE network_id = $1";

/// Events with subscribers.
pub(in crate::events) async fn subscriptions(db: &Db, network: NetworkId) -> Result<HashSet<String>, Error> {
    let rows: Vec<(String,)> = db.query(SUBSCRIPTIONS).bind(network).all().await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

/// Deletes all subscriptions of a subscriber.
pub(in crate::events) async fn unsubscribe(tx: &mut Tx, network: NetworkId, subscriber: &str) -> Result<(), Error> {
    tx.query("DELETE FROM event_subscriptions WHERE network_id = $1 AND subscriber = $2")
        .bind(network)
        .bind(subscriber)
        .execute()
        .await?;
    Ok(())
}

/// Subscribes to an event.
pub(in crate::events) async fn subscribe(
    tx: &mut Tx,
    network: NetworkId,
    subscriber: &str,
    name: &str,
) -> Result<(), Error> {
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
            "SELECT o.id, s.subscriber, o.name, o.data, o.created_at, o.cause
             FROM outbox o JOIN event_subscriptions s ON s.network_id = o.network_id AND s.name = o.name
             WHERE o.network_id = $1 AND NOT o.is_copy AND ",
            $condition,
            " ORDER BY o.id, s.subscriber"
        )
    };
}

pub(super) const SUBSCRIBED: Sql = Sql {
    sqlite: select_subscribed!("o.id IN (SELECT value FROM json_each($2))"),
    postgres: select_subscribed!(
        "o.id IN (SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST($2 AS JSONB)))"
    ),
};

/// Those of the events that have subscribers, in order, once per subscriber.
pub(in crate::events) async fn subscribed(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    ids: &HashSet<i64>,
) -> Result<Vec<SubscribedEvent>, Error> {
    on.into().query(SUBSCRIBED).bind(network).bind(serde_json::json!(ids).to_string()).all().await
}

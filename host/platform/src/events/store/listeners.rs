//! Table `event_listeners`, and the transactions that a new listener waits for.

use std::collections::HashSet;

use hub_db::{Db, Error, Executor, Sql};

use crate::clock::Millis;
use crate::values::NetworkId;

pub(super) const LISTENERS: &str = "SELECT name FROM event_listeners WHERE network_id = $1 AND until > $2";

/// Events requested by streams at `time`.
pub(in crate::events) async fn listeners(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    time: Millis,
) -> Result<HashSet<String>, Error> {
    let rows: Vec<(String,)> = on.into().query(LISTENERS).bind(network).bind(time).all().await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

/// Records that a stream requests these events.
pub(in crate::events) async fn add_listeners(
    db: &Db,
    network: NetworkId,
    names: &[&str],
    until: Millis,
) -> Result<(), Error> {
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
pub(in crate::events) async fn oldest_transaction(db: &Db) -> Result<i64, Error> {
    // Crosses networks: it reads no table.
    let row = db.query("SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)").one();
    row.await.map(|(number,): (i64,)| number)
}

/// PostgreSQL's number of the next transaction that writes. Crosses networks: like [`oldest_transaction`].
pub(in crate::events) async fn next_transaction(db: &Db) -> Result<i64, Error> {
    // Crosses networks: it reads no table.
    let row = db.query("SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)").one();
    row.await.map(|(number,): (i64,)| number)
}

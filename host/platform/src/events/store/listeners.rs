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

/// Renews the records of many networks, each with its events. Crosses networks: one statement is for all. Returns the
/// events whose records had ended: until now they were not published.
pub(in crate::events) async fn renew_listeners(
    db: &Db,
    listened: &[(NetworkId, &'static str)],
    now: Millis,
    until: Millis,
) -> Result<Vec<(NetworkId, String)>, Error> {
    let pairs: Vec<_> = listened.iter().map(|(network, name)| (network.0, name)).collect();
    // Crosses networks: the streams of this node are of many.
    let renew = db.write(Sql {
        sqlite: "UPDATE event_listeners SET until = MAX(until, $2)
                 FROM (SELECT unhex(replace(value ->> 0, '-', '')) AS network, value ->> 1 AS name FROM json_each($1)) AS listened
                 WHERE network_id = listened.network AND event_listeners.name = listened.name AND until > $3
                 RETURNING network_id, event_listeners.name",
        postgres: "UPDATE event_listeners SET until = GREATEST(until, $2)
                   FROM (SELECT CAST(pair ->> 0 AS UUID) AS network, pair ->> 1 AS name
                         FROM jsonb_array_elements(CAST($1 AS JSONB)) AS pairs (pair)) AS listened
                   WHERE network_id = listened.network AND event_listeners.name = listened.name AND until > $3
                   RETURNING network_id, event_listeners.name",
    });
    let renewed: Vec<(NetworkId, String)> =
        renew.bind(serde_json::json!(pairs).to_string()).bind(until).bind(now).all().await?;
    let renewed: HashSet<(NetworkId, &str)> = renewed.iter().map(|(network, name)| (*network, name.as_str())).collect();
    let ended = listened.iter().filter(|(network, name)| !renewed.contains(&(*network, name)));
    Ok(ended.map(|(network, name)| (*network, (*name).to_owned())).collect())
}

/// Transactions of this database that have written and are not over. Those of other databases on the server, which may be
/// open for hours, cannot write here. Crosses networks: transactions belong to none.
pub(in crate::events) async fn writing_transactions(db: &Db) -> Result<HashSet<String>, Error> {
    // Crosses networks: it reads no table of the hub.
    let sql = "SELECT CAST(l.transactionid AS TEXT) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
               WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted
                 AND a.datname = current_database() AND a.pid <> pg_backend_pid()";
    let rows: Vec<(String,)> = db.query(sql).all().await?;
    Ok(rows.into_iter().map(|(number,)| number).collect())
}

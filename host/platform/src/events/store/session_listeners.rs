//! Table `session_listeners`.

use hub_db::{Db, Error, Sql};

use crate::clock::Millis;
use crate::values::{Identifier, NetworkId};

/// Records that a stream of the server asks for the event.
pub(in crate::events) async fn put_session_listener(
    db: &Db,
    network: NetworkId,
    server: &str,
    until: Millis,
) -> Result<(), Error> {
    db.write(
        "INSERT INTO session_listeners (network_id, server_id, until) VALUES ($1, $2, $3)
         ON CONFLICT (network_id, server_id) DO UPDATE SET until = excluded.until",
    )
    .bind(network)
    .bind(server)
    .bind(until)
    .execute()
    .await?;
    Ok(())
}

/// Records that the server's stream does not ask for the event.
pub(in crate::events) async fn delete_session_listener(db: &Db, network: NetworkId, server: &str) -> Result<(), Error> {
    db.write("DELETE FROM session_listeners WHERE network_id = $1 AND server_id = $2")
        .bind(network)
        .bind(server)
        .execute()
        .await?;
    Ok(())
}

/// True if a stream of the server asks for the event.
pub(in crate::events) async fn is_session_listener(
    db: &Db,
    network: NetworkId,
    server: &str,
    now: Millis,
) -> Result<bool, Error> {
    let row: Option<(Millis,)> = db
        .query("SELECT until FROM session_listeners WHERE network_id = $1 AND server_id = $2 AND until > $3")
        .bind(network)
        .bind(server)
        .bind(now)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Renews the records of servers of many networks. Crosses networks: one statement is for all.
pub(in crate::events) async fn renew_session_listeners(
    db: &Db,
    servers: &[(NetworkId, Identifier)],
    until: Millis,
) -> Result<(), Error> {
    let pairs: Vec<_> = servers.iter().map(|(network, server)| (network.0, server.as_str())).collect();
    // Crosses networks: the streams of this node are of many.
    let renew = db.write(Sql {
        sqlite: "UPDATE session_listeners SET until = MAX(until, $2)
                 FROM (SELECT unhex(replace(value ->> 0, '-', '')) AS network, value ->> 1 AS server FROM json_each($1)) AS open
                 WHERE network_id = open.network AND server_id = open.server",
        postgres: "UPDATE session_listeners SET until = GREATEST(until, $2)
                   FROM (SELECT CAST(pair ->> 0 AS UUID) AS network, pair ->> 1 AS server
                         FROM jsonb_array_elements(CAST($1 AS JSONB)) AS pairs (pair)) AS open
                   WHERE network_id = open.network AND server_id = open.server",
    });
    renew.bind(serde_json::json!(pairs).to_string()).bind(until).execute().await?;
    Ok(())
}

/// Deletes the records that were not renewed.
pub(in crate::events) async fn delete_session_listeners(db: &Db, now: Millis) -> Result<(), Error> {
    // Crosses networks: one loop is for all.
    db.write("DELETE FROM session_listeners WHERE until <= $1").bind(now).execute().await?;
    Ok(())
}

//! All SQL of the component.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::clock::Millis;
use crate::values::NetworkId;
use crate::waiting_lines::model::{LineSettings, Ticket};
use crate::waiting_lines::saved::SavedTicket;

/// Saves tickets, replacing what is stored of them.
pub(super) async fn save_tickets(tx: &mut Tx, network: NetworkId, tickets: &[SavedTicket]) -> Result<(), Error> {
    if tickets.is_empty() {
        return Ok(());
    }
    let row = |ticket: &SavedTicket| json!({"id": ticket.id, "player": ticket.player.0, "ticket": ticket});
    tx.query(Sql {
        sqlite: "INSERT INTO waiting_tickets (network_id, ticket_id, player_uuid, ticket)
                 SELECT $1, unhex(replace(value ->> 'id', '-', '')), unhex(replace(value ->> 'player', '-', '')),
                        value ->> 'ticket'
                 FROM json_each($2) WHERE true
                 ON CONFLICT (network_id, ticket_id) DO UPDATE SET ticket = excluded.ticket",
        postgres: "INSERT INTO waiting_tickets (network_id, ticket_id, player_uuid, ticket)
                   SELECT $1, CAST(saved ->> 'id' AS UUID), CAST(saved ->> 'player' AS UUID), saved ->> 'ticket'
                   FROM jsonb_array_elements(CAST($2 AS JSONB)) AS rows (saved)
                   ON CONFLICT (network_id, ticket_id) DO UPDATE SET ticket = excluded.ticket",
    })
    .bind(network)
    .bind(tickets.iter().map(row).collect::<Value>().to_string())
    .execute()
    .await?;
    Ok(())
}

/// Deletes tickets.
pub(super) async fn delete_tickets(tx: &mut Tx, network: NetworkId, ids: &[Uuid]) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    tx.query(Sql {
        sqlite: "DELETE FROM waiting_tickets WHERE network_id = $1
                   AND ticket_id IN (SELECT unhex(replace(value, '-', '')) FROM json_each($2))",
        postgres: "DELETE FROM waiting_tickets WHERE network_id = $1
                     AND ticket_id IN (SELECT CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)))",
    })
    .bind(network)
    .bind(json!(ids).to_string())
    .execute()
    .await?;
    Ok(())
}

/// All tickets of the network. One that cannot be read is left out.
pub(super) async fn tickets(db: &Db, network: NetworkId) -> Result<Vec<Ticket>, Error> {
    let rows: Vec<(String,)> =
        db.query("SELECT ticket FROM waiting_tickets WHERE network_id = $1").bind(network).all().await?;
    let read = |(text,): &(String,)| match serde_json::from_str::<SavedTicket>(text) {
        Ok(saved) => saved.into_ticket(),
        Err(error) => {
            tracing::error!(%network, %error, "a stored ticket of a waiting line cannot be read");
            None
        }
    };
    Ok(rows.iter().filter_map(read).collect())
}

#[derive(sqlx::FromRow)]
struct SettingsRow {
    line: String,
    paused: bool,
    paused_until: Option<Millis>,
    max_waiting: Option<i64>,
}

/// Settings of the network's lines.
pub(super) async fn settings(db: &Db, network: NetworkId) -> Result<Vec<(String, LineSettings)>, Error> {
    let rows: Vec<SettingsRow> = db
        .query("SELECT line, paused, paused_until, max_waiting FROM waiting_line_settings WHERE network_id = $1")
        .bind(network)
        .all()
        .await?;
    let settings = |SettingsRow { line, paused, paused_until, max_waiting }| {
        (line, LineSettings { paused, paused_until, max_waiting })
    };
    Ok(rows.into_iter().map(settings).collect())
}

/// Stores the settings of a line; those of a new one are not stored.
pub(super) async fn put_settings(
    tx: &mut Tx,
    network: NetworkId,
    line: &str,
    settings: LineSettings,
) -> Result<(), Error> {
    if settings == LineSettings::default() {
        let delete = tx.query("DELETE FROM waiting_line_settings WHERE network_id = $1 AND line = $2");
        delete.bind(network).bind(line).execute().await?;
        return Ok(());
    }
    tx.query(
        "INSERT INTO waiting_line_settings (network_id, line, paused, paused_until, max_waiting)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network_id, line) DO UPDATE SET
             paused = excluded.paused, paused_until = excluded.paused_until, max_waiting = excluded.max_waiting",
    )
    .bind(network)
    .bind(line)
    .bind(settings.paused)
    .bind(settings.paused_until)
    .bind(settings.max_waiting)
    .execute()
    .await?;
    Ok(())
}

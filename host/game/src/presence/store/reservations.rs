//! SQL of reserved slots, which several nodes share. Their times are by the database's clock, so that a slot is
//! reserved for the same time at any owner.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::clock::Millis;
use crate::presence::memory::{Reservation, SavedReservation};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Saves reservations, each with its remaining time at `now`.
pub(in crate::presence) async fn save(
    tx: &mut Tx,
    network: NetworkId,
    reservations: &[SavedReservation],
    now: Millis,
) -> Result<(), Error> {
    if reservations.is_empty() {
        return Ok(());
    }
    tx.query(Sql {
        sqlite: "INSERT INTO slot_reservations
                     (network_id, reservation_id, server_id, player_id, world_id, promised, expires_at)
                 SELECT $1, unhex(replace(value ->> 'id', '-', '')), value ->> 'server',
                        unhex(replace(value ->> 'player', '-', '')), value ->> 'world', value ->> 'promised',
                        CAST(unixepoch('subsec') * 1000 AS INTEGER) + (value ->> 'left')
                 FROM json_each($2) WHERE true
                 ON CONFLICT (network_id, reservation_id) DO UPDATE SET
                     server_id = excluded.server_id, player_id = excluded.player_id, world_id = excluded.world_id,
                     promised = excluded.promised, expires_at = excluded.expires_at",
        postgres: "INSERT INTO slot_reservations
                       (network_id, reservation_id, server_id, player_id, world_id, promised, expires_at)
                   SELECT $1, CAST(slot ->> 'id' AS UUID), slot ->> 'server', CAST(slot ->> 'player' AS UUID),
                          slot ->> 'world', CAST(slot ->> 'promised' AS BOOLEAN),
                          CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + CAST(slot ->> 'left' AS BIGINT)
                   FROM jsonb_array_elements(CAST($2 AS JSONB)) AS slots (slot)
                   ON CONFLICT (network_id, reservation_id) DO UPDATE SET
                       server_id = excluded.server_id, player_id = excluded.player_id, world_id = excluded.world_id,
                       promised = excluded.promised, expires_at = excluded.expires_at",
    })
    .bind(network)
    .bind(json_of(reservations, now))
    .execute()
    .await?;
    Ok(())
}

/// Reservations in the form of statements' parameters, each with its remaining time at `now`.
pub(super) fn json_of(reservations: &[SavedReservation], now: Millis) -> String {
    let row = |SavedReservation { server, reservation }: &SavedReservation| {
        json!({"id": reservation.id, "server": server, "player": reservation.player.map(|player| player.0),
            "world": reservation.world, "promised": reservation.promised,
            "left": reservation.expires_at.saturating_sub(now)})
    };
    reservations.iter().map(row).collect::<Value>().to_string()
}

/// Deletes used, released and expired reservations.
pub(in crate::presence) async fn delete(tx: &mut Tx, network: NetworkId, ids: &[Uuid]) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    tx.query(Sql {
        sqlite: "DELETE FROM slot_reservations WHERE network_id = $1
                   AND reservation_id IN (SELECT unhex(replace(value, '-', '')) FROM json_each($2))",
        postgres: "DELETE FROM slot_reservations WHERE network_id = $1
                     AND reservation_id IN (SELECT CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)))",
    })
    .bind(network)
    .bind(json!(ids).to_string())
    .execute()
    .await?;
    Ok(())
}

#[derive(sqlx::FromRow)]
struct ReservationRow {
    reservation_id: Uuid,
    server_id: Identifier,
    player_id: Option<PlayerId>,
    world_id: Option<Identifier>,
    promised: bool,
    remaining: Millis,
}

/// The network's reservations, expired or not; `now` is the time of this process.
pub(in crate::presence) async fn all(db: &Db, network: NetworkId, now: Millis) -> Result<Vec<SavedReservation>, Error> {
    let rows: Vec<ReservationRow> = db
        .query(Sql {
            sqlite: "SELECT reservation_id, server_id, player_id, world_id, promised,
                            expires_at - CAST(unixepoch('subsec') * 1000 AS INTEGER) AS remaining
                     FROM slot_reservations WHERE network_id = $1",
            postgres: "SELECT reservation_id, server_id, player_id, world_id, promised,
                              expires_at - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS remaining
                       FROM slot_reservations WHERE network_id = $1",
        })
        .bind(network)
        .all()
        .await?;
    let saved = rows.into_iter().map(|row| SavedReservation {
        server: row.server_id.as_str().into(),
        reservation: Reservation {
            id: row.reservation_id,
            player: row.player_id,
            world: row.world_id,
            promised: row.promised,
            expires_at: now.saturating_add(row.remaining),
        },
    });
    Ok(saved.collect())
}

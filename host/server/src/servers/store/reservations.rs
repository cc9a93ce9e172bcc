//! Slots that are kept for players on their way, as several nodes share them. By the database's clock, so that a slot
//! is kept for its time whichever node keeps it.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::json;
use uuid::Uuid;

use crate::clock::Millis;
use crate::servers::presence::{Reservation, SavedSlot};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Slots as one text that both databases read, each with the time it still has at `now`.
#[derive(Clone, Debug)]
pub(in crate::servers) struct Slots(Option<String>);

impl Slots {
    pub(in crate::servers) fn of(slots: &[SavedSlot], now: Millis) -> Self {
        let row = |SavedSlot { server, slot }: &SavedSlot| {
            json!({"id": slot.id, "server": server, "player": slot.player.map(|player| player.0), "world": slot.world,
                "promised": slot.promised, "left": slot.expires_at.saturating_sub(now)})
        };
        Self((!slots.is_empty()).then(|| slots.iter().map(row).collect::<serde_json::Value>().to_string()))
    }
}

/// Writes slots down.
pub(in crate::servers) async fn keep(tx: &mut Tx, network: NetworkId, slots: &Slots) -> Result<(), Error> {
    let Some(slots) = &slots.0 else { return Ok(()) };
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
    .bind(slots.clone())
    .execute()
    .await?;
    Ok(())
}

/// Strikes slots out that were used, given back or are over.
pub(in crate::servers) async fn free(tx: &mut Tx, network: NetworkId, slots: &[Uuid]) -> Result<(), Error> {
    if slots.is_empty() {
        return Ok(());
    }
    tx.query(Sql {
        sqlite: "DELETE FROM slot_reservations WHERE network_id = $1
                   AND reservation_id IN (SELECT unhex(replace(value, '-', '')) FROM json_each($2))",
        postgres: "DELETE FROM slot_reservations WHERE network_id = $1
                     AND reservation_id IN (SELECT CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)))",
    })
    .bind(network)
    .bind(json!(slots).to_string())
    .execute()
    .await?;
    Ok(())
}

#[derive(sqlx::FromRow)]
struct SlotRow {
    reservation_id: Uuid,
    server_id: Identifier,
    player_id: Option<PlayerId>,
    world_id: Option<Identifier>,
    promised: bool,
    remaining: Millis,
}

/// The network's slots, also those that are over, as they count from `now` on.
pub(in crate::servers) async fn kept(db: &Db, network: NetworkId, now: Millis) -> Result<Vec<SavedSlot>, Error> {
    let rows: Vec<SlotRow> = db
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
    let slots = rows.into_iter().map(|row| SavedSlot {
        server: row.server_id.as_str().into(),
        slot: Reservation {
            id: row.reservation_id,
            player: row.player_id,
            world: row.world_id,
            promised: row.promised,
            expires_at: now.saturating_add(row.remaining),
        },
    });
    Ok(slots.collect())
}

//! Saves changes of matches and heartbeats in one statement. With several nodes each match waits for it, and a
//! transaction takes a trip to the database for each of its statements and two more.

use hub_db::{Db, Error};

use crate::clock::Millis;
use crate::cluster::HeldLease;
use crate::presence::memory::Changes;
use crate::presence::store::{json, reservations};
use crate::values::NetworkId;

/// Saves the reservations, the released ones and the times of heartbeats, and nothing else, if the database confirms
/// the lease. Returns false if not. Several nodes are always on PostgreSQL.
pub(in crate::presence) async fn save(
    db: &Db,
    lease: &HeldLease,
    network: NetworkId,
    changes: &Changes,
    now: Millis,
) -> Result<bool, Error> {
    let held: Option<(i64,)> = db
        .write(
            "WITH held AS (
                 SELECT fence FROM shard_leases WHERE shard = $5 AND fence = $6 AND node = $7 FOR KEY SHARE
             ), freed AS (
                 DELETE FROM slot_reservations USING held WHERE network_id = $1
                   AND reservation_id IN (SELECT CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)))
             ), seen AS (
                 UPDATE servers SET last_seen = CAST(heartbeats.pair ->> 1 AS BIGINT)
                 FROM jsonb_array_elements(CAST($3 AS JSONB)) AS heartbeats (pair), held
                 WHERE network_id = $1 AND server_id = heartbeats.pair ->> 0
             ), saved AS (
                 INSERT INTO slot_reservations
                     (network_id, reservation_id, server_id, player_id, world_id, promised, expires_at)
                 SELECT $1, CAST(slot ->> 'id' AS UUID), slot ->> 'server', CAST(slot ->> 'player' AS UUID),
                        slot ->> 'world', CAST(slot ->> 'promised' AS BOOLEAN),
                        CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + CAST(slot ->> 'left' AS BIGINT)
                 FROM jsonb_array_elements(CAST($4 AS JSONB)) AS slots (slot), held
                 ON CONFLICT (network_id, reservation_id) DO UPDATE SET
                     server_id = excluded.server_id, player_id = excluded.player_id, world_id = excluded.world_id,
                     promised = excluded.promised, expires_at = excluded.expires_at
             )
             SELECT fence FROM held",
        )
        .bind(network)
        .bind(json(&changes.released))
        .bind(json(&changes.heartbeats))
        .bind(reservations::json_of(&changes.reserved, now))
        .bind(i32::from(lease.shard))
        .bind(lease.fence)
        .bind(&lease.node)
        .optional()
        .await?;
    Ok(held.is_some())
}

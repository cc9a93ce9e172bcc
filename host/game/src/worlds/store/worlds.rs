//! Worlds and the numbers of worlds and leases.

use hub_db::{Db, Error, Executor, Tx, next_number};

use crate::clock::Millis;
use crate::limits::{Limit, Rows};
use crate::values::{Identifier, NetworkId};
use crate::worlds::model::{Lease, World, WorldRef, WorldSnapshot};

/// All worlds of a network ever opened.
pub(in crate::worlds) const WORLDS: Rows = Rows::many(
    Limit::Worlds,
    "SELECT COUNT(*) FROM (SELECT world_no FROM worlds WHERE network_id = $1 LIMIT $2) AS counted",
);

/// True if the world was ever opened.
pub(in crate::worlds) async fn exists(db: &Db, network: NetworkId, world: &WorldRef) -> Result<bool, Error> {
    let row: Option<(i64,)> = db
        .query(
            "SELECT world_no FROM worlds
             WHERE network_id = $1 AND game_id = $2 AND owner_scope = $3 AND owner_id = $4 AND world_key = $5",
        )
        .bind(network)
        .bind(&world.game_id)
        .bind(&world.owner_scope)
        .bind(&world.owner_id)
        .bind(&world.world_key)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Deletes a world with its leases and snapshots. Returns the snapshots' files.
pub(in crate::worlds) async fn delete(tx: &mut Tx, network: NetworkId, world: i64) -> Result<Vec<String>, Error> {
    tx.query("DELETE FROM worlds WHERE network_id = $1 AND world_no = $2").bind(network).bind(world).execute().await?;
    tx.query("DELETE FROM world_leases WHERE network_id = $1 AND world_no = $2")
        .bind(network)
        .bind(world)
        .execute()
        .await?;
    let files: Vec<(Option<String>,)> = tx
        .query("DELETE FROM world_blobs WHERE network_id = $1 AND world_no = $2 RETURNING file")
        .bind(network)
        .bind(world)
        .all()
        .await?;
    Ok(files.into_iter().filter_map(|(file,)| file).collect())
}

/// The network's next lease id. Its counter is held until the transaction ends, so that worlds of a network are opened
/// one after the other and each sees the earlier leases.
pub(in crate::worlds) async fn next_id(tx: &mut Tx, network: NetworkId) -> Result<i64, Error> {
    let (id,): (i64,) = tx
        .query(concat!(
            "INSERT INTO world_counters (network_id, last_id) VALUES ($1, ",
            next_number!("0"),
            ") ON CONFLICT (network_id) DO UPDATE SET last_id = ",
            next_number!("world_counters.last_id"),
            " RETURNING last_id"
        ))
        .bind(network)
        .one()
        .await?;
    Ok(id)
}

/// The world with the next fence; created, under the number `no`, if there is none yet.
pub(in crate::worlds) async fn raise_fence(
    tx: &mut Tx,
    network: NetworkId,
    world: &WorldRef,
    no: i64,
) -> Result<World, Error> {
    tx.query(
        concat!(
        "INSERT INTO worlds (network_id, world_no, game_id, owner_scope, owner_id, world_key, fence, blob_fence, blob_seq)
         VALUES ($1, $2, $3, $4, $5, $6, ",
 next_number!("0"),
 ", 0, 0)
         ON CONFLICT (network_id, game_id, owner_scope, owner_id, world_key)
         DO UPDATE SET fence = ",
 next_number!("worlds.fence"),
 "
         RETURNING world_no, game_id, owner_scope, owner_id, world_key, fence, blob_key, blob_node"
        ),
    )
    .bind(network)
    .bind(no)
    .bind(&world.game_id)
    .bind(&world.owner_scope)
    .bind(&world.owner_id)
    .bind(&world.world_key)
    .one()
    .await
}

pub(in crate::worlds) async fn get(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    no: i64,
) -> Result<Option<World>, Error> {
    let mut on = on.into();
    on.query(
        "SELECT world_no, game_id, owner_scope, owner_id, world_key, fence, blob_key, blob_node FROM worlds
         WHERE network_id = $1 AND world_no = $2",
    )
    .bind(network)
    .bind(no)
    .optional()
    .await
}

/// Location of the owner's world that was opened last: its node and the lease.
pub(in crate::worlds) async fn find_live(
    db: &Db,
    network: NetworkId,
    game_id: &Identifier,
    owner_scope: &Identifier,
    owner_id: &Identifier,
    now: Millis,
) -> Result<Option<(Identifier, i64)>, Error> {
    db.query(
        "SELECT l.node_server_id, l.id FROM worlds w CROSS JOIN world_leases l
         WHERE w.network_id = $1 AND w.game_id = $2 AND w.owner_scope = $3 AND w.owner_id = $4
           AND l.network_id = $1 AND l.world_no = w.world_no AND l.state IN ('LOADING', 'READY')
           AND l.state = 'READY' AND l.expires_at > $5
         ORDER BY l.opened_at DESC, l.id DESC LIMIT 1",
    )
    .bind(network)
    .bind(game_id)
    .bind(owner_scope)
    .bind(owner_id)
    .bind(now)
    .optional()
    .await
}

/// Makes this the world's newest snapshot, unless there is a newer one.
pub(in crate::worlds) async fn point_to(
    tx: &mut Tx,
    network: NetworkId,
    snapshot: &WorldSnapshot,
) -> Result<(), Error> {
    tx.query(
        "UPDATE worlds SET blob_key = $3, blob_fence = $4, blob_seq = $5, blob_node = NULL
         WHERE network_id = $1 AND world_no = $2
           AND (blob_fence < $4 OR (blob_fence = $4 AND blob_seq < $5))",
    )
    .bind(network)
    .bind(snapshot.world_no)
    .bind(&snapshot.blob_key)
    .bind(snapshot.fence)
    .bind(snapshot.seq)
    .execute()
    .await?;
    Ok(())
}

/// Makes this the world's newest snapshot, which the lease's node keeps in its own store.
pub(in crate::worlds) async fn point_to_own(
    tx: &mut Tx,
    network: NetworkId,
    lease: &Lease,
    blob_key: &str,
    seq: i64,
) -> Result<(), Error> {
    tx.query(
        "UPDATE worlds SET blob_key = $3, blob_fence = $4, blob_seq = $5, blob_node = $6
         WHERE network_id = $1 AND world_no = $2
           AND (blob_fence < $4 OR (blob_fence = $4 AND blob_seq < $5))",
    )
    .bind(network)
    .bind(lease.world_no)
    .bind(blob_key)
    .bind(lease.fence)
    .bind(seq)
    .bind(&lease.node_server_id)
    .execute()
    .await?;
    Ok(())
}

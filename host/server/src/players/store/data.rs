//! What games store about players.

use hub_db::{Db, Error};

use crate::clock::Millis;
use crate::players::model::{DataKey, NamespaceData};
use crate::values::{Label, NetworkId, PlayerId};

pub(in crate::players) async fn get(
    db: &Db,
    network: NetworkId,
    key: &DataKey,
) -> Result<Option<NamespaceData>, Error> {
    db.query(
        "SELECT namespace, data, version FROM player_data
         WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3 AND namespace = $4",
    )
    .bind(network)
    .bind(key.player)
    .bind(&key.game_mode)
    .bind(&key.namespace)
    .optional()
    .await
}

/// The size of a namespace's row, as it is counted; 0 where there is none.
pub(in crate::players) async fn stored_bytes(db: &Db, network: NetworkId, key: &DataKey) -> Result<i64, Error> {
    let row: Option<(i64,)> = db
        .query(
            "SELECT CAST(64 + octet_length(game_mode) + octet_length(namespace) + octet_length(data) AS BIGINT)
             FROM player_data WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3 AND namespace = $4",
        )
        .bind(network)
        .bind(key.player)
        .bind(&key.game_mode)
        .bind(&key.namespace)
        .optional()
        .await?;
    Ok(row.map_or(0, |(bytes,)| bytes))
}

/// All of a player's namespaces in a game mode, by name.
pub(in crate::players) async fn list(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    game_mode: &Label,
) -> Result<Vec<NamespaceData>, Error> {
    let mut namespaces: Vec<NamespaceData> = db
        .query(
            "SELECT namespace, data, version FROM player_data
             WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3",
        )
        .bind(network)
        .bind(player)
        .bind(game_mode)
        .all()
        .await?;
    namespaces.sort_by(|a, b| a.namespace.cmp(&b.namespace));
    Ok(namespaces)
}

/// Writes on top of the version `expected`, or of any; answers the new version, or none where another version is stored.
/// Where nothing is stored, `expected` is ignored.
pub(in crate::players) async fn put(
    db: &Db,
    network: NetworkId,
    key: &DataKey,
    data: &str,
    expected: Option<i64>,
    now: Millis,
) -> Result<Option<i64>, Error> {
    let row: Option<(i64,)> = db
        .write(
            "INSERT INTO player_data (network_id, player_uuid, game_mode, namespace, data, version, updated_at)
             VALUES ($1, $2, $3, $4, $5, 1, $6)
             ON CONFLICT (network_id, player_uuid, game_mode, namespace) DO UPDATE SET
                 data = excluded.data, version = player_data.version + 1, updated_at = excluded.updated_at
             WHERE $7 IS NULL OR player_data.version = $7
             RETURNING version",
        )
        .bind(network)
        .bind(key.player)
        .bind(&key.game_mode)
        .bind(&key.namespace)
        .bind(data)
        .bind(now)
        .bind(expected)
        .optional()
        .await?;
    Ok(row.map(|(version,)| version))
}

/// False where there was nothing.
pub(in crate::players) async fn delete(db: &Db, network: NetworkId, key: &DataKey) -> Result<bool, Error> {
    let rows = db
        .write(
            "DELETE FROM player_data
             WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3 AND namespace = $4",
        )
        .bind(network)
        .bind(key.player)
        .bind(&key.game_mode)
        .bind(&key.namespace)
        .execute()
        .await?;
    Ok(rows > 0)
}

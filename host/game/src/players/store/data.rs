//! Data that games store about players.

use hub_db::{Db, Error, Executor, next_number};

use crate::clock::Millis;
use crate::limits::{Limit, Rows};
use crate::players::model::{DataKey, NamespaceData};
use crate::values::{Label, NetworkId, PlayerId};

pub(in crate::players) async fn get(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    key: &DataKey,
) -> Result<Option<NamespaceData>, Error> {
    on.into()
        .query(
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

/// Size of a namespace's row as it is counted; 0 if there is none.
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

/// A namespace without its content.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::players) struct NamespaceEntry {
    pub(in crate::players) game_mode: Label,
    pub(in crate::players) namespace: Label,
    pub(in crate::players) version: i64,
    pub(in crate::players) size_bytes: i64,
    pub(in crate::players) updated_at: Millis,
}

/// A page of a player's namespaces in all game modes, by name, and their number.
pub(in crate::players) async fn list_entries(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<NamespaceEntry>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM player_data WHERE network_id = $1 AND player_uuid = $2",
        "SELECT game_mode, namespace, version, CAST(octet_length(data) AS BIGINT) AS size_bytes, updated_at
         FROM player_data WHERE network_id = $1 AND player_uuid = $2
         ORDER BY game_mode, namespace LIMIT $3 OFFSET $4",
        |statement| statement.bind(network).bind(player),
        limit,
        offset,
    )
    .await
}

/// Data namespaces of all players of a network.
pub(in crate::players) const DATA_ENTRIES: Rows = Rows::many(
    Limit::DataEntries,
    "SELECT COUNT(*) FROM (SELECT namespace FROM player_data WHERE network_id = $1 LIMIT $2) AS counted",
);

/// The player's other namespaces in the game mode: their number and their bytes.
pub(in crate::players) async fn others(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    key: &DataKey,
) -> Result<(i64, i64), Error> {
    on.into()
        .query(
            "SELECT COUNT(*), CAST(COALESCE(SUM(octet_length(data)), 0) AS BIGINT) FROM player_data
         WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3 AND namespace <> $4",
        )
        .bind(network)
        .bind(key.player)
        .bind(&key.game_mode)
        .bind(&key.namespace)
        .one()
        .await
}

/// Limits of one player's data in a game mode.
#[derive(Clone, Copy, Debug)]
pub(in crate::players) struct DataLimits {
    pub(in crate::players) namespaces: i64,
    pub(in crate::players) bytes: i64,
}

/// Writes on top of the version `expected`, or of any. Returns the new version, or none if another version is stored or
/// the player's limits would be exceeded. If nothing is stored, `expected` is ignored. Small data over existing data
/// skips the count, because most writes are of that kind.
pub(in crate::players) async fn put(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    key: &DataKey,
    data: &str,
    expected: Option<i64>,
    most: DataLimits,
    now: Millis,
) -> Result<Option<i64>, Error> {
    let row: Option<(i64,)> = on
        .into()
        .write(concat!(
            "INSERT INTO player_data (network_id, player_uuid, game_mode, namespace, data, version, updated_at)
             SELECT $1, $2, $3, $4, $5, ",
            next_number!("0"),
            ", $6
             WHERE (octet_length($5) <= 8192 AND EXISTS (
                     SELECT d.version FROM player_data d
                     WHERE d.network_id = $1 AND d.player_uuid = $2 AND d.game_mode = $3 AND d.namespace = $4))
                OR (SELECT COUNT(*) < $8 AND COALESCE(SUM(octet_length(d.data)), 0) + octet_length($5) <= $9
                    FROM player_data d
                    WHERE d.network_id = $1 AND d.player_uuid = $2 AND d.game_mode = $3 AND d.namespace <> $4)
             ON CONFLICT (network_id, player_uuid, game_mode, namespace) DO UPDATE SET
                 data = excluded.data, version = ",
            next_number!("player_data.version"),
            ", updated_at = excluded.updated_at
             WHERE $7 IS NULL OR player_data.version = $7
             RETURNING version"
        ))
        .bind(network)
        .bind(key.player)
        .bind(&key.game_mode)
        .bind(&key.namespace)
        .bind(data)
        .bind(now)
        .bind(expected)
        .bind(most.namespaces)
        .bind(most.bytes)
        .optional()
        .await?;
    Ok(row.map(|(version,)| version))
}

/// Deletes data; false if there was none.
pub(in crate::players) async fn delete(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    key: &DataKey,
) -> Result<bool, Error> {
    let rows = on
        .into()
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

//! What games keep about players.

use hub_db::{Db, Error};

use crate::clock::Millis;
use crate::players::model::Entry;
use crate::values::{Label, NetworkId, PlayerId};

/// Which entry: the player, the game mode and the namespace.
#[derive(Clone, Debug)]
pub(in crate::players) struct Place {
    pub(in crate::players) player: PlayerId,
    pub(in crate::players) game_mode: Label,
    pub(in crate::players) namespace: Label,
}

pub(in crate::players) async fn get(db: &Db, network: NetworkId, at: &Place) -> Result<Option<Entry>, Error> {
    db.query(
        "SELECT namespace, data, version FROM player_data
         WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3 AND namespace = $4",
    )
    .bind(network)
    .bind(at.player)
    .bind(at.game_mode.clone())
    .bind(at.namespace.clone())
    .optional()
    .await
}

/// All of a player's namespaces in a game mode, by name.
pub(in crate::players) async fn all(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    game_mode: &Label,
) -> Result<Vec<Entry>, Error> {
    let mut entries: Vec<Entry> = db
        .query(
            "SELECT namespace, data, version FROM player_data
             WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3",
        )
        .bind(network)
        .bind(player)
        .bind(game_mode.clone())
        .all()
        .await?;
    entries.sort_by(|a, b| a.namespace.cmp(&b.namespace));
    Ok(entries)
}

/// Writes on top of the version `expected`, or of whatever there is; the new version. None where another version is
/// stored. What is absent is written whatever was expected.
pub(in crate::players) async fn put(
    db: &Db,
    network: NetworkId,
    at: &Place,
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
        .bind(at.player)
        .bind(at.game_mode.clone())
        .bind(at.namespace.clone())
        .bind(data.to_owned())
        .bind(now)
        .bind(expected)
        .optional()
        .await?;
    Ok(row.map(|(version,)| version))
}

/// False where there was nothing.
pub(in crate::players) async fn delete(db: &Db, network: NetworkId, at: &Place) -> Result<bool, Error> {
    let rows = db
        .write(
            "DELETE FROM player_data
             WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3 AND namespace = $4",
        )
        .bind(network)
        .bind(at.player)
        .bind(at.game_mode.clone())
        .bind(at.namespace.clone())
        .execute()
        .await?;
    Ok(rows > 0)
}

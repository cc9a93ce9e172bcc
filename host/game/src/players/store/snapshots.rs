//! Snapshots of players' data.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::Millis;
use crate::player_sessions::Session;
use crate::players::model::DataKey;
use crate::values::{Identifier, NetworkId, PlayerId};

/// A snapshot in a list.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::players) struct SnapshotEntry {
    /// Fence of the session that ended, which also names the snapshot.
    pub(in crate::players) fence: i64,
    pub(in crate::players) server_id: Identifier,
    pub(in crate::players) at: Millis,
    pub(in crate::players) version: i64,
    pub(in crate::players) size_bytes: i64,
}

/// A snapshot with its data.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::players) struct Snapshot {
    #[sqlx(flatten)]
    pub(in crate::players) entry: SnapshotEntry,
    pub(in crate::players) data: String,
}

pub(super) const TAKE: &str =
    "INSERT INTO player_data_snapshots (network_id, player_uuid, game_mode, namespace, fence, server_id, at, version, data)
     SELECT d.network_id, d.player_uuid, d.game_mode, d.namespace, $3, $4, $5, d.version, d.data FROM player_data d
     WHERE d.network_id = $1 AND d.player_uuid = $2 AND NOT EXISTS (
         SELECT s.fence FROM player_data_snapshots s
         WHERE s.network_id = $1 AND s.player_uuid = $2 AND s.game_mode = d.game_mode AND s.namespace = d.namespace
           AND s.data = d.data AND s.fence = (
             SELECT MAX(n.fence) FROM player_data_snapshots n
             WHERE n.network_id = $1 AND n.player_uuid = $2 AND n.game_mode = d.game_mode AND n.namespace = d.namespace))
     ON CONFLICT (network_id, player_uuid, game_mode, namespace, fence) DO NOTHING";

/// Keeps each namespace whose content is not that of its newest snapshot. Returns their number.
pub(in crate::players) async fn take(
    tx: &mut Tx,
    network: NetworkId,
    session: &Session,
    at: Millis,
) -> Result<u64, Error> {
    tx.query(TAKE)
        .bind(network)
        .bind(session.player_uuid)
        .bind(session.fence)
        .bind(&session.server_id)
        .bind(at)
        .execute()
        .await
}

pub(super) const TRIM: &str =
    "DELETE FROM player_data_snapshots WHERE network_id = $1 AND player_uuid = $2 AND fence < (
         SELECT n.fence FROM player_data_snapshots n
         WHERE n.network_id = $1 AND n.player_uuid = $2 AND n.game_mode = player_data_snapshots.game_mode
           AND n.namespace = player_data_snapshots.namespace
         ORDER BY n.fence DESC LIMIT 1 OFFSET $3)";

/// Deletes all but the newest `kept` snapshots of each of the player's namespaces.
pub(in crate::players) async fn trim(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    kept: i64,
) -> Result<(), Error> {
    tx.query(TRIM).bind(network).bind(player).bind(kept - 1).execute().await?;
    Ok(())
}

/// A page of a namespace's snapshots, newest first, and their number.
pub(in crate::players) async fn list(
    db: &Db,
    network: NetworkId,
    key: &DataKey,
    limit: i64,
    offset: i64,
) -> Result<(Vec<SnapshotEntry>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM player_data_snapshots
         WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3 AND namespace = $4",
        "SELECT fence, server_id, at, version, CAST(octet_length(data) AS BIGINT) AS size_bytes
         FROM player_data_snapshots
         WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3 AND namespace = $4
         ORDER BY fence DESC LIMIT $5 OFFSET $6",
        |statement| statement.bind(network).bind(key.player).bind(&key.game_mode).bind(&key.namespace),
        limit,
        offset,
    )
    .await
}

pub(in crate::players) async fn get(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    key: &DataKey,
    id: i64,
) -> Result<Option<Snapshot>, Error> {
    on.into()
        .query(
            "SELECT fence, server_id, at, version, CAST(octet_length(data) AS BIGINT) AS size_bytes, data
             FROM player_data_snapshots
             WHERE network_id = $1 AND player_uuid = $2 AND game_mode = $3 AND namespace = $4 AND fence = $5",
        )
        .bind(network)
        .bind(key.player)
        .bind(&key.game_mode)
        .bind(&key.namespace)
        .bind(id)
        .optional()
        .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn snapshots_are_found_by_their_keys() {
        let plans = query_plans(&[TAKE, TRIM]).await;
        assert!(!plans.iter().flatten().any(|step| step.starts_with("SCAN")), "{plans:#?}");
    }
}

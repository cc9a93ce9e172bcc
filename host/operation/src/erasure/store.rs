//! Record of erasures, and the names and addresses that a network stores about a player.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;
use crate::erasure::subject::Subject;
use crate::limits::{Limit, Rows};
use crate::values::{NetworkId, PlayerId};

/// Rows counted by the network's limit.
pub(super) const FORGOTTEN_PLAYERS: Rows = Rows::many(
    Limit::ForgottenPlayers,
    "SELECT COUNT(*) FROM (SELECT player_uuid FROM forgotten_players WHERE network_id = $1 LIMIT $2) AS counted",
);

/// True if the player was erased before, or is being erased.
pub(super) async fn is_recorded(db: &Db, network: NetworkId, player: PlayerId) -> Result<bool, Error> {
    let sql = "SELECT forgotten_at FROM forgotten_players WHERE network_id = $1 AND player_uuid = $2";
    let row: Option<(Millis,)> = db.query(sql).bind(network).bind(player).optional().await?;
    Ok(row.is_some())
}

/// An erased player, possibly in progress.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct ForgottenPlayer {
    pub network_id: NetworkId,
    pub player_uuid: PlayerId,
    pub forgotten_at: Millis,
    pub(crate) finished_at: Option<Millis>,
}

/// The record of a player's erasure.
pub(super) async fn find(db: &Db, network: NetworkId, player: PlayerId) -> Result<Option<ForgottenPlayer>, Error> {
    db.query(
        "SELECT network_id, player_uuid, forgotten_at, finished_at FROM forgotten_players
         WHERE network_id = $1 AND player_uuid = $2",
    )
    .bind(network)
    .bind(player)
    .optional()
    .await
}

/// Records the erasure of a player.
pub(super) async fn record(tx: &mut Tx, network: NetworkId, player: PlayerId, at: Millis) -> Result<(), Error> {
    tx.query(
        "INSERT INTO forgotten_players (network_id, player_uuid, forgotten_at) VALUES ($1, $2, $3)
         ON CONFLICT (network_id, player_uuid) DO UPDATE
         SET forgotten_at = excluded.forgotten_at, finished_at = NULL",
    )
    .bind(network)
    .bind(player)
    .bind(at)
    .execute()
    .await?;
    Ok(())
}

/// Records an earlier erasure, to be repeated; does nothing if it is already recorded.
pub(super) async fn record_again(tx: &mut Tx, network: NetworkId, player: PlayerId, at: Millis) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO forgotten_players (network_id, player_uuid, forgotten_at)
             SELECT $1, $2, $3 WHERE EXISTS (SELECT 1 FROM networks WHERE network_id = $1)
             ON CONFLICT (network_id, player_uuid) DO UPDATE
             SET forgotten_at = excluded.forgotten_at, finished_at = NULL
             WHERE forgotten_players.forgotten_at < excluded.forgotten_at",
        )
        .bind(network)
        .bind(player)
        .bind(at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Records the completion; false if the player is to be erased once more.
pub(super) async fn finish(db: &Db, player: &ForgottenPlayer, now: Millis) -> Result<bool, Error> {
    let rows = db
        .write(
            "UPDATE forgotten_players SET finished_at = $4
             WHERE network_id = $1 AND player_uuid = $2 AND forgotten_at = $3",
        )
        .bind(player.network_id)
        .bind(player.player_uuid)
        .bind(player.forgotten_at)
        .bind(now)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Erased players of a network, newest first, and their number.
pub(super) async fn page(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ForgottenPlayer>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM forgotten_players WHERE network_id = $1",
        "SELECT network_id, player_uuid, forgotten_at, finished_at FROM forgotten_players
         WHERE network_id = $1 ORDER BY forgotten_at DESC, player_uuid LIMIT $2 OFFSET $3",
        |statement| statement.bind(network),
        limit,
        offset,
    )
    .await
}

/// Position in the list of all networks' erased players.
pub(super) type Position = (Millis, NetworkId, PlayerId);

/// Erased players of all networks after a position, oldest first. Crosses networks: the list is the operator's.
pub(super) async fn after(db: &Db, (at, network, player): Position, limit: i64) -> Result<Vec<ForgottenPlayer>, Error> {
    db.query(
        "SELECT network_id, player_uuid, forgotten_at, finished_at FROM forgotten_players
         WHERE (forgotten_at, network_id, player_uuid) > ($1, $2, $3)
         ORDER BY forgotten_at, network_id, player_uuid LIMIT $4",
    )
    .bind(at)
    .bind(network)
    .bind(player)
    .bind(limit)
    .all()
    .await
}

/// Statements that find a player's names, in original and folded form.
const NAMES: [&str; 5] = [
    "SELECT username FROM players WHERE network_id = $1 AND player_uuid = $2 AND username IS NOT NULL",
    "SELECT name_folded FROM player_names WHERE network_id = $1 AND player_uuid = $2",
    "SELECT username FROM player_languages WHERE network_id = $1 AND player_uuid = $2 AND username IS NOT NULL",
    "SELECT player_name FROM server_players WHERE network_id = $1 AND player_id = $2 AND player_name IS NOT NULL",
    "SELECT player_name FROM punishments WHERE network_id = $1 AND player_uuid = $2 AND player_name IS NOT NULL",
];

/// The player with all names and addresses known to the network.
pub(super) async fn subject(db: &Db, network: NetworkId, player: PlayerId) -> Result<Subject, Error> {
    let mut names = vec![];
    for statement in NAMES {
        let rows: Vec<(String,)> = db.query(statement).bind(network).bind(player).all().await?;
        names.extend(rows.into_iter().map(|(name,)| name));
    }
    let folded: Vec<_> = names.iter().map(|name| name.to_lowercase()).collect();
    names.extend(folded);
    names.sort_unstable();
    names.dedup();
    let addresses: Vec<(String,)> = db
        .query("SELECT ip_address FROM player_addresses WHERE network_id = $1 AND player_uuid = $2")
        .bind(network)
        .bind(player)
        .all()
        .await?;
    Ok(Subject::new(player, names, addresses.into_iter().map(|(address,)| address).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn names_are_found_by_indexes() {
        for plan in query_plans(&NAMES).await {
            assert!(plan.iter().all(|step| !step.contains("SCAN")), "{plan:#?}");
        }
    }
}

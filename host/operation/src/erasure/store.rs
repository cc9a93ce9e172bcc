//! Record of erasures, and the names and addresses that a network stores about a player.

use hub_db::{Db, Error, Tx};
use uuid::Uuid;

use crate::clock::Millis;
use crate::erasure::subject::Subject;
use crate::limits::{Limit, Rows};
use crate::values::{NetworkId, PlayerId};

/// Rows counted by the network's limit.
pub(super) const FORGOTTEN_PLAYERS: Rows = Rows::many(
    Limit::ForgottenPlayers,
    "SELECT COUNT(*) FROM (SELECT player_uuid FROM forgotten_players WHERE network_id = $1 LIMIT $2) AS counted",
);

/// True if the player was erased before.
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
    replacement: Option<Uuid>,
    pub(crate) finished_at: Option<Millis>,
}

impl ForgottenPlayer {
    /// UUID that replaces the player's in rows that stay.
    pub(super) fn replacement(&self) -> Uuid {
        self.replacement.unwrap_or_default()
    }
}

/// Records the erasure of a player and claims the work until then.
pub(super) async fn record(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    replacement: Uuid,
    (at, claimed_until): (Millis, Millis),
) -> Result<ForgottenPlayer, Error> {
    tx.query(
        "INSERT INTO forgotten_players (network_id, player_uuid, forgotten_at, replacement, claimed_until)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network_id, player_uuid) DO UPDATE
         SET forgotten_at = excluded.forgotten_at, finished_at = NULL, claimed_until = excluded.claimed_until,
             replacement = COALESCE(forgotten_players.replacement, excluded.replacement)
         RETURNING network_id, player_uuid, forgotten_at, replacement, finished_at",
    )
    .bind(network)
    .bind(player)
    .bind(at)
    .bind(replacement)
    .bind(claimed_until)
    .one()
    .await
}

/// Records an earlier erasure, to be repeated; does nothing if it is already recorded.
pub(super) async fn record_again(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    replacement: Uuid,
    at: Millis,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO forgotten_players (network_id, player_uuid, forgotten_at, replacement, claimed_until)
             SELECT $1, $2, $3, $4, 0 WHERE EXISTS (SELECT 1 FROM networks WHERE network_id = $1)
             ON CONFLICT (network_id, player_uuid) DO UPDATE
             SET forgotten_at = excluded.forgotten_at, finished_at = NULL,
                 replacement = COALESCE(forgotten_players.replacement, excluded.replacement)
             WHERE forgotten_players.forgotten_at < excluded.forgotten_at",
        )
        .bind(network)
        .bind(player)
        .bind(at)
        .bind(replacement)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Claims an unfinished erasure without a working node.
pub(crate) async fn claim_next(
    db: &Db,
    replacement: Uuid,
    now: Millis,
    until: Millis,
) -> Result<Option<ForgottenPlayer>, Error> {
    // Crosses networks: one loop serves all.
    db.write(
        "UPDATE forgotten_players SET claimed_until = $2, replacement = COALESCE(replacement, $3)
         WHERE finished_at IS NULL AND claimed_until <= $1 AND (network_id, player_uuid) IN (
             SELECT network_id, player_uuid FROM forgotten_players
             WHERE finished_at IS NULL AND claimed_until <= $1 ORDER BY claimed_until LIMIT 1)
         RETURNING network_id, player_uuid, forgotten_at, replacement, finished_at",
    )
    .bind(now)
    .bind(until)
    .bind(replacement)
    .optional()
    .await
}

/// Renews the claim; false if another request took it or the record was deleted.
pub(super) async fn renew(db: &Db, player: &ForgottenPlayer, until: Millis) -> Result<bool, Error> {
    let rows = db
        .write(
            "UPDATE forgotten_players SET claimed_until = $4
             WHERE network_id = $1 AND player_uuid = $2 AND forgotten_at = $3 AND finished_at IS NULL",
        )
        .bind(player.network_id)
        .bind(player.player_uuid)
        .bind(player.forgotten_at)
        .bind(until)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Records the completion and deletes the random UUID: from then on nothing links the remaining rows with the player.
pub(super) async fn finish(db: &Db, player: &ForgottenPlayer, now: Millis) -> Result<bool, Error> {
    let rows = db
        .write(
            "UPDATE forgotten_players SET finished_at = $4, replacement = NULL, claimed_until = 0
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
        "SELECT network_id, player_uuid, forgotten_at, replacement, finished_at FROM forgotten_players
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
        "SELECT network_id, player_uuid, forgotten_at, replacement, finished_at FROM forgotten_players
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

//! All SQL of the component.

pub(super) mod arrivals;
pub(super) mod data;
pub(super) mod languages;
pub(super) mod search;
pub(super) mod snapshots;

use hub_db::{Db, Error, Executor, Sql};

use super::model::{NamespaceData, Player, PlayerUpdate, Profile, fold_case};
use crate::clock::Millis;
use crate::economy::{Balance, player_balances};
use crate::geo::Region;
use crate::limits::{Limit, Rows};
use crate::owner::Owner;
use crate::values::{Identifier, Label, NetworkId, PlayerId};

/// All players of a network ever seen.
pub(super) const KNOWN_PLAYERS: Rows = Rows::many(
    Limit::KnownPlayers,
    "SELECT COUNT(*) FROM (SELECT player_uuid FROM players WHERE network_id = $1 LIMIT $2) AS counted",
);

/// Creates or updates a player seen at `at`. Returns the stored player.
pub(super) async fn upsert(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    player: PlayerId,
    update: &PlayerUpdate,
    at: Millis,
) -> Result<Player, Error> {
    let username = update.username.as_ref().map(Identifier::as_str);
    let location = update.location.as_ref();
    on.into()
        .write(
            "INSERT INTO players (network_id, player_uuid, username, username_folded, game_type, region, country,
             first_seen, last_seen)
         VALUES ($1, $2, $3, $4, $5, COALESCE($6, $7), $8, $9, $9)
         ON CONFLICT (network_id, player_uuid) DO UPDATE SET
             username = COALESCE($3, players.username),
             username_folded = COALESCE($4, players.username_folded),
             game_type = COALESCE(players.game_type, $5),
             region = COALESCE($6, players.region),
             country = CASE WHEN $6 IS NULL THEN players.country ELSE $8 END,
             last_seen = CASE WHEN players.last_seen > $9 THEN players.last_seen ELSE $9 END
         RETURNING player_uuid, username, game_type, region, country, first_seen, last_seen",
        )
        .bind(network)
        .bind(player)
        .bind(username)
        .bind(username.map(fold_case))
        .bind(&update.game_type)
        .bind(location.map(|location| location.region.as_str()))
        .bind(Region::unknown().as_str())
        .bind(location.and_then(|location| location.country.as_deref()))
        .bind(at)
        .one()
        .await
}

/// Name of a player, none until it is known; the outer none: no such player.
#[allow(clippy::option_option, reason = "a player without a name")]
pub(super) async fn name_of(db: &Db, network: NetworkId, player: PlayerId) -> Result<Option<Option<String>>, Error> {
    let row: Option<(Option<String>,)> = db
        .query("SELECT username FROM players WHERE network_id = $1 AND player_uuid = $2")
        .bind(network)
        .bind(player)
        .optional()
        .await?;
    Ok(row.map(|(name,)| name))
}

/// Creates a player who was never seen.
pub(super) async fn insert_unseen(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    username: Option<&Identifier>,
    at: Millis,
) -> Result<(), Error> {
    let username = username.map(Identifier::as_str);
    db.write(
        "INSERT INTO players (network_id, player_uuid, username, username_folded, region, first_seen, last_seen)
         VALUES ($1, $2, $3, $4, $5, $6, $6)
         ON CONFLICT (network_id, player_uuid) DO NOTHING",
    )
    .bind(network)
    .bind(player)
    .bind(username)
    .bind(username.map(fold_case))
    .bind(Region::unknown().as_str())
    .bind(at)
    .execute()
    .await?;
    Ok(())
}

/// Advances the time at which a known player was last seen.
pub(super) async fn update_last_seen(db: &Db, network: NetworkId, player: PlayerId, at: Millis) -> Result<(), Error> {
    db.write("UPDATE players SET last_seen = $3 WHERE network_id = $1 AND player_uuid = $2 AND last_seen < $3")
        .bind(network)
        .bind(player)
        .bind(at)
        .execute()
        .await?;
    Ok(())
}

pub(super) async fn find(db: &Db, network: NetworkId, player: PlayerId) -> Result<Option<Player>, Error> {
    db.query(
        "SELECT player_uuid, username, game_type, region, country, first_seen, last_seen FROM players
         WHERE network_id = $1 AND player_uuid = $2",
    )
    .bind(network)
    .bind(player)
    .optional()
    .await
}

macro_rules! select_profile {
    ($database:ident) => {
        concat!(
            "SELECT p.player_uuid, p.username, p.game_type, p.region, p.country, p.first_seen, p.last_seen,
                 d.namespace, d.data, d.version, ",
            player_balances!($database, "$4"),
            " AS balances
             FROM players p
             LEFT JOIN player_data d ON d.network_id = $1 AND d.player_uuid = $2 AND d.game_mode = $3
             WHERE p.network_id = $1 AND p.player_uuid = $2"
        )
    };
}

const FIND_PROFILE: Sql = Sql { sqlite: select_profile!(sqlite), postgres: select_profile!(postgres) };

/// A player with their balances and all their namespaces in a game mode, by name: in one statement, since profiles are
/// read for every join.
pub(super) async fn find_profile(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    game_mode: &Label,
) -> Result<Option<Profile>, Error> {
    /// The player's columns and balances are the same in all rows.
    #[derive(sqlx::FromRow)]
    struct Row {
        #[sqlx(flatten)]
        player: Player,
        balances: String,
        namespace: Option<String>,
        data: Option<String>,
        version: Option<i64>,
    }
    let owner = Owner::player(player);
    let query = db.query(FIND_PROFILE).bind(network).bind(player).bind(game_mode).bind(owner.key());
    let rows: Vec<Row> = query.all().await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let (player, currencies) = (first.player.clone(), Balance::list_from_json(&first.balances)?);
    let of_row = |row: Row| Some(NamespaceData { namespace: row.namespace?, data: row.data?, version: row.version? });
    let mut namespaces: Vec<_> = rows.into_iter().filter_map(of_row).collect();
    namespaces.sort_by(|a, b| a.namespace.cmp(&b.namespace));
    Ok(Some(Profile { player, currencies, namespaces }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn a_profile_is_read_by_keys() {
        let plans = query_plans(&[FIND_PROFILE.sqlite]).await;
        // Only the result of the search of the balances is scanned.
        let is_scan = |step: &String| step.starts_with("SCAN") && !step.starts_with("SCAN (");
        assert!(!plans.iter().flatten().any(is_scan), "{plans:#?}");
    }
}

//! All SQL of servers.

pub(super) mod reservations;

use std::sync::Arc;

use hub_db::{Db, Error, Sql, Tx};

use crate::clock::Millis;
use crate::geo::Region;
use crate::servers::model::{Facts, GameState, PluginReport, RegistryRow, Role, Search, Software};
use crate::servers::presence::{SavedPlayer, SavedServer, SavedWorld};
use crate::values::{Identifier, NetworkId, PlayerId};

#[derive(sqlx::FromRow)]
struct ServerRow {
    server_id: Identifier,
    server_type: Identifier,
    game_type: Option<String>,
    role: String,
    display_name: Option<String>,
    max_players: i64,
    host: String,
    port: i64,
    region: String,
    country: Option<String>,
    plugin_version: Option<String>,
    plugin_build: Option<i64>,
    plugin_commit: Option<String>,
    platform_name: Option<String>,
    platform_version: Option<String>,
    plugins: String,
    first_seen: Millis,
    last_seen: Millis,
    started_at: Millis,
    game_state: Option<String>,
    players_to_start: i64,
    worlds: String,
}

impl ServerRow {
    fn facts(&mut self) -> Facts {
        // What was written was valid; should another version have written it otherwise, the least is lost.
        let plugins: Vec<PluginReport> = serde_json::from_str(&self.plugins).unwrap_or_default();
        Facts {
            server_id: self.server_id.clone(),
            server_type: self.server_type.clone(),
            game_type: self.game_type.take(),
            role: Role::from_text(&self.role),
            display_name: self.display_name.take(),
            max_players: count(self.max_players),
            host: std::mem::take(&mut self.host),
            port: u16::try_from(self.port).unwrap_or_default(),
            region: Region::try_from(std::mem::take(&mut self.region)).unwrap_or_else(|_| Region::unknown()),
            country: self.country.take(),
            software: Software {
                version: self.plugin_version.take(),
                build: self.plugin_build,
                commit: self.plugin_commit.take(),
                platform_name: self.platform_name.take(),
                platform_version: self.platform_version.take(),
                plugins,
            },
        }
    }

    fn registered(mut self) -> RegistryRow {
        RegistryRow { facts: self.facts(), first_seen: self.first_seen, last_seen: self.last_seen }
    }

    fn saved(mut self) -> SavedServer {
        SavedServer {
            facts: Arc::new(self.facts()),
            started_at: self.started_at,
            last_heartbeat: self.last_seen,
            game_state: self.game_state.and_then(|state| GameState::try_from(state).ok()),
            players_to_start: count(self.players_to_start),
            worlds: serde_json::from_str::<Vec<SavedWorld>>(&self.worlds).unwrap_or_default(),
        }
    }
}

fn count(stored: i64) -> u32 {
    u32::try_from(stored).unwrap_or_default()
}

fn json(value: &impl serde::Serialize) -> String {
    // Plain records of texts and numbers always have a JSON.
    serde_json::to_string(value).unwrap_or_else(|_| "[]".to_owned())
}

/// What a search looks through.
pub(super) fn search_text(id: &Identifier, display_name: Option<&str>) -> String {
    format!("{id}\n{}", display_name.unwrap_or_default()).to_lowercase()
}

/// Writes a live server. When it was first seen stays what it was.
pub(super) async fn save_server(tx: &mut Tx, network: NetworkId, server: &SavedServer) -> Result<(), Error> {
    let facts = &*server.facts;
    tx.query(
        "INSERT INTO servers (network_id, server_id, server_type, game_type, role, display_name, search_text,
             max_players, host, port, region, country, plugin_version, plugin_build, plugin_commit, platform_name,
             platform_version, plugins, first_seen, last_seen, started_at, present, game_state, players_to_start, worlds)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
             $23, $24, $25)
         ON CONFLICT (network_id, server_id) DO UPDATE SET
             server_type = excluded.server_type, game_type = excluded.game_type, role = excluded.role,
             display_name = excluded.display_name, search_text = excluded.search_text,
             max_players = excluded.max_players, host = excluded.host, port = excluded.port,
             region = excluded.region, country = excluded.country, plugin_version = excluded.plugin_version,
             plugin_build = excluded.plugin_build, plugin_commit = excluded.plugin_commit,
             platform_name = excluded.platform_name, platform_version = excluded.platform_version,
             plugins = excluded.plugins, last_seen = excluded.last_seen, started_at = excluded.started_at,
             present = excluded.present, game_state = excluded.game_state,
             players_to_start = excluded.players_to_start, worlds = excluded.worlds",
    )
    .bind(network)
    .bind(facts.server_id.clone())
    .bind(facts.server_type.clone())
    .bind(facts.game_type.clone())
    .bind(facts.role.as_str())
    .bind(facts.display_name.clone())
    .bind(search_text(&facts.server_id, facts.display_name.as_deref()))
    .bind(i64::from(facts.max_players))
    .bind(facts.host.clone())
    .bind(i64::from(facts.port))
    .bind(facts.region.as_str().to_owned())
    .bind(facts.country.clone())
    .bind(facts.software.version.clone())
    .bind(facts.software.build)
    .bind(facts.software.commit.clone())
    .bind(facts.software.platform_name.clone())
    .bind(facts.software.platform_version.clone())
    .bind(json(&facts.software.plugins))
    .bind(server.started_at)
    .bind(server.last_heartbeat)
    .bind(server.started_at)
    .bind(true)
    .bind(server.game_state.as_ref().map(|state| state.as_str().to_owned()))
    .bind(i64::from(server.players_to_start))
    .bind(json(&server.worlds))
    .execute()
    .await?;
    Ok(())
}

/// Heartbeats as one text that both databases read.
#[derive(Clone, Debug)]
pub(super) struct Beats(Option<String>);

impl Beats {
    pub(super) fn of(beats: &[(Arc<str>, Millis)]) -> Self {
        Self((!beats.is_empty()).then(|| json(&beats)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

const NOTE_BEATS: Sql = Sql {
    sqlite: "UPDATE servers SET last_seen = beats.at
             FROM (SELECT value ->> 0 AS id, value ->> 1 AS at FROM json_each($2)) AS beats
             WHERE network_id = $1 AND server_id = beats.id",
    postgres: "UPDATE servers SET last_seen = CAST(beats.pair ->> 1 AS BIGINT)
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS beats (pair)
               WHERE network_id = $1 AND server_id = beats.pair ->> 0",
};

pub(super) async fn note_beats(db: &Db, network: NetworkId, beats: Beats) -> Result<(), Error> {
    db.write(NOTE_BEATS).bind(network).bind(beats.0).execute().await?;
    Ok(())
}

pub(super) async fn note_beats_in(tx: &mut Tx, network: NetworkId, beats: Beats) -> Result<(), Error> {
    tx.query(NOTE_BEATS).bind(network).bind(beats.0).execute().await?;
    Ok(())
}

/// Notes that the server is gone, unless it was heard of since.
pub(super) async fn mark_gone(tx: &mut Tx, network: NetworkId, id: &str, heard: Millis) -> Result<(), Error> {
    tx.query(
        "UPDATE servers SET present = $4, last_seen = $3 WHERE network_id = $1 AND server_id = $2 AND last_seen <= $3",
    )
    .bind(network)
    .bind(id.to_owned())
    .bind(heard)
    .bind(false)
    .execute()
    .await?;
    Ok(())
}

pub(super) async fn save_player(tx: &mut Tx, network: NetworkId, player: &SavedPlayer) -> Result<(), Error> {
    tx.query(
        "INSERT INTO server_players (network_id, player_id, server_id, player_name, world_id, previous_world_id, joined_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (network_id, player_id) DO UPDATE SET
             server_id = excluded.server_id, player_name = excluded.player_name, world_id = excluded.world_id,
             previous_world_id = excluded.previous_world_id, joined_at = excluded.joined_at",
    )
    .bind(network)
    .bind(player.player)
    .bind(player.server_id.clone())
    .bind(player.name.clone())
    .bind(player.world.clone())
    .bind(player.previous_world.clone())
    .bind(player.joined_at)
    .execute()
    .await?;
    Ok(())
}

pub(super) async fn delete_player(tx: &mut Tx, network: NetworkId, player: PlayerId) -> Result<(), Error> {
    tx.query("DELETE FROM server_players WHERE network_id = $1 AND player_id = $2")
        .bind(network)
        .bind(player)
        .execute()
        .await?;
    Ok(())
}

/// The servers that were neither gone nor last heard of at `since` or before.
pub(super) async fn present_servers(db: &Db, network: NetworkId, since: Millis) -> Result<Vec<SavedServer>, Error> {
    let rows: Vec<ServerRow> = db
        .query("SELECT * FROM servers WHERE network_id = $1 AND present AND last_seen > $2")
        .bind(network)
        .bind(since)
        .all()
        .await?;
    Ok(rows.into_iter().map(ServerRow::saved).collect())
}

#[derive(sqlx::FromRow)]
struct PlayerRow {
    player_id: PlayerId,
    server_id: Identifier,
    player_name: Option<Identifier>,
    world_id: Option<Identifier>,
    previous_world_id: Option<Identifier>,
    joined_at: Millis,
}

pub(super) async fn present_players(db: &Db, network: NetworkId) -> Result<Vec<SavedPlayer>, Error> {
    let rows: Vec<PlayerRow> =
        db.query("SELECT * FROM server_players WHERE network_id = $1").bind(network).all().await?;
    let saved = rows.into_iter().map(|row| SavedPlayer {
        player: row.player_id,
        server_id: row.server_id,
        name: row.player_name,
        world: row.world_id,
        previous_world: row.previous_world_id,
        joined_at: row.joined_at,
    });
    Ok(saved.collect())
}

pub(super) async fn exists(db: &Db, network: NetworkId, id: &Identifier) -> Result<bool, Error> {
    let row: Option<(Identifier,)> = db
        .query("SELECT server_id FROM servers WHERE network_id = $1 AND server_id = $2")
        .bind(network)
        .bind(id.clone())
        .optional()
        .await?;
    Ok(row.is_some())
}

/// What makes a row wanted; the ids in `$6` are those online.
macro_rules! wanted {
    ($online_ids:literal) => {
        concat!(
            " AND ($2 IS NULL OR server_type = $2) AND ($3 IS NULL OR region = $3)
              AND ($4 IS NULL OR search_text LIKE $4 ESCAPE '\\') AND ($5 IS NULL OR (server_id IN (SELECT ",
            $online_ids,
            ")) = $5)"
        )
    };
}

macro_rules! count {
    ($online_ids:literal) => {
        concat!(
            "SELECT (SELECT COUNT(*) FROM servers WHERE network_id = $1",
            wanted!($online_ids),
            ") + (SELECT COUNT(*) FROM provisioned_servers WHERE network_id = $1",
            wanted!($online_ids),
            " AND NOT EXISTS (SELECT s.server_id FROM servers s
                 WHERE s.network_id = $1 AND s.server_id = provisioned_servers.server_id))"
        )
    };
}

macro_rules! ids {
    ($online_ids:literal) => {
        concat!(
            "SELECT server_id FROM servers WHERE network_id = $1",
            wanted!($online_ids),
            " UNION ALL SELECT server_id FROM provisioned_servers WHERE network_id = $1",
            wanted!($online_ids),
            " AND NOT EXISTS (SELECT s.server_id FROM servers s
                 WHERE s.network_id = $1 AND s.server_id = provisioned_servers.server_id)
             ORDER BY server_id LIMIT $7 OFFSET $8"
        )
    };
}

const COUNT: Sql = Sql {
    sqlite: count!("value FROM json_each($6)"),
    postgres: count!("jsonb_array_elements_text(CAST($6 AS JSONB))"),
};
const IDS: Sql =
    Sql { sqlite: ids!("value FROM json_each($6)"), postgres: ids!("jsonb_array_elements_text(CAST($6 AS JSONB))") };

/// The ids of the servers that a search finds, and how many there are. `online` has the ids of those online, for a
/// search that asks.
pub(super) async fn list(
    db: &Db,
    network: NetworkId,
    search: &Search,
    online: &[Identifier],
    limit: i64,
    offset: i64,
) -> Result<(Vec<Identifier>, i64), Error> {
    let region = search.region.as_ref().map(Region::as_str);
    let pattern = search.text.as_deref().map(like_pattern);
    let online = json(&online);
    let (ids, total): (Vec<(Identifier,)>, _) = db
        .page(
            COUNT,
            IDS,
            |list| {
                let list = list.bind(network).bind(&search.server_type).bind(region).bind(&pattern);
                list.bind(search.online).bind(&online)
            },
            limit,
            offset,
        )
        .await?;
    Ok((ids.into_iter().map(|(id,)| id).collect(), total))
}

/// The registry rows of these servers.
pub(super) async fn find_all(db: &Db, network: NetworkId, ids: &[Identifier]) -> Result<Vec<RegistryRow>, Error> {
    let rows: Vec<ServerRow> = db
        .query(Sql {
            sqlite: "SELECT * FROM servers WHERE network_id = $1 AND server_id IN (SELECT value FROM json_each($2))",
            postgres: "SELECT * FROM servers WHERE network_id = $1
                         AND server_id IN (SELECT jsonb_array_elements_text(CAST($2 AS JSONB)))",
        })
        .bind(network)
        .bind(json(&ids))
        .all()
        .await?;
    Ok(rows.into_iter().map(ServerRow::registered).collect())
}

/// The pattern that finds a text anywhere in a lower-case one.
fn like_pattern(part: &str) -> String {
    let mut pattern = String::from("%");
    for character in part.to_lowercase().chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern + "%"
}

#[cfg(test)]
mod tests {
    use super::like_pattern;

    #[test]
    fn a_search_means_its_text_and_no_pattern() {
        assert_eq!(like_pattern(r"50%_\Ö"), r"%50\%\_\\ö%");
    }
}

//! SQL of presence.

use std::sync::Arc;

use hub_db::{Backend, Db, Error, Executor, Sql, Tx};

use crate::clock::Millis;
use crate::component::{Term, renew_term};
use crate::config::Settings;
use crate::presence::memory::{SavedPlayer, SavedServer};
use crate::presence::model::{player_ids, search_text};
use crate::presence::store::json;
use crate::presence::store::row::{ServerRow, server_columns};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Players saved in one statement.
const BATCH: usize = 500;

/// Heartbeats of online servers: a node that takes their network over while the clock is set restores them.
pub(in crate::presence) const ONLINE: Term = Term {
    renew: renew_term!("servers", "network_id, server_id", "last_seen", "present"),
    length: Settings::offline_after,
    age: Settings::offline_after,
};

/// Start time of the database server; `None` for the embedded one, which loses nothing.
pub(in crate::presence) async fn server_start(db: &Db) -> Result<Option<Millis>, Error> {
    if db.backend() == Backend::Sqlite {
        return Ok(None);
    }
    // Crosses networks: it reads no table.
    let sql = "SELECT CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000 AS BIGINT)";
    db.reserved().query(sql).one().await.map(|(started_at,): (Millis,)| Some(started_at))
}

/// Saves an online server. The time it was first seen stays.
pub(in crate::presence) async fn save_server(
    tx: &mut Tx,
    network: NetworkId,
    server: &SavedServer,
) -> Result<(), Error> {
    let info = &*server.info;
    tx.query(
        "INSERT INTO servers (network_id, server_id, server_type, game_type, role, display_name, search_text,
             max_players, host, port, region, country, plugin_version, plugin_build, plugin_commit, platform_name,
             platform_version, plugins, first_seen, last_seen, started_at, present, game_state, players_to_start, worlds)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $19, true,
             $21, $22, $23)
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
    .bind(&info.server_id)
    .bind(&info.server_type)
    .bind(&info.game_type)
    .bind(info.role.as_ref())
    .bind(&info.display_name)
    .bind(search_text(&info.server_id, info.display_name.as_deref()))
    .bind(i64::from(info.max_players))
    .bind(&info.host)
    .bind(i64::from(info.port))
    .bind(info.region.as_str())
    .bind(&info.country)
    .bind(&info.software.version)
    .bind(info.software.build)
    .bind(&info.software.commit)
    .bind(&info.software.platform_name)
    .bind(&info.software.platform_version)
    .bind(json(&info.software.plugins))
    .bind(server.started_at)
    .bind(server.last_heartbeat)
    .bind(&server.game_state)
    .bind(i64::from(server.players_to_start))
    .bind(json(&server.worlds))
    .execute()
    .await?;
    Ok(())
}

/// Saves the times of heartbeats.
pub(in crate::presence) async fn update_last_seen(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    heartbeats: &[(Arc<str>, Millis)],
) -> Result<(), Error> {
    if heartbeats.is_empty() {
        return Ok(());
    }
    on.into()
        .write(Sql {
            sqlite: "UPDATE servers SET last_seen = heartbeats.at
                     FROM (SELECT value ->> 0 AS id, value ->> 1 AS at FROM json_each($2)) AS heartbeats
                     WHERE network_id = $1 AND server_id = heartbeats.id",
            postgres: "UPDATE servers SET last_seen = CAST(heartbeats.pair ->> 1 AS BIGINT)
                       FROM jsonb_array_elements(CAST($2 AS JSONB)) AS heartbeats (pair)
                       WHERE network_id = $1 AND server_id = heartbeats.pair ->> 0",
        })
        .bind(network)
        .bind(json(&heartbeats))
        .execute()
        .await?;
    Ok(())
}

/// Saves that the server is offline, unless a later heartbeat was saved.
pub(in crate::presence) async fn mark_offline(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    last_heartbeat: Millis,
) -> Result<(), Error> {
    tx.query(
        "UPDATE servers SET present = false, last_seen = $3
         WHERE network_id = $1 AND server_id = $2 AND last_seen <= $3",
    )
    .bind(network)
    .bind(id)
    .bind(last_heartbeat)
    .execute()
    .await?;
    Ok(())
}

macro_rules! save_players {
    ($player:literal, $row:literal, $joined_at:literal, $rows:literal) => {
        concat!(
            "INSERT INTO server_players
                 (network_id, player_id, server_id, player_name, world_id, previous_world_id, joined_at)
             SELECT $1, ",
            $player,
            ", ",
            $row,
            " ->> 1, ",
            $row,
            " ->> 2, ",
            $row,
            " ->> 3, ",
            $row,
            " ->> 4, ",
            $joined_at,
            " FROM ",
            $rows,
            " ON CONFLICT (network_id, player_id) DO UPDATE SET
                 server_id = excluded.server_id, player_name = excluded.player_name, world_id = excluded.world_id,
                 previous_world_id = excluded.previous_world_id, joined_at = excluded.joined_at"
        )
    };
}
const SAVE_PLAYERS: Sql = Sql {
    sqlite: save_players!("unhex(value ->> 0)", "value", "value ->> 5", "json_each($2) WHERE true"),
    postgres: save_players!(
        "CAST(saved ->> 0 AS UUID)",
        "saved",
        "CAST(saved ->> 5 AS BIGINT)",
        "jsonb_array_elements(CAST($2 AS JSONB)) AS players (saved)"
    ),
};

/// Saves the locations of players.
pub(in crate::presence) async fn save_players(
    tx: &mut Tx,
    network: NetworkId,
    players: &[SavedPlayer],
) -> Result<(), Error> {
    let row = |it: &SavedPlayer| {
        let id = it.player.0.simple().to_string();
        serde_json::json!([id, it.server_id, it.name, it.world, it.previous_world, it.joined_at])
    };
    for players in players.chunks(BATCH) {
        let rows: Vec<_> = players.iter().map(row).collect();
        tx.query(SAVE_PLAYERS).bind(network).bind(json(&rows)).execute().await?;
    }
    Ok(())
}

const DELETE_PLAYERS: Sql = Sql {
    sqlite: "DELETE FROM server_players
             WHERE network_id = $1 AND player_id IN (SELECT unhex(value) FROM json_each($2))",
    postgres: "DELETE FROM server_players WHERE network_id = $1 AND player_id IN (
                   SELECT CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value))",
};

/// Deletes the locations of players.
pub(in crate::presence) async fn delete_players(
    tx: &mut Tx,
    network: NetworkId,
    players: &[PlayerId],
) -> Result<(), Error> {
    for players in players.chunks(BATCH) {
        tx.query(DELETE_PLAYERS).bind(network).bind(player_ids(players)).execute().await?;
    }
    Ok(())
}

/// Servers saved as online.
pub(in crate::presence) async fn online_servers(db: &Db, network: NetworkId) -> Result<Vec<SavedServer>, Error> {
    let rows: Vec<ServerRow> = db
        .query(concat!("SELECT ", server_columns!(), " FROM servers WHERE network_id = $1 AND present"))
        .bind(network)
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

/// Players saved as online.
pub(in crate::presence) async fn players(db: &Db, network: NetworkId) -> Result<Vec<SavedPlayer>, Error> {
    let rows: Vec<PlayerRow> = db
        .query(
            "SELECT player_id, server_id, player_name, world_id, previous_world_id, joined_at
             FROM server_players WHERE network_id = $1",
        )
        .bind(network)
        .all()
        .await?;
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

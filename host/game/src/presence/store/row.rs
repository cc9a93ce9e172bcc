//! A row of the table `servers`.

use std::sync::Arc;

use crate::clock::Millis;
use crate::geo::Region;
use crate::presence::memory::{LiveWorld, SavedServer};
use crate::presence::model::{GameState, PluginReport, ServerInfo, Software};
use crate::presence::registry::RegistryRow;
use crate::values::Identifier;

/// Columns of a [`ServerRow`].
macro_rules! server_columns {
    () => {
        "server_id, server_type, game_type, role, display_name, max_players, host, port, region, country, plugin_version,
         plugin_build, plugin_commit, platform_name, platform_version, plugins, first_seen, last_seen, started_at,
         game_state, players_to_start, worlds"
    };
}
pub(super) use server_columns;

#[derive(sqlx::FromRow)]
pub(super) struct ServerRow {
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
    game_state: Option<GameState>,
    players_to_start: i64,
    worlds: String,
}

impl ServerRow {
    pub(super) fn registered(self) -> RegistryRow {
        RegistryRow { first_seen: self.first_seen, last_seen: self.last_seen, info: self.info() }
    }

    pub(super) fn saved(mut self) -> SavedServer {
        SavedServer {
            started_at: self.started_at,
            last_heartbeat: self.last_seen,
            game_state: self.game_state.take(),
            players_to_start: count(self.players_to_start),
            worlds: serde_json::from_str::<Vec<LiveWorld>>(&self.worlds).unwrap_or_default(),
            info: Arc::new(self.info()),
        }
    }

    /// Values that another version of the hub wrote differently are read as absent.
    fn info(self) -> ServerInfo {
        ServerInfo {
            server_id: self.server_id,
            server_type: self.server_type,
            game_type: self.game_type,
            role: self.role.parse().unwrap_or_default(),
            display_name: self.display_name,
            max_players: count(self.max_players),
            host: self.host,
            port: u16::try_from(self.port).unwrap_or_default(),
            region: Region::try_from(self.region).unwrap_or_else(|_| Region::unknown()),
            country: self.country,
            software: Software {
                version: self.plugin_version,
                build: self.plugin_build,
                commit: self.plugin_commit,
                platform_name: self.platform_name,
                platform_version: self.platform_version,
                plugins: serde_json::from_str::<Vec<PluginReport>>(&self.plugins).unwrap_or_default(),
            },
        }
    }
}

fn count(stored: i64) -> u32 {
    u32::try_from(stored).unwrap_or_default()
}

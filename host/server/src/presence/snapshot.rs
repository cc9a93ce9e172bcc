//! A live server as it is served.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::geo::Region;
use crate::presence::model::GameState;
use crate::values::Identifier;

/// A server that is online.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LiveServer {
    /// Its id.
    #[schema(example = "bedwars-1")]
    pub(crate) server_id: Identifier,
    /// What kind of server it is; players are matched by it.
    #[schema(example = "bedwars")]
    pub(crate) server_type: Identifier,
    /// The engine it runs on.
    #[schema(example = "MINECRAFT")]
    pub(crate) game_type: Option<String>,
    /// What players call it.
    pub(crate) display_name: Option<String>,
    /// Players on it.
    pub(crate) current_players: u32,
    /// How many fit; 0: no limit.
    pub(crate) max_players: u32,
    /// Where players reach it.
    #[schema(example = "play.example.org")]
    pub(crate) host: String,
    /// See `host`.
    #[schema(example = 25565)]
    pub(crate) port: u16,
    /// When it came online.
    pub(crate) started_at: Millis,
    /// When it last said that it is there.
    pub(crate) last_heartbeat: Millis,
    /// What is going on on it.
    pub(crate) game_state: Option<GameState>,
    /// Players its game needs to start; 0: it is no minigame.
    pub(crate) players_to_start: u32,
    /// Where it is; UNKNOWN where that is not known.
    pub(crate) region: Region,
    /// Its worlds.
    pub(crate) worlds: Vec<World>,
    /// There is a limit and it is reached.
    pub(crate) full: bool,
    /// For people.
    #[schema(example = "12/100")]
    pub(crate) player_count_display: String,
    /// Not full and, if it is a minigame, IDLE, WAITING or STARTING.
    pub(crate) joinable: bool,
    /// Its game needs players to start.
    pub(crate) minigame_server: bool,
    /// How many of those are missing.
    pub(crate) players_needed_to_start: u32,
    /// The larger of `currentPlayers` and the sum over its worlds.
    pub(crate) total_players: u64,
}

/// A world of a server that is online.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[allow(clippy::struct_field_names, reason = "the names on the wire")]
#[serde(rename_all = "camelCase")]
#[schema(as = LiveWorld)]
pub(crate) struct World {
    /// Its id, unique on its server.
    #[schema(example = "arena-3")]
    pub(crate) world_id: Identifier,
    /// What players call it.
    pub(crate) display_name: Option<String>,
    /// Players in it, as its server last said.
    pub(crate) current_players: u32,
    /// How many fit; 0: no limit.
    pub(crate) max_players: u32,
    /// What is going on in it.
    pub(crate) game_state: Option<GameState>,
    /// Players its game needs to start; 0: it is no minigame.
    pub(crate) players_to_start: u32,
    /// What kind of world it is; players are matched by it.
    #[schema(example = "duel")]
    pub(crate) world_type: Option<Identifier>,
    /// There is a limit and it is reached.
    pub(crate) full: bool,
    /// For people.
    #[schema(example = "3/8")]
    pub(crate) player_count_display: String,
    /// Not full and, if it is a minigame, IDLE, WAITING or STARTING.
    pub(crate) joinable: bool,
    /// Its game needs players to start.
    pub(crate) minigame_world: bool,
    /// How many of those are missing.
    pub(crate) players_needed_to_start: u32,
}

//! A live server in answers.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::geo::Region;
use crate::presence::model::GameState;
use crate::values::Identifier;

/// A server that is online.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveServer {
    #[schema(example = "bedwars-1")]
    pub server_id: Identifier,
    /// Type of the server; matches select by it.
    #[schema(example = "bedwars")]
    pub server_type: Identifier,
    /// Engine of the server.
    #[schema(example = "MINECRAFT")]
    pub(crate) game_type: Option<String>,
    /// Display name for players.
    pub display_name: Option<String>,
    /// Number of players on it.
    pub current_players: u32,
    /// Maximum number of players; 0: no limit.
    pub max_players: u32,
    /// Address for players.
    #[schema(example = "play.example.org")]
    pub host: String,
    /// Port for players.
    #[schema(example = 25565)]
    pub port: u16,
    /// Time at which it came online.
    pub started_at: Millis,
    /// Time of its last heartbeat.
    pub(crate) last_heartbeat: Millis,
    /// State of its game.
    pub game_state: Option<GameState>,
    /// Number of players its game needs to start; 0: not a minigame.
    pub players_to_start: u32,
    /// Region of the server; UNKNOWN if it could not be located.
    pub region: Region,
    pub worlds: Vec<World>,
    /// True if there is a limit and it is reached.
    pub full: bool,
    /// Human-readable number of players.
    #[schema(example = "12/100")]
    pub(crate) player_count_display: String,
    /// True if not full and, for a minigame, IDLE, WAITING or STARTING.
    pub joinable: bool,
    /// True if its game needs players to start.
    pub(crate) minigame_server: bool,
    /// Number of players still missing to start.
    pub(crate) players_needed_to_start: u32,
    /// The larger of `currentPlayers` and the sum over its worlds.
    pub(crate) total_players: u64,
}

/// A world of a server that is online.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[allow(clippy::struct_field_names, reason = "the names on the wire")]
#[serde(rename_all = "camelCase")]
#[schema(as = LiveWorld)]
pub struct World {
    /// Id, unique on its server.
    #[schema(example = "arena-3")]
    pub world_id: Identifier,
    /// Display name for players.
    pub display_name: Option<String>,
    /// Number of players in it, as last reported by its server.
    pub current_players: u32,
    /// Maximum number of players; 0: no limit.
    pub max_players: u32,
    /// State of its game.
    pub game_state: Option<GameState>,
    /// Number of players its game needs to start; 0: not a minigame.
    pub players_to_start: u32,
    /// Type of the world; matches select by it.
    #[schema(example = "duel")]
    pub world_type: Option<Identifier>,
    /// True if there is a limit and it is reached.
    pub full: bool,
    /// Human-readable number of players.
    #[schema(example = "3/8")]
    pub(crate) player_count_display: String,
    /// True if not full and, for a minigame, IDLE, WAITING or STARTING.
    pub joinable: bool,
    /// True if its game needs players to start.
    pub(crate) minigame_world: bool,
    /// Number of players still missing to start.
    pub(crate) players_needed_to_start: u32,
}

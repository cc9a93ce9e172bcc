//! `matchmaking.wit`.

use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// `free_slots` of a candidate without a limit.
pub const UNLIMITED_SLOTS: u32 = u32::MAX;

/// State of the game on a server or world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(enum)]
#[serde(rename_all = "UPPERCASE")]
#[repr(u8)]
pub enum GameState {
    /// No players are playing or waiting.
    #[component(name = "idle")]
    Idle,
    /// Waiting for more players.
    #[component(name = "waiting")]
    Waiting,
    /// About to start.
    #[component(name = "starting")]
    Starting,
    /// A game is running.
    #[component(name = "playing")]
    Playing,
    /// A server-defined state.
    #[component(name = "other")]
    Other,
}

impl GameState {
    /// State for a server's own text.
    pub fn from_text(state: &str) -> Self {
        match state {
            "IDLE" => Self::Idle,
            "WAITING" => Self::Waiting,
            "STARTING" => Self::Starting,
            "PLAYING" => Self::Playing,
            _ => Self::Other,
        }
    }

    /// Its text; `None` for a server-defined state.
    pub fn text(self) -> Option<&'static str> {
        match self {
            Self::Idle => Some("IDLE"),
            Self::Waiting => Some("WAITING"),
            Self::Starting => Some("STARTING"),
            Self::Playing => Some("PLAYING"),
            Self::Other => None,
        }
    }
}

/// Request of a player for a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct MatchRequest {
    /// Player to be sent, if the caller named one.
    #[component(name = "player-uuid")]
    pub player_uuid: Option<String>,
    /// Name of that player.
    #[component(name = "player-name")]
    pub player_name: Option<String>,
    /// The number of the player's region in this call.
    #[component(name = "region")]
    pub region: u16,
    /// Requested server type.
    #[component(name = "server-type")]
    pub server_type: String,
    /// Requested world type, when worlds are ranked.
    #[component(name = "world-type")]
    pub world_type: Option<String>,
    /// Game whose owner the player would like to be near.
    #[component(name = "affinity-game-id")]
    pub affinity_game_id: Option<String>,
    /// Kind of that owner.
    #[component(name = "affinity-owner-scope")]
    pub affinity_owner_scope: Option<String>,
    /// Id of the owner.
    #[component(name = "affinity-owner-id")]
    pub affinity_owner_id: Option<String>,
}

/// A server the player could join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct ServerCandidate {
    /// Its position in the list, set by the sandbox.
    #[component(name = "index")]
    #[serde(default)]
    pub index: u32,
    /// The number of its region in this call.
    #[component(name = "region")]
    pub region: u16,
    /// State of its game.
    #[component(name = "state")]
    pub state: GameState,
    /// True if the requested owner is live on it.
    #[component(name = "affinity")]
    pub affinity: bool,
    /// Players on it.
    #[component(name = "current-players")]
    pub current_players: u32,
    /// 0 without a limit.
    #[component(name = "max-players")]
    pub max_players: u32,
    /// Slots left after players and reservations; [`UNLIMITED_SLOTS`] without a limit.
    #[component(name = "free-slots")]
    pub free_slots: u32,
    /// Players its game needs to start; 0 if it is no minigame.
    #[component(name = "players-to-start")]
    pub players_to_start: u32,
    /// Number of missing players.
    #[component(name = "players-needed")]
    pub players_needed: u32,
}

/// A world the player could join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct WorldCandidate {
    /// Its position in the list, set by the sandbox.
    #[component(name = "index")]
    #[serde(default)]
    pub index: u32,
    /// The number of its server's region in this call.
    #[component(name = "region")]
    pub region: u16,
    /// State of its game.
    #[component(name = "state")]
    pub state: GameState,
    /// True if it is the world of the requested owner.
    #[component(name = "affinity")]
    pub affinity: bool,
    /// Players in it.
    #[component(name = "current-players")]
    pub current_players: u32,
    /// 0 without a limit.
    #[component(name = "max-players")]
    pub max_players: u32,
    /// Slots left in it and on its server; [`UNLIMITED_SLOTS`] without a limit.
    #[component(name = "free-slots")]
    pub free_slots: u32,
    /// Players its game needs to start; 0 if it is no minigame.
    #[component(name = "players-to-start")]
    pub players_to_start: u32,
    /// Number of missing players.
    #[component(name = "players-needed")]
    pub players_needed: u32,
    /// Worlds of this call with the same number are on the same server.
    #[component(name = "server")]
    pub server: u32,
    /// Slots left on its server; [`UNLIMITED_SLOTS`] without a limit.
    #[component(name = "server-free-slots")]
    pub server_free_slots: u32,
}

/// Refusal to match any candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
pub struct Refusal {
    /// Shown to the player.
    #[component(name = "reason")]
    pub reason: String,
}

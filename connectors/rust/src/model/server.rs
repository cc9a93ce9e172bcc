//! Servers.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What a server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ServerRole {
    /// A game server.
    #[default]
    Game,
    /// A proxy.
    Proxy,
}

/// What a server registers with: `ServerInfo { max_players: Some(20), ..ServerInfo::new("lobby-1", "lobby", 25565) }`.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// The server's id, of its own.
    pub server_id: String,
    /// What matchmaking finds it by.
    pub server_type: String,
    /// The port that players reach it at.
    pub port: u16,
    /// Where players reach it; none: the address that the hub sees.
    pub host: Option<String>,
    /// What players call it.
    pub display_name: Option<String>,
    /// Its engine: `MINECRAFT` or `HYTALE`.
    pub game_type: Option<String>,
    /// Game server or proxy.
    pub role: ServerRole,
    /// How many players fit; none: without limit.
    pub max_players: Option<u32>,
    /// Its address on the internet, to find its region by, where `host` is none.
    pub public_ip: Option<String>,
    /// Its region, such as `EUROPE`; none: that of its addresses.
    pub region: Option<String>,
    /// The version of the plugin that embeds this crate.
    pub plugin_version: Option<String>,
    /// Its build.
    pub plugin_build: Option<u32>,
    /// Its commit.
    pub plugin_commit: Option<String>,
    /// What the server runs on.
    pub platform_name: Option<String>,
    /// The version of that.
    pub platform_version: Option<String>,
    /// The plugins it runs; none leaves them as they were.
    pub plugins: Option<Vec<PluginReport>>,
}

impl ServerInfo {
    /// A server with an id of its own, a type, and the port that players reach it at.
    pub fn new(server_id: &str, server_type: &str, port: u16) -> Self {
        Self { server_id: server_id.to_owned(), server_type: server_type.to_owned(), port, ..Self::default() }
    }
}

/// A plugin that a server runs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginReport {
    /// The plugin.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Whether it is on.
    pub enabled: Option<bool>,
}

/// What changes while a server runs: its game's state and its worlds. None leaves a field as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerState {
    /// Such as `WAITING` or `PLAYING`.
    pub game_state: Option<String>,
    /// Players that its game needs; 0 is no minigame.
    pub players_to_start: Option<u32>,
    /// All its worlds.
    pub worlds: Option<Vec<WorldState>>,
}

/// A world of a server, as the server reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldState {
    /// Names it on its server.
    pub world_id: String,
    /// What players call it.
    pub display_name: Option<String>,
    /// Players in it.
    pub current_players: u32,
    /// How many fit; 0 is no limit.
    pub max_players: u32,
    /// Its game's state.
    pub game_state: Option<String>,
    /// Players that its game needs; 0 is no minigame.
    pub players_to_start: u32,
    /// What matchmaking finds it by.
    pub world_type: Option<String>,
}

/// A player on a server, for heartbeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlayerName {
    /// The player.
    pub uuid: Uuid,
    /// The name.
    pub name: Option<String>,
}

/// The answer to a registration.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Registered {
    /// The server.
    pub server_id: String,
    /// How often to send a heartbeat, in milliseconds.
    pub heartbeat_interval_ms: u64,
    /// The silence after which the hub takes the server for offline, in milliseconds.
    pub offline_after_ms: u64,
    /// Verifies transfer commands. The network's, so keep it secret.
    pub signing_secret: String,
}

/// A server of the registry, online or not.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerRecord {
    /// The server.
    pub server_id: String,
    /// Its type.
    pub server_type: String,
    /// What it is.
    pub role: ServerRole,
    /// `CONNECTED`, `HEARTBEAT_ONLY` or `DISCONNECTED`.
    pub connectivity: String,
    /// `ONLINE`, `OFFLINE` or `PROVISIONING`.
    pub status: String,
    /// What players call it.
    pub display_name: Option<String>,
    /// Whether its heartbeats come.
    pub online: bool,
    /// When it was heard last.
    pub last_seen: i64,
    /// What it reports, while online.
    pub live: Option<LiveServer>,
}

/// A page of servers.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct ServerPage {
    /// The servers.
    pub items: Vec<ServerRecord>,
    /// Its number, from 0.
    pub page: u32,
    /// How many fit on it.
    pub limit: u32,
    /// How many there are on all pages.
    pub total: u64,
}

/// A server that is online.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LiveServer {
    /// The server.
    pub server_id: String,
    /// Its type.
    pub server_type: String,
    /// What players call it.
    pub display_name: Option<String>,
    /// Where players reach it.
    pub host: String,
    /// Where players reach it.
    pub port: u16,
    /// Players on it.
    pub current_players: u32,
    /// How many fit; 0 is no limit.
    pub max_players: u32,
    /// Its game's state.
    pub game_state: Option<String>,
    /// Players that its game needs; 0 is no minigame.
    pub players_to_start: u32,
    /// Whether players may be sent there.
    pub joinable: bool,
    /// Its region.
    pub region: Option<String>,
    /// Its worlds.
    #[serde(default)]
    pub worlds: Vec<LiveWorld>,
}

/// A world of a server that is online.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LiveWorld {
    /// Names it on its server.
    pub world_id: String,
    /// What players call it.
    pub display_name: Option<String>,
    /// Players in it.
    pub current_players: u32,
    /// How many fit; 0 is no limit.
    pub max_players: u32,
    /// Its game's state.
    pub game_state: Option<String>,
    /// What matchmaking finds it by.
    pub world_type: Option<String>,
    /// Whether players may be sent there.
    pub joinable: bool,
}

/// A player who is online.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OnlinePlayer {
    /// The player.
    pub player_uuid: Uuid,
    /// The name.
    pub player_name: Option<String>,
    /// Where.
    pub server_id: String,
    /// The server's type.
    pub server_type: String,
}

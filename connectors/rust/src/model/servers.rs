// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What the provisioner shall bring a machine to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum DesiredState {
    Running,
    Stopped,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// How far a machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ProvisioningPhase {
    Provisioning,
    AwaitingAuth,
    Registered,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// How the hub reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ServerConnectivity {
    Connected,
    HeartbeatOnly,
    Disconnected,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// What a server is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ServerRole {
    Game,
    Proxy,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Whether a server is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ServerStatus {
    Online,
    Offline,
    Provisioning,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleCommandReport {
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the command printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// That of the `EXECUTE_COMMAND` event.
    pub request_id: String,
    pub success: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeartbeatPlayer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub uuid: Uuid,
}

/// A server of the network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedServer {
    /// What its connector said of itself.
    pub build_info: Option<ServerBuild>,
    pub connectivity: Option<ServerConnectivity>,
    /// Its container; null unless a node agent has polled for it in the last 30 s.
    pub control: Option<ServerControl>,
    pub display_name: Option<String>,
    pub first_seen: i64,
    pub game_type: Option<String>,
    /// Two upper-case letters.
    pub geo_country: Option<String>,
    /// UNKNOWN where it could not be located.
    pub geo_region: Option<String>,
    /// Where players last reached it.
    pub last_host: Option<String>,
    /// See `lastHost`.
    pub last_port: Option<u32>,
    /// Its last heartbeat, while it is online.
    pub last_seen: i64,
    /// What it is doing; null while it is offline.
    pub live: Option<LiveServer>,
    /// How many players fit; 0: no limit.
    pub max_players: Option<u32>,
    pub online: bool,
    /// What it runs on.
    pub platform: Option<ServerPlatform>,
    /// The ports it is known to serve on.
    pub ports: Option<Vec<ServerPort>>,
    /// The hub had its machine made.
    pub provisioned: Option<bool>,
    pub role: Option<ServerRole>,
    pub server_id: String,
    pub server_type: Option<String>,
    pub status: ServerStatus,
    pub provisioning: Option<ProvisioningInfo>,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedServerPage {
    /// The rows of this page.
    pub items: Vec<ListedServer>,
    /// The most rows a page has.
    pub limit: i64,
    /// Which page this is; the first is 0.
    pub page: i64,
    /// How many rows there are on all pages.
    pub total: i64,
}

/// A server that is online.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LiveServer {
    /// Players on it.
    pub current_players: u32,
    /// What players call it.
    pub display_name: Option<String>,
    /// There is a limit and it is reached.
    pub full: bool,
    /// What is going on on it.
    pub game_state: Option<String>,
    /// The engine it runs on.
    pub game_type: Option<String>,
    /// Where players reach it.
    pub host: String,
    /// Not full and, if it is a minigame, IDLE, WAITING or STARTING.
    pub joinable: bool,
    /// When it last said that it is there.
    pub last_heartbeat: i64,
    /// How many fit; 0: no limit.
    pub max_players: u32,
    /// Its game needs players to start.
    pub minigame_server: bool,
    /// For people.
    pub player_count_display: String,
    /// How many of those are missing.
    pub players_needed_to_start: u32,
    /// Players its game needs to start; 0: it is no minigame.
    pub players_to_start: u32,
    /// See `host`.
    pub port: u32,
    /// Where it is; UNKNOWN where that is not known.
    pub region: String,
    /// Its id.
    pub server_id: String,
    /// What kind of server it is; players are matched by it.
    pub server_type: String,
    /// When it came online.
    pub started_at: i64,
    /// The larger of `currentPlayers` and the sum over its worlds.
    pub total_players: u64,
    /// Its worlds.
    pub worlds: Vec<LiveWorld>,
}

/// A world of a server that is online.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LiveWorld {
    /// Players in it, as its server last said.
    pub current_players: u32,
    /// What players call it.
    pub display_name: Option<String>,
    /// There is a limit and it is reached.
    pub full: bool,
    /// What is going on in it.
    pub game_state: Option<String>,
    /// Not full and, if it is a minigame, IDLE, WAITING or STARTING.
    pub joinable: bool,
    /// How many fit; 0: no limit.
    pub max_players: u32,
    /// Its game needs players to start.
    pub minigame_world: bool,
    /// For people.
    pub player_count_display: String,
    /// How many of those are missing.
    pub players_needed_to_start: u32,
    /// Players its game needs to start; 0: it is no minigame.
    pub players_to_start: u32,
    /// Its id, unique on its server.
    pub world_id: String,
    /// What kind of world it is; players are matched by it.
    pub world_type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerJoin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    /// The server the player has come to; it must be online.
    pub server_id: String,
    /// Not looked at: the type is that of the register call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerWorldChange {
    /// The world they are in now.
    pub new_world_id: String,
    pub player_uuid: Uuid,
    /// The world they were in; absent: the one last noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_world_id: Option<String>,
    /// The server the player is on.
    pub server_id: String,
}

/// A plugin that runs on a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginReport {
    /// Whether it is switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A player who is online.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PresenceRecord {
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    pub server_id: String,
    pub server_type: String,
}

/// What is known of a machine that is being made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProvisioningInfo {
    pub desired_state: DesiredState,
    pub ipv4: Option<String>,
    pub phase: ProvisioningPhase,
    /// Who makes it.
    pub provider: Option<String>,
    pub region: Option<String>,
    /// What kind of machine it is.
    pub server_vm_type: Option<String>,
}

/// The build of a server's connector.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerBuild {
    pub build: Option<i64>,
    pub commit: Option<String>,
    pub version: Option<String>,
}

/// A server's container, as its node agent reports it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerControl {
    /// What the agent can do.
    pub capabilities: Vec<String>,
    /// Such as CREATED, RUNNING or EXITED.
    pub container_state: Option<String>,
    /// For people.
    pub container_status: Option<String>,
    /// How it ended last; null while it never has.
    pub exit_code: Option<i64>,
    /// The node it runs on.
    pub node_id: String,
    /// It ended for want of memory.
    pub out_of_memory: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerHeartbeat {
    /// What is going on on it; absent: as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_version: Option<String>,
    /// Everybody who is on it: who is not listed has left. Absent: as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players: Option<Vec<HeartbeatPlayer>>,
    /// Players its game needs to start; absent: as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players_to_start: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_build: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<PluginReport>>,
    pub server_id: String,
    /// Not looked at: the type is that of the register call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// All its worlds; absent: as they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worlds: Option<Vec<WorldReport>>,
}

/// The software a server runs on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerPlatform {
    pub name: Option<String>,
    pub version: Option<String>,
}

/// A port of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerPort {
    /// It was found in use rather than given by the hub.
    pub adopted: bool,
    pub port: u32,
    pub protocol: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerRegistration {
    /// What players call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What is going on on it. A minigame takes players in IDLE, WAITING and STARTING.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<String>,
    /// The engine it runs on, one of those the hub is set up for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<String>,
    /// Where players reach it; blank or absent: the address this request comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How many players fit; absent or 0: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_players: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_version: Option<String>,
    /// Players its game needs to start; absent or 0: it is no minigame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players_to_start: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_build: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<PluginReport>>,
    /// Where players reach it, 1 to 65535.
    pub port: u16,
    /// Its address as seen from outside, to find out where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_ip: Option<String>,
    /// Where it is; absent: found by GeoIP from `publicIp`, `host` or the address this request comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// GAME when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<ServerRole>,
    /// Unique in the network.
    pub server_id: String,
    /// What kind of server it is; players are matched by it.
    pub server_type: String,
    /// Its worlds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worlds: Option<Vec<WorldReport>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerSession {
    /// How often to send a heartbeat, in milliseconds.
    pub heartbeat_interval_ms: i64,
    /// Time after its last heartbeat at which the server is offline, in milliseconds.
    pub offline_after_ms: i64,
    pub server_id: String,
    /// Signed commands are verified with this; it is the same for all servers of the network.
    pub signing_secret: String,
}

/// A world as its server reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldReport {
    /// Players in it; absent: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_players: Option<u32>,
    /// What players call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What is going on in it. A minigame takes players in IDLE, WAITING and STARTING.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<String>,
    /// How many fit; absent or 0: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_players: Option<u32>,
    /// Players its game needs to start; absent or 0: it is no minigame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players_to_start: Option<u32>,
    /// Unique on its server; of two with one id the later counts.
    pub world_id: String,
    /// What kind of world it is; players are matched by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_type: Option<String>,
}

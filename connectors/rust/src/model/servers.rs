// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Desired state of a machine.
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

/// Phase of a machine.
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

/// Connection of the hub to a server.
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

/// Role of a server.
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

/// Status of a server.
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
    /// Reason for the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Output of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Id from the `EXECUTE_COMMAND` event.
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
    /// Build of its connector, as reported.
    pub build_info: Option<ServerBuild>,
    pub connectivity: Option<ServerConnectivity>,
    /// Its container; null unless a node agent has polled for it in the last 30 s.
    pub control: Option<ServerControl>,
    pub display_name: Option<String>,
    pub first_seen: i64,
    pub game_type: Option<String>,
    /// ISO country code of two upper-case letters.
    pub geo_country: Option<String>,
    /// UNKNOWN if it could not be located.
    pub geo_region: Option<String>,
    /// Last address for players.
    pub last_host: Option<String>,
    /// Last port for players.
    pub last_port: Option<u32>,
    /// Time of its last heartbeat.
    pub last_seen: i64,
    /// Live state; null while it is offline.
    pub live: Option<LiveServer>,
    /// Maximum number of players; 0: no limit.
    pub max_players: Option<u32>,
    pub online: bool,
    /// Platform it runs on.
    pub platform: Option<ServerPlatform>,
    /// Ports it is known to serve on.
    pub ports: Option<Vec<ServerPort>>,
    /// True if its machine was provisioned.
    pub provisioned: Option<bool>,
    pub role: Option<ServerRole>,
    pub server_id: String,
    pub server_type: Option<String>,
    pub status: ServerStatus,
    pub provisioning: Option<ProvisioningInfo>,
}

/// Page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedServerPage {
    /// Rows of this page.
    pub items: Vec<ListedServer>,
    /// Maximum number of rows per page.
    pub limit: i64,
    /// Number of this page, from 0.
    pub page: i64,
    /// Number of rows on all pages.
    pub total: i64,
}

/// A server that is online.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LiveServer {
    /// Number of players on it.
    pub current_players: u32,
    /// Display name for players.
    pub display_name: Option<String>,
    /// True if there is a limit and it is reached.
    pub full: bool,
    /// State of its game.
    pub game_state: Option<String>,
    /// Engine of the server.
    pub game_type: Option<String>,
    /// Address for players.
    pub host: String,
    /// True if not full and, for a minigame, IDLE, WAITING or STARTING.
    pub joinable: bool,
    /// Time of its last heartbeat.
    pub last_heartbeat: i64,
    /// Maximum number of players; 0: no limit.
    pub max_players: u32,
    /// True if its game needs players to start.
    pub minigame_server: bool,
    /// Human-readable number of players.
    pub player_count_display: String,
    /// Number of players still missing to start.
    pub players_needed_to_start: u32,
    /// Number of players its game needs to start; 0: not a minigame.
    pub players_to_start: u32,
    /// Port for players.
    pub port: u32,
    /// Region of the server; UNKNOWN if it could not be located.
    pub region: String,
    pub server_id: String,
    /// Type of the server; matches select by it.
    pub server_type: String,
    /// Time at which it came online.
    pub started_at: i64,
    /// The larger of `currentPlayers` and the sum over its worlds.
    pub total_players: u64,
    pub worlds: Vec<LiveWorld>,
}

/// A world of a server that is online.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LiveWorld {
    /// Number of players in it, as last reported by its server.
    pub current_players: u32,
    /// Display name for players.
    pub display_name: Option<String>,
    /// True if there is a limit and it is reached.
    pub full: bool,
    /// State of its game.
    pub game_state: Option<String>,
    /// True if not full and, for a minigame, IDLE, WAITING or STARTING.
    pub joinable: bool,
    /// Maximum number of players; 0: no limit.
    pub max_players: u32,
    /// True if its game needs players to start.
    pub minigame_world: bool,
    /// Human-readable number of players.
    pub player_count_display: String,
    /// Number of players still missing to start.
    pub players_needed_to_start: u32,
    /// Number of players its game needs to start; 0: not a minigame.
    pub players_to_start: u32,
    /// Id, unique on its server.
    pub world_id: String,
    /// Type of the world; matches select by it.
    pub world_type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerJoin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    /// Server that the player joined; it must be online.
    pub server_id: String,
    /// Ignored: the type is that of the register call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerWorldChange {
    /// Current world.
    pub new_world_id: String,
    pub player_uuid: Uuid,
    /// Previous world. Default: the last recorded one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_world_id: Option<String>,
    /// Server that the player is on.
    pub server_id: String,
}

/// A plugin on a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginReport {
    /// True if it is enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
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

/// State of a machine that is being provisioned.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProvisioningInfo {
    pub desired_state: DesiredState,
    pub ipv4: Option<String>,
    pub phase: ProvisioningPhase,
    /// Name of the provider.
    pub provider: Option<String>,
    pub region: Option<String>,
    /// Type of the machine.
    pub server_vm_type: Option<String>,
}

/// Build of a server's connector.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerBuild {
    pub build: Option<i64>,
    pub commit: Option<String>,
    pub version: Option<String>,
}

/// A server's container, as reported by its node agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerControl {
    /// Capabilities of the agent.
    pub capabilities: Vec<String>,
    /// State, such as CREATED, RUNNING or EXITED.
    pub container_state: Option<String>,
    /// Human-readable status.
    pub container_status: Option<String>,
    /// Exit code of the last run; null if it never ended.
    pub exit_code: Option<i64>,
    /// Node it runs on.
    pub node_id: String,
    /// True if it was ended for lack of memory.
    pub out_of_memory: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerHeartbeat {
    /// State of its game. Default: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_version: Option<String>,
    /// All players on it: unlisted ones have left. Default: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players: Option<Vec<HeartbeatPlayer>>,
    /// Number of players its game needs to start. Default: unchanged.
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
    /// Ignored: the type is that of the register call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// All its worlds. Default: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worlds: Option<Vec<WorldReport>>,
}

/// Platform of a server.
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
    /// True if it was detected in use rather than assigned by the hub.
    pub adopted: bool,
    pub port: u32,
    pub protocol: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerRegistration {
    /// Display name for players.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// State of its game. A minigame accepts players in IDLE, WAITING and STARTING.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<String>,
    /// Engine of the server, one of those configured at the hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<String>,
    /// Address for players; blank or absent: the remote address of this request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Maximum number of players; absent or 0: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_players: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_version: Option<String>,
    /// Number of players its game needs to start; absent or 0: not a minigame.
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
    /// Port for players, 1 to 65535.
    pub port: u16,
    /// Its public address, used to locate it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_ip: Option<String>,
    /// Region of the server. Default: GeoIP of `publicIp`, `host` or the remote address of this request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Default: GAME.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<ServerRole>,
    /// Unique in the network.
    pub server_id: String,
    /// Type of the server; matches select by it.
    pub server_type: String,
    /// Its worlds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worlds: Option<Vec<WorldReport>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerSession {
    /// Interval of heartbeats, in milliseconds.
    pub heartbeat_interval_ms: i64,
    /// Time after its last heartbeat at which the server goes offline, in milliseconds.
    pub offline_after_ms: i64,
    pub server_id: String,
    /// Secret to verify signed commands with; the same for all servers of the network.
    pub signing_secret: String,
}

/// A world as reported by its server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldReport {
    /// Players in it. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_players: Option<u32>,
    /// Display name for players.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// State of its game. A minigame accepts players in IDLE, WAITING and STARTING.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<String>,
    /// Maximum number of players; absent or 0: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_players: Option<u32>,
    /// Number of players its game needs to start; absent or 0: not a minigame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players_to_start: Option<u32>,
    /// Unique on its server; of two with one id the later counts.
    pub world_id: String,
    /// Type of the world; matches select by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_type: Option<String>,
}

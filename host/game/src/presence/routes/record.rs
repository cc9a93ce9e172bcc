//! A registered server in a list.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::geo::Region;
use crate::presence::AgentReport;
use crate::presence::sessions::Reachability;
use crate::presence::{LiveServer, RegisteredServer, Role};
use crate::values::Identifier;

/// A registry row joined with presence.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServerRecord {
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    #[schema(example = "bedwars")]
    server_type: Identifier,
    #[schema(example = "MINECRAFT")]
    game_type: Option<String>,
    role: Role,
    connectivity: Connectivity,
    #[schema(example = "Bedwars One")]
    display_name: Option<String>,
    /// Maximum number of players; 0: no limit.
    max_players: u32,
    status: Status,
    /// Last address for players.
    #[schema(example = "10.0.0.7")]
    last_host: String,
    /// Last port for players.
    #[schema(example = 25565)]
    last_port: u16,
    first_seen: Millis,
    /// Time of its last heartbeat.
    last_seen: Millis,
    online: bool,
    /// Live state; null while it is offline.
    live: Option<LiveServer>,
    /// UNKNOWN if it could not be located.
    geo_region: Region,
    /// ISO country code of two upper-case letters.
    #[schema(example = "DE")]
    geo_country: Option<String>,
    /// Its container; null unless a node agent has polled for it in the last 30 s.
    control: Option<Control>,
    /// Build of its connector, as reported.
    build_info: Option<BuildInfo>,
    /// Platform it runs on.
    platform: Option<Platform>,
    /// Ports it is known to serve on.
    ports: Vec<Port>,
    /// True if its machine was provisioned.
    provisioned: bool,
}

/// Status of a server.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = ServerStatus)]
pub(super) enum Status {
    /// Its heartbeats arrive.
    Online,
    /// Its heartbeats have stopped.
    Offline,
    /// Its machine is being provisioned.
    Provisioning,
}

/// Connection of the hub to a server.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = ServerConnectivity)]
pub(super) enum Connectivity {
    /// Its event stream is open.
    Connected,
    /// It sends heartbeats, but has no stream.
    HeartbeatOnly,
    /// No heartbeats and no stream.
    Disconnected,
}

/// A server's container, as reported by its node agent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerControl)]
pub(super) struct Control {
    /// Node it runs on.
    #[schema(example = "node-7")]
    node_id: String,
    /// Capabilities of the agent.
    #[schema(example = json!(["start", "stop", "restart", "kill", "console", "logs", "install"]))]
    capabilities: Vec<String>,
    /// State, such as CREATED, RUNNING or EXITED.
    #[schema(example = "EXITED")]
    container_state: Option<String>,
    /// Human-readable status.
    #[schema(example = "Exited (137) after 3 h")]
    container_status: Option<String>,
    /// Exit code of the last run; null if it never ended.
    #[schema(example = 137)]
    exit_code: Option<i64>,
    /// True if it was ended for lack of memory.
    out_of_memory: Option<bool>,
}

impl From<AgentReport> for Control {
    fn from(report: AgentReport) -> Self {
        Self {
            node_id: report.node_id,
            capabilities: report.capabilities,
            container_state: report.container_state,
            container_status: report.container_status,
            exit_code: report.exit_code,
            out_of_memory: report.out_of_memory,
        }
    }
}

/// Build of a server's connector.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerBuild)]
pub(super) struct BuildInfo {
    #[schema(example = "1.4.0")]
    version: Option<String>,
    build: Option<i64>,
    commit: Option<String>,
}

/// Platform of a server.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerPlatform)]
pub(super) struct Platform {
    #[schema(example = "Paper")]
    name: Option<String>,
    version: Option<String>,
}

/// A port of a server.
#[derive(Debug, Serialize, ToSchema)]
#[allow(clippy::struct_field_names, reason = "the names on the wire")]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerPort)]
pub(super) struct Port {
    #[schema(example = 25565)]
    port: u16,
    #[schema(example = "tcp")]
    protocol: String,
    /// True if it was detected in use rather than assigned by the hub.
    adopted: bool,
}

impl ServerRecord {
    pub(super) fn new(server: RegisteredServer, reachability: Reachability) -> Self {
        let RegisteredServer { row, live, provisioned } = server;
        let info = row.info;
        let online = live.is_some();
        let software = info.software;
        let built = software.version.is_some() || software.build.is_some() || software.commit.is_some();
        let build_info = BuildInfo { version: software.version, build: software.build, commit: software.commit };
        let platformed = software.platform_name.is_some() || software.platform_version.is_some();
        let platform = Platform { name: software.platform_name, version: software.platform_version };
        // Hytale's clients speak QUIC, all others TCP.
        let protocol = if info.game_type.as_deref() == Some("HYTALE") { "udp" } else { "tcp" };
        Self {
            server_id: info.server_id,
            server_type: info.server_type,
            game_type: info.game_type,
            role: info.role,
            connectivity: match (reachability.connected, online) {
                (true, _) => Connectivity::Connected,
                (false, true) => Connectivity::HeartbeatOnly,
                (false, false) => Connectivity::Disconnected,
            },
            display_name: info.display_name,
            max_players: info.max_players,
            status: if online { Status::Online } else { Status::Offline },
            last_host: info.host,
            last_port: info.port,
            first_seen: row.first_seen,
            last_seen: row.last_seen,
            online,
            live,
            geo_region: info.region,
            geo_country: info.country,
            control: reachability.control.map(Control::from),
            build_info: built.then_some(build_info),
            platform: platformed.then_some(platform),
            ports: vec![Port { port: info.port, protocol: protocol.to_owned(), adopted: true }],
            provisioned,
        }
    }
}

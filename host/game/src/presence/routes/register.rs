//! Registering and unregistering servers.

use std::net::IpAddr;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::Plugin;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::geo::Region;
use crate::host::Host;
use crate::http::error::ApiError;
use crate::http::extract::{Json, Query};
use crate::presence::sessions;
use crate::presence::{Count, GameState, PluginReport, Registration, Role, ServerInfo, SoftwareReport, WorldReport};
use crate::secret_text::SecretText;
use crate::values::{Identifier, Text, blank_as_absent};

pub(super) fn router() -> Endpoints {
    endpoints![register: secret, unregister]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerRegistration)]
struct RegisterRequest {
    /// Unique in the network.
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Type of the server; matches select by it.
    #[schema(example = "bedwars")]
    server_type: Identifier,
    /// Engine of the server, one of those configured at the hub.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "MINECRAFT")]
    game_type: Option<Text<255>>,
    /// Default: GAME.
    role: Option<Role>,
    /// Display name for players.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "Bedwars One")]
    display_name: Option<Text<255>>,
    /// Maximum number of players; absent or 0: no limit.
    #[schema(example = 16)]
    max_players: Option<Count>,
    /// Address for players; blank or absent: the remote address of this request.
    #[serde(default, deserialize_with = "blank_as_absent")]
    host: Option<Host>,
    /// Port for players, 1 to 65535.
    #[schema(minimum = 1, maximum = 65535, example = 25565)]
    port: i64,
    /// Its public address, used to locate it.
    #[serde(default, deserialize_with = "blank_as_absent")]
    public_ip: Option<Text<255>>,
    /// Region of the server. Default: GeoIP of `publicIp`, `host` or the remote address of this request.
    #[serde(default, deserialize_with = "blank_as_absent")]
    region: Option<Region>,
    /// State of its game. A minigame accepts players in IDLE, WAITING and STARTING.
    #[serde(default, deserialize_with = "blank_as_absent")]
    game_state: Option<GameState>,
    /// Number of players its game needs to start; absent or 0: not a minigame.
    players_to_start: Option<Count>,
    /// Its worlds.
    worlds: Option<Vec<WorldReport>>,
    plugin_version: Option<Text<255>>,
    plugin_build: Option<i64>,
    plugin_commit: Option<Text<255>>,
    platform_name: Option<Text<255>>,
    platform_version: Option<Text<255>>,
    plugins: Option<Vec<PluginReport>>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerSession)]
struct Registered {
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Interval of heartbeats, in milliseconds.
    #[schema(example = 5000)]
    heartbeat_interval_ms: Millis,
    /// Time after its last heartbeat at which the server goes offline, in milliseconds.
    #[schema(example = 30000)]
    offline_after_ms: Millis,
    /// Secret to verify signed commands with; the same for all servers of the network.
    #[schema(value_type = String)]
    signing_secret: SecretText,
}

/// Register a server
///
/// It is online from now on, as long as its heartbeats arrive. Registering again replaces the previous values; a server
/// that is online keeps its players and its start time.
#[utoipa::path(post, path = "/api/plugin/servers/register", tag = "Servers", operation_id = "register_server", security(("apiKey" = ["plugin"])),
    responses((status = 201, body = Registered)))]
async fn register(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<RegisterRequest>,
) -> Result<(StatusCode, Json<Registered>), ApiError> {
    let port = u16::try_from(body.port).ok().filter(|port| *port > 0);
    let port = port.ok_or_else(|| ApiError::invalid("In the body, `port`: must be from 1 to 65535."))?;
    let public_ip = public_ip(body.public_ip)?;
    let addresses = [public_ip, body.host.as_ref().and_then(Host::address), Some(caller.remote)].into_iter().flatten();
    let place = sessions::locate(&app, body.region, addresses);
    let software = SoftwareReport::new(
        body.plugin_version,
        body.plugin_build,
        body.plugin_commit,
        body.platform_name,
        body.platform_version,
        body.plugins,
    );
    let info = ServerInfo {
        server_id: body.server_id,
        server_type: body.server_type,
        game_type: body.game_type.map(Text::into_string),
        role: body.role.unwrap_or_default(),
        display_name: body.display_name.map(Text::into_string),
        max_players: body.max_players.unwrap_or_default().0,
        host: body.host.map_or_else(|| caller.remote.to_string(), |host| host.plain().to_owned()),
        port,
        region: place.region,
        country: place.country,
        software: software.into(),
    };
    let registration = Registration {
        info,
        game_state: body.game_state,
        players_to_start: body.players_to_start.unwrap_or_default().0,
        worlds: body.worlds.unwrap_or_default(),
    };
    let session = sessions::register(&app, caller.network, registration).await?;
    let answer = Registered {
        server_id: session.server_id,
        heartbeat_interval_ms: session.heartbeat_interval,
        offline_after_ms: session.offline_after,
        signing_secret: session.signing_secret,
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

fn public_ip(sent: Option<Text<255>>) -> Result<Option<IpAddr>, ApiError> {
    let parsed = sent.map(|text| text.as_str().trim().parse());
    parsed.transpose().map_err(|_| ApiError::invalid("In the body, `publicIp`: must be an IP address."))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct UnregisterQuery {
    /// Id of the server.
    server_id: Identifier,
    /// Ignored: the id is sufficient.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[allow(dead_code, reason = "documented by the interface")]
    server_type: Option<Identifier>,
}

/// Unregister a server
///
/// For a clean shutdown: the server is offline at once, and so are its players. It stays in the registry. Unregistering
/// an unknown server is not an error.
#[utoipa::path(post, path = "/api/plugin/servers/unregister", tag = "Servers", operation_id = "unregister_server", security(("apiKey" = ["plugin"])),
    params(UnregisterQuery), responses((status = 204, description = "Offline")))]
async fn unregister(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Query(query): Query<UnregisterQuery>,
) -> Result<StatusCode, ApiError> {
    sessions::unregister(&app, caller.network, &query.server_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

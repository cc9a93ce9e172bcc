//! Heartbeats.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Plugin;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::FrequentJson;
use crate::presence::sessions;
use crate::presence::{Count, GameState, Heartbeat, PluginReport, SoftwareReport, WorldReport};
use crate::values::{Identifier, PlayerId, Text, blank_as_absent};

pub(super) fn router() -> Endpoints {
    endpoints![heartbeat]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerHeartbeat)]
struct HeartbeatRequest {
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Ignored: the type is that of the register call.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[allow(dead_code, reason = "read so that a wrong type is an error, as for every documented field")]
    server_type: Option<Identifier>,
    /// State of its game. Default: unchanged.
    #[serde(default, deserialize_with = "blank_as_absent")]
    game_state: Option<GameState>,
    /// Number of players its game needs to start. Default: unchanged.
    players_to_start: Option<Count>,
    /// All its worlds. Default: unchanged.
    worlds: Option<Vec<WorldReport>>,
    /// All players on it: unlisted ones have left. Default: unchanged.
    players: Option<Vec<HeartbeatPlayer>>,
    plugin_version: Option<Text<255>>,
    plugin_build: Option<i64>,
    plugin_commit: Option<Text<255>>,
    platform_name: Option<Text<255>>,
    platform_version: Option<Text<255>>,
    plugins: Option<Vec<PluginReport>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct HeartbeatPlayer {
    uuid: PlayerId,
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "Notch")]
    name: Option<Identifier>,
}

/// Send a heartbeat
///
/// Expected every five seconds. A server that is silent for longer than the offline time goes offline: its heartbeat,
/// like one after unregistering, is 400 `unknown_server`, and it has to register again. A player in `players` who has
/// recently joined another server stays there: the list is then older than the move.
///
/// A heartbeat of more worlds, players or bytes than the network may have (`worldsPerServer`, `players`,
/// `playersPerServer`, `serverBytes`) is 403 `quota_exceeded`: the server stays online in its last accepted state.
#[utoipa::path(post, path = "/api/plugin/servers/heartbeat", tag = "Servers", operation_id = "send_heartbeat", security(("apiKey" = ["plugin"])),
    request_body = HeartbeatRequest, responses((status = 204, description = "Recorded")))]
async fn heartbeat(
    Plugin(caller): Plugin,
    State(app): State<App>,
    FrequentJson(body): FrequentJson<HeartbeatRequest>,
) -> Result<StatusCode, ApiError> {
    let software = SoftwareReport::new(
        body.plugin_version,
        body.plugin_build,
        body.plugin_commit,
        body.platform_name,
        body.platform_version,
        body.plugins,
    );
    let heartbeat = Heartbeat {
        server_id: body.server_id,
        game_state: body.game_state,
        players_to_start: body.players_to_start.map(|count| count.0),
        worlds: body.worlds,
        players: body.players.map(|players| players.into_iter().map(|player| (player.uuid, player.name)).collect()),
        software,
    };
    sessions::heartbeat(&app, caller.network, heartbeat).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod counts {
    use axum::body::Body;
    use axum::extract::{FromRequest as _, Request};
    use futures_util::FutureExt as _;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::instruction_counts::measured;

    #[test]
    fn read_a_heartbeat() {
        let player =
            |number: u32| json!({"uuid": Uuid::from_u128(u128::from(number)), "name": format!("Player{number}")});
        let world = |number: u32| {
            json!({
                "worldId": format!("world-{number}"), "displayName": format!("World {number}"), "currentPlayers": 10,
                "maxPlayers": 20, "gameState": "WAITING", "playersToStart": 2, "worldType": "duel",
            })
        };
        let body = json!({
            "serverId": "lobby-1", "serverType": "lobby", "gameState": "WAITING", "playersToStart": 2,
            "worlds": (0..5).map(world).collect::<Vec<_>>(), "players": (0..50).map(player).collect::<Vec<_>>(),
            "pluginVersion": "1.0",
        });
        let request = || Request::post("/").body(Body::from(body.to_string())).unwrap();
        let read = |request| FrequentJson::<HeartbeatRequest>::from_request(request, &()).now_or_never().unwrap();
        let (first, second) = (request(), request());
        drop(read(first).unwrap());
        let FrequentJson(heartbeat) = measured(|| read(second)).unwrap();
        assert_eq!((heartbeat.players.unwrap().len(), heartbeat.worlds.unwrap().len()), (50, 5));
    }
}

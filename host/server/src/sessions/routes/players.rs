//! Join, world change, leave, and the players online.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::Plugin;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::servers::PlayerLocation;
use crate::sessions::service;
use crate::values::{Identifier, PlayerId, blank_as_absent, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![list, join, change_world, leave]
}

/// A player who is online.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PresenceRecord {
    player_uuid: PlayerId,
    #[schema(value_type = Option<String>, example = "Notch")]
    player_name: Option<Identifier>,
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    #[schema(example = "bedwars")]
    server_type: Identifier,
}

impl From<PlayerLocation> for PresenceRecord {
    fn from(location: PlayerLocation) -> Self {
        Self {
            player_uuid: location.player,
            player_name: location.player_name,
            server_id: location.server_id,
            server_type: location.server_type,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ListQuery {
    /// Only players on servers of this type.
    server_type: Option<String>,
}

/// List the players online
///
/// By server and then by UUID.
#[utoipa::path(get, path = "/api/plugin/servers/players", tag = "Servers", security(("apiKey" = ["plugin"])),
    params(ListQuery), operation_id = "list_online_players", responses((status = 200, body = Vec<PresenceRecord>)))]
async fn list(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Json<Vec<PresenceRecord>> {
    let players = service::players(&app, caller.network, not_blank(query.server_type.as_deref()));
    Json(players.into_iter().map(PresenceRecord::from).collect())
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Join)]
struct JoinRequest {
    /// The server the player has come to; it must be online.
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Not looked at: the type is that of the register call.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[allow(dead_code, reason = "read so that a wrong type is an error, as for every documented field")]
    server_type: Option<Identifier>,
    player_uuid: PlayerId,
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "Notch")]
    player_name: Option<Identifier>,
}

/// Note that a player joined a server
///
/// A player is on at most one server: a join elsewhere moves them. It uses up the slot that was reserved for them.
#[utoipa::path(post, path = "/api/plugin/servers/players", tag = "Servers", security(("apiKey" = ["plugin"])),
    operation_id = "join_server", responses((status = 204, description = "Present")))]
async fn join(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<JoinRequest>,
) -> Result<StatusCode, ApiError> {
    service::join(&app, caller.network, &body.server_id, body.player_uuid, body.player_name).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChangeWorld)]
struct WorldChangeRequest {
    /// The server the player is on.
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    player_uuid: PlayerId,
    /// The world they are in now.
    #[schema(example = "arena-3")]
    new_world_id: Identifier,
    /// The world they were in; absent: the one last noted.
    #[serde(default, deserialize_with = "blank_as_absent")]
    previous_world_id: Option<Identifier>,
}

/// Note that a player changed worlds
///
/// 400 `player_not_on_server` where the player is not on that server, or not any more.
#[utoipa::path(post, path = "/api/plugin/servers/players/world", tag = "Servers", security(("apiKey" = ["plugin"])),
    responses((status = 204, description = "Noted")))]
async fn change_world(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<WorldChangeRequest>,
) -> Result<StatusCode, ApiError> {
    let WorldChangeRequest { server_id, player_uuid, new_world_id, previous_world_id } = body;
    service::change_world(&app, caller.network, server_id, player_uuid, new_world_id, previous_world_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct LeaveQuery {
    /// The server they left; absent: whichever they are on.
    #[serde(default, deserialize_with = "blank_as_absent")]
    server_id: Option<Identifier>,
}

/// Note that a player left
///
/// A leave from another server than the one the player is on by now changes nothing.
#[utoipa::path(delete, path = "/api/plugin/servers/players/{playerUuid}", tag = "Servers",
    security(("apiKey" = ["plugin"])), params(("playerUuid" = PlayerId, Path), LeaveQuery),
    operation_id = "leave_server", responses((status = 204, description = "Not on that server")))]
async fn leave(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Query(query): Query<LeaveQuery>,
) -> Result<StatusCode, ApiError> {
    service::leave(&app, caller.network, player, query.server_id.as_ref()).await?;
    Ok(StatusCode::NO_CONTENT)
}

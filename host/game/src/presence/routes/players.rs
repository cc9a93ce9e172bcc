//! Join, world change, leave, and the players online.

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{OnlinePlayersRead, Plugin};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::answer::{AnswerBudget, json_size};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::presence::PlayerLocation;
use crate::presence::sessions;
use crate::values::{Identifier, PlayerId, blank_as_absent, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![list: large_answer, join, change_world, leave]
}

/// Cursor of the next part of a list that was cut.
static NEXT_CURSOR: HeaderName = HeaderName::from_static("next-cursor");

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
    /// `Next-Cursor` of the previous answer. Default: from the beginning.
    cursor: Option<String>,
}

/// End of an answer: a server and a player on it.
fn position(cursor: &str) -> Option<(Identifier, PlayerId)> {
    let json = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    serde_json::from_slice(&json).ok()
}

fn cursor(last: &PresenceRecord) -> Option<HeaderValue> {
    let json = serde_json::to_vec(&(&last.server_id, last.player_uuid)).ok()?;
    HeaderValue::try_from(URL_SAFE_NO_PAD.encode(json)).ok()
}

/// List the players online
///
/// By server, then by UUID. An answer has at most 4 MiB, some 20,000 players; if there are more, send its header
/// `Next-Cursor` as `cursor` for the next ones.
#[utoipa::path(get, path = "/api/plugin/servers/players", tag = "Servers", security(("apiKey" = ["players:read", "plugin"])),
    params(ListQuery), operation_id = "list_online_players", responses((status = 200, body = Vec<PresenceRecord>)))]
async fn list(
    OnlinePlayersRead(caller): OnlinePlayersRead,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Response, ApiError> {
    let after = not_blank(query.cursor.as_deref()).map(|cursor| position(cursor).ok_or_else(invalid_cursor));
    let after = after.transpose()?;
    let players = sessions::players(&app, caller.network, not_blank(query.server_type.as_deref()));
    let is_behind =
        |it: &PlayerLocation| after.as_ref().is_none_or(|after| (&it.server_id, it.player) > (&after.0, after.1));
    let mut rest = players.into_iter().filter(is_behind).map(PresenceRecord::from).peekable();
    let mut budget = AnswerBudget::default();
    let records: Vec<_> = std::iter::from_fn(|| rest.next_if(|record| budget.take(json_size(record)))).collect();
    let next = records.last().filter(|_| rest.peek().is_some()).and_then(cursor);
    let mut response = Json(records).into_response();
    if let Some(next) = next {
        response.headers_mut().insert(NEXT_CURSOR.clone(), next);
    }
    Ok(response)
}

fn invalid_cursor() -> ApiError {
    ApiError::bad_request("invalid_cursor", "In the query, `cursor`: must be a `Next-Cursor` of this route.")
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlayerJoin)]
struct JoinRequest {
    /// Server that the player joined; it must be online.
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Ignored: the type is that of the register call.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[allow(dead_code, reason = "read so that a wrong type is an error, as for every documented field")]
    server_type: Option<Identifier>,
    player_uuid: PlayerId,
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "Notch")]
    player_name: Option<Identifier>,
}

/// Report that a player joined a server
///
/// A player is on at most one server: a join elsewhere moves them. It uses the slot reserved for them.
#[utoipa::path(post, path = "/api/plugin/servers/players", tag = "Servers", security(("apiKey" = ["plugin"])),
    operation_id = "join_server", responses((status = 204, description = "Recorded")))]
async fn join(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<JoinRequest>,
) -> Result<StatusCode, ApiError> {
    sessions::join(&app, caller.network, &body.server_id, body.player_uuid, body.player_name).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlayerWorldChange)]
struct WorldChangeRequest {
    /// Server that the player is on.
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    player_uuid: PlayerId,
    /// Current world.
    #[schema(example = "arena-3")]
    new_world_id: Identifier,
    /// Previous world. Default: the last recorded one.
    #[serde(default, deserialize_with = "blank_as_absent")]
    previous_world_id: Option<Identifier>,
}

/// Report that a player changed worlds
///
/// Fails with 400 `player_not_on_server` if the player is not, or no longer, on that server.
#[utoipa::path(post, path = "/api/plugin/servers/players/world", tag = "Servers", operation_id = "change_player_world", security(("apiKey" = ["plugin"])),
    responses((status = 204, description = "Recorded")))]
async fn change_world(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<WorldChangeRequest>,
) -> Result<StatusCode, ApiError> {
    let WorldChangeRequest { server_id, player_uuid, new_world_id, previous_world_id } = body;
    sessions::change_world(&app, caller.network, server_id, player_uuid, new_world_id, previous_world_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct LeaveQuery {
    /// Server that they left. Default: their current one.
    #[serde(default, deserialize_with = "blank_as_absent")]
    server_id: Option<Identifier>,
}

/// Report that a player left
///
/// No effect if the player is on another server by now, or on one that the key is not bound to.
#[utoipa::path(delete, path = "/api/plugin/servers/players/{playerUuid}", tag = "Servers",
    security(("apiKey" = ["plugin"])), params(("playerUuid" = PlayerId, Path), LeaveQuery),
    operation_id = "leave_server", responses((status = 204, description = "Recorded")))]
async fn leave(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Query(query): Query<LeaveQuery>,
) -> Result<StatusCode, ApiError> {
    sessions::leave(&app, caller.network, player, query.server_id.as_ref(), &caller).await?;
    Ok(StatusCode::NO_CONTENT)
}

//! `/api/plugin/matchmaking/tickets`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::app::App;
use crate::auth::Matchmaking;
use crate::geo::Region;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::matchmaking::{FindRequest, MatchAnswer, party_members};
use crate::values::{Identifier, PlayerId, blank_as_absent};
use crate::waiting_lines::memory::TicketView;
use crate::waiting_lines::model::TicketState;
use crate::waiting_lines::service;

/// Priority of a ticket, from -1000 to 1000.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Priority(pub(super) i64);

impl PartialSchema for Priority {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(-1_000)).maximum(Some(1_000)).examples([10]).into()
    }
}
impl ToSchema for Priority {}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        if !(-1_000..=1_000).contains(&number) {
            return Err(de::Error::custom("must be from -1000 to 1000"));
        }
        Ok(Self(number))
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TicketRequest)]
pub(super) struct TakeTicket {
    /// Player who waits, the leader of the party.
    player_uuid: PlayerId,
    #[serde(default, deserialize_with = "blank_as_absent")]
    player_name: Option<Identifier>,
    /// The player's party: all get slots on the same server or world. At most 16 players including `playerUuid`, whether
    /// listed or not.
    #[serde(default, deserialize_with = "party_members")]
    #[schema(value_type = Option<Vec<PlayerId>>, max_items = 16, example = json!(["853c80ef-3c37-49fd-aa49-938b674adae6"]))]
    party: Vec<PlayerId>,
    /// Server type: waits for a server of this type, unless other fields say more.
    #[schema(example = "bedwars")]
    server_type: Option<Identifier>,
    /// With `serverType`: waits for a world of this type on those servers.
    world_type: Option<Identifier>,
    /// Waits for this server.
    server_id: Option<Identifier>,
    /// With `serverId`: waits for this world on it.
    world_id: Option<Identifier>,
    /// The player's region. Default: the region of the address they last loaded with.
    #[serde(default, deserialize_with = "blank_as_absent")]
    region: Option<Region>,
    /// With the other two `affinity` fields: owner of the preferred live world.
    #[serde(default, deserialize_with = "blank_as_absent")]
    affinity_game_id: Option<Identifier>,
    /// See `affinityGameId`.
    #[serde(default, deserialize_with = "blank_as_absent")]
    affinity_owner_scope: Option<Identifier>,
    /// See `affinityGameId`.
    #[serde(default, deserialize_with = "blank_as_absent")]
    affinity_owner_id: Option<Identifier>,
    /// Requires `serverId` to be set; `serverId` alone has the same effect.
    direct_join: Option<bool>,
    /// Waits for a world; without `worldType`, for one of any type.
    world_matchmaking: Option<bool>,
    /// The highest goes first; each second of waiting counts one point, up to 1000.
    #[serde(default)]
    priority: Option<Priority>,
}

/// A ticket of a waiting line.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Ticket)]
pub(super) struct TicketBody {
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e")]
    ticket_id: Uuid,
    state: TicketState,
    /// Name of the line: `type:T`, `type:T/world:W`, `server:S` or `server:S/world:W`.
    #[schema(example = "type:bedwars")]
    line: String,
    /// Place among the players who wait in the line, from 1; null unless it waits.
    #[schema(example = 3)]
    position: Option<usize>,
    /// Number of players who wait in the line.
    #[schema(example = 12)]
    waiting: usize,
    /// Estimated time until the match, in milliseconds; null if unknown.
    #[schema(example = 45_000)]
    eta_ms: Option<i64>,
    /// The match of a matched or used ticket, or the result that ended it at once.
    #[serde(rename = "match")]
    #[schema(value_type = Option<MatchAnswer>)]
    matched: Option<Box<RawValue>>,
}

impl From<TicketView> for TicketBody {
    fn from(view: TicketView) -> Self {
        Self {
            ticket_id: view.id,
            state: view.state,
            line: view.line.to_string(),
            position: view.position,
            waiting: view.waiting,
            eta_ms: view.eta,
            matched: view.answer.and_then(|answer| RawValue::from_string((*answer).to_owned()).ok()),
        }
    }
}

/// Wait for a server or world
///
/// Takes a ticket for the player and the party, with the fields of `find`. If there is room and nobody waits, it is
/// `MATCHED` at once; else it waits in its line, which no server needs to serve yet. A matched ticket holds its slots for
/// 15 seconds under the match's `transferId`, and a `TICKET_MATCHED` event tells the player's server and all proxies.
/// The same body again keeps ticket and place, another one replaces the ticket. A ticket that ends at once is `EXPIRED`
/// with the reason in `match.result`. The number of players who wait is limited (`waiting`).
///
/// The network's modules may decide the priority of a new ticket instead of `priority`, or refuse it: `POLICY_REJECTED`, with
/// their reason in `match.reason`.
#[utoipa::path(post, path = "/api/plugin/matchmaking/tickets", operation_id = "join_line", tag = "Matchmaking",
    security(("apiKey" = ["matchmaking", "plugin"])), responses((status = 200, body = TicketBody)))]
pub(super) async fn join_line(
    Matchmaking(caller): Matchmaking,
    State(app): State<App>,
    Json(body): Json<TakeTicket>,
) -> Result<Json<TicketBody>, ApiError> {
    let (player, priority) = (body.player_uuid, body.priority.unwrap_or_default().0);
    let request = FindRequest {
        player_uuid: Some(player),
        player_name: body.player_name,
        party: body.party,
        server_type: body.server_type,
        world_type: body.world_type,
        server_id: body.server_id,
        world_id: body.world_id,
        region: body.region,
        affinity_game_id: body.affinity_game_id,
        affinity_owner_scope: body.affinity_owner_scope,
        affinity_owner_id: body.affinity_owner_id,
        direct_join: body.direct_join,
        world_matchmaking: body.world_matchmaking,
    };
    let request = request.into_request()?;
    Ok(Json(service::take(&app, caller.network, player, request, priority).await?.into()))
}

/// Get a ticket
///
/// Tickets that ended can be read for 10 minutes.
#[utoipa::path(get, path = "/api/plugin/matchmaking/tickets/{ticketId}", operation_id = "get_ticket",
    tag = "Matchmaking", security(("apiKey" = ["matchmaking", "plugin"])), params(("ticketId" = Uuid, Path, description = "Id of the ticket", example = "0191f6a0-7d3e-7c1a-9b57-3f1c2a5d8e90")),
    responses((status = 200, body = TicketBody), (status = 404, body = ErrorBody, description = "No such ticket")))]
pub(super) async fn get_ticket(
    Matchmaking(caller): Matchmaking,
    State(app): State<App>,
    Path(ticket): Path<Uuid>,
) -> Result<Json<TicketBody>, ApiError> {
    Ok(Json(service::get(&app, caller.network, ticket).await?.into()))
}

/// Leave a line
///
/// Ends the ticket and releases its slots; the ticket of a party ends for all. No effect on a ticket that has ended.
#[utoipa::path(delete, path = "/api/plugin/matchmaking/tickets/{ticketId}", operation_id = "leave_line",
    tag = "Matchmaking", security(("apiKey" = ["matchmaking", "plugin"])), params(("ticketId" = Uuid, Path, description = "Id of the ticket", example = "0191f6a0-7d3e-7c1a-9b57-3f1c2a5d8e90")),
    responses((status = 204, description = "Ended"), (status = 404, body = ErrorBody, description = "No such ticket")))]
pub(super) async fn leave_line(
    Matchmaking(caller): Matchmaking,
    State(app): State<App>,
    Path(ticket): Path<Uuid>,
) -> Result<StatusCode, ApiError> {
    service::cancel(&app, caller.network, ticket).await?;
    Ok(StatusCode::NO_CONTENT)
}

//! `/api/manage/matchmaking/lines` and the tickets in them.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::app::App;
use crate::auth::LinesManage;
use crate::clock::Millis;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch};
use crate::http::page::{Page, PageQuery};
use crate::matchmaking::Mode;
use crate::presence::Count;
use crate::values::PlayerId;
use crate::waiting_lines::memory::{LineView, TicketView, WhyNot};
use crate::waiting_lines::model::{LineName, LineSettings, TicketState};
use crate::waiting_lines::routes::tickets::Priority;
use crate::waiting_lines::service;

/// A waiting line.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitingLine)]
pub(super) struct LineBody {
    /// Name of the line: `type:T`, `type:T/world:W`, `server:S` or `server:S/world:W`.
    #[schema(example = "type:bedwars")]
    line: String,
    /// Number of players who wait.
    #[schema(example = 12)]
    waiting: usize,
    /// Time for which the first of them has waited, in milliseconds.
    #[schema(example = 45_000)]
    longest_wait_ms: Millis,
    /// Estimated time that a player who comes now will wait, in milliseconds; null if unknown.
    #[schema(example = 60_000)]
    eta_ms: Option<i64>,
    /// True if nobody is matched.
    paused: bool,
    /// End of the pause; null if it has none.
    paused_until: Option<Millis>,
    /// Maximum number of players who wait; null: none.
    #[schema(example = 500)]
    max_waiting: Option<i64>,
    /// Changes with the settings, for `If-Match`; 0 without any.
    #[schema(example = 4_503_599_627_370_i64)]
    revision: i64,
}

impl From<LineView> for LineBody {
    fn from(view: LineView) -> Self {
        let LineView { paused, paused_until, max_waiting, .. } = view;
        Self {
            revision: service::revision(LineSettings { paused, paused_until, max_waiting }),
            line: view.line.to_string(),
            waiting: view.waiting,
            longest_wait_ms: view.longest_wait,
            eta_ms: view.eta,
            paused,
            paused_until,
            max_waiting,
        }
    }
}

/// List the waiting lines
///
/// Those in which somebody waits or that have settings, by name.
#[utoipa::path(get, path = "/api/manage/matchmaking/lines", operation_id = "list_lines", tag = "Matchmaking",
    security(("apiKey" = ["lines:manage", "network:manage"])), params(PageQuery),
    responses((status = 200, body = Page<LineBody>)))]
pub(super) async fn list(
    LinesManage(caller): LinesManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<LineBody>>, ApiError> {
    let (rows, total) = service::list(&app, caller.network, query.page.offset(query.limit), query.limit.0).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total as i64).map(LineBody::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitingLineSettings)]
pub(super) struct PutLine {
    /// Match nobody of the line. Default: true with `pausedUntil`, else false.
    paused: Option<bool>,
    /// End of the pause, in the future; null: none. Without effect if `paused` is false.
    #[schema(example = 1_804_680_000_000_i64)]
    paused_until: Option<Millis>,
    /// Maximum number of players who wait; null: none. Further tickets are `EXPIRED` with the result `LINE_FULL`.
    #[schema(example = 500)]
    max_waiting: Option<Count>,
}

/// Change a waiting line
///
/// Sets all its settings; absent ones get their defaults. Tickets that wait stay in the line.
///
/// With `If-Match` only at that `revision`: else it is 409 `revision_changed`.
#[utoipa::path(put, path = "/api/manage/matchmaking/lines/{line}", operation_id = "put_line", tag = "Matchmaking",
    security(("apiKey" = ["lines:manage", "network:manage"])),
    params(("line" = String, Path, description = "Name of the line, percent-encoded", example = "type:bedwars"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = LineBody),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
pub(super) async fn put(
    LinesManage(caller): LinesManage,
    State(app): State<App>,
    Path(line): Path<String>,
    expected: IfMatch,
    Json(body): Json<PutLine>,
) -> Result<Json<LineBody>, ApiError> {
    let mode = mode_of(&line)?;
    if body.paused_until.is_some_and(|until| until <= app.clock.now()) {
        return Err(ApiError::invalid("In the body, `pausedUntil`: must be in the future."));
    }
    let paused = body.paused.unwrap_or(body.paused_until.is_some());
    let settings = LineSettings {
        paused,
        paused_until: body.paused_until.filter(|_| paused),
        max_waiting: body.max_waiting.map(|max| i64::from(max.value())),
    };
    let origin = caller.origin(&app);
    Ok(Json(service::put_line(&app, caller.network, &mode, (settings, expected), &origin).await?.into()))
}

fn mode_of(line: &str) -> Result<Mode, ApiError> {
    LineName::parse(line).ok_or_else(|| {
        ApiError::invalid(
            "In the path, `line`: must be `type:T`, `type:T/world:W`, `server:S` or `server:S/world:W`, percent-encoded.",
        )
    })
}

/// A ticket in its line, for the network's owner.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitingTicket)]
pub(super) struct ManagedTicket {
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e")]
    ticket_id: Uuid,
    state: TicketState,
    #[schema(example = "type:bedwars")]
    line: String,
    player_uuid: PlayerId,
    /// The rest of the party.
    party: Vec<PlayerId>,
    priority: Priority,
    /// Time at which the ticket was taken.
    #[schema(example = 1_804_680_000_000_i64)]
    created_at: Millis,
    /// Place among the players who wait in the line, from 1; null unless it waits.
    #[schema(example = 3)]
    position: Option<usize>,
    /// Estimated time until the match, in milliseconds; null if unknown.
    #[schema(example = 45_000)]
    eta_ms: Option<i64>,
    /// Reasons of up to ten servers, by id, for which it waits.
    why: Vec<WhyNot>,
}

impl From<TicketView> for ManagedTicket {
    fn from(view: TicketView) -> Self {
        Self {
            ticket_id: view.id,
            state: view.state,
            line: view.line.to_string(),
            player_uuid: view.player,
            party: view.party,
            priority: Priority(view.priority),
            created_at: view.since,
            position: view.position,
            eta_ms: view.eta,
            why: view.why,
        }
    }
}

/// List the tickets of a waiting line
///
/// Those that wait, in their order.
#[utoipa::path(get, path = "/api/manage/matchmaking/lines/{line}/tickets", operation_id = "list_tickets",
    tag = "Matchmaking", security(("apiKey" = ["lines:manage", "network:manage"])),
    params(("line" = String, Path, description = "Name of the line, percent-encoded", example = "type:bedwars"), PageQuery),
    responses((status = 200, body = Page<ManagedTicket>)))]
pub(super) async fn list_tickets(
    LinesManage(caller): LinesManage,
    State(app): State<App>,
    Path(line): Path<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<ManagedTicket>>, ApiError> {
    let line = LineName::of(&mode_of(&line)?);
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::tickets(&app, caller.network, &line, offset, query.limit.0);
    Ok(Json(Page::new(rows, query.page, query.limit, total as i64).map(ManagedTicket::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = TicketChange)]
pub(super) struct ChangeTicket {
    priority: Priority,
}

/// Change a ticket's priority
#[utoipa::path(patch, path = "/api/manage/matchmaking/tickets/{ticketId}", operation_id = "change_ticket",
    tag = "Matchmaking", security(("apiKey" = ["lines:manage", "network:manage"])), params(("ticketId" = Uuid, Path, description = "Id of the ticket", example = "0191f6a0-7d3e-7c1a-9b57-3f1c2a5d8e90")),
    responses((status = 200, body = ManagedTicket), (status = 404, body = ErrorBody, description = "No such ticket"),
        (status = 409, body = ErrorBody, description = "The ticket has ended")))]
pub(super) async fn change_ticket(
    LinesManage(caller): LinesManage,
    State(app): State<App>,
    Path(ticket): Path<Uuid>,
    Json(body): Json<ChangeTicket>,
) -> Result<Json<ManagedTicket>, ApiError> {
    let origin = caller.origin(&app);
    Ok(Json(service::set_priority(&app, caller.network, ticket, body.priority.0, &origin).await?.into()))
}

/// End a ticket
///
/// The same as if its player left the line. No effect on a ticket that has ended.
#[utoipa::path(delete, path = "/api/manage/matchmaking/tickets/{ticketId}", operation_id = "delete_ticket",
    tag = "Matchmaking", security(("apiKey" = ["lines:manage", "network:manage"])), params(("ticketId" = Uuid, Path, description = "Id of the ticket", example = "0191f6a0-7d3e-7c1a-9b57-3f1c2a5d8e90")),
    responses((status = 204, description = "Ended"), (status = 404, body = ErrorBody, description = "No such ticket")))]
pub(super) async fn delete_ticket(
    LinesManage(caller): LinesManage,
    State(app): State<App>,
    Path(ticket): Path<Uuid>,
) -> Result<StatusCode, ApiError> {
    service::delete(&app, caller.network, ticket, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

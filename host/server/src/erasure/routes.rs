//! `/api/manage/players/…`: what is kept of a player, and its deletion.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{NetworkManage, Operator};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::erasure::service;
use crate::erasure::store::{self, ForgottenPlayer};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::limits::{self, Limit};
use crate::values::{NetworkId, PlayerId};

/// The component's routes.
pub(crate) fn router() -> Endpoints {
    endpoints![export: any_node, forget, list, list_of_hub: any_node]
}

/// Export a player
///
/// All that the network keeps of a player, in one JSON object: `tables` has the rows about the player by table, `mentions`
/// how many rows about others name them. Every row of the network is read, so that this takes a while. The audit log
/// tells of it.
#[utoipa::path(get, path = "/api/manage/players/{uuid}/export", operation_id = "export_player", tag = "Privacy",
    security(("apiKey" = ["network:manage"])), params(("uuid" = PlayerId, Path)),
    responses((status = 200, body = Object, description = "The rows")))]
async fn export(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
) -> Result<Response, ApiError> {
    let network = caller.network;
    let open = limits::open::<ApiError>(&app, network, Limit::Exports).await?;
    let change = Change::new(Action::PlayerExported, player);
    audit::record_alone(&app.db, network, &caller.origin(&app), change).await?;
    let chunks = super::export(&app.db, &app.module_store, network, player, app.clock.now()).await?;
    Ok(([(CONTENT_TYPE, "application/json")], limits::body_of_open(open, chunks)).into_response())
}

/// Forget a player
///
/// Deletes all that the network keeps of a player, for good: in every table, in the modules' stores, in logs, recorded
/// calls and events. Ledger entries stay, under a random UUID; so do documents of others, in which that UUID takes the
/// place of the player's. A large network is gone through in the background after the answer:
/// `/api/manage/forgotten-players` tells when all is done. A player who is online comes back with the server's next
/// heartbeat, as somebody new.
#[utoipa::path(delete, path = "/api/manage/players/{uuid}", operation_id = "delete_player", tag = "Privacy",
    security(("apiKey" = ["network:manage"])), params(("uuid" = PlayerId, Path)),
    responses((status = 204, description = "Recorded, and deleted or being deleted")))]
async fn forget(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
) -> Result<StatusCode, ApiError> {
    service::forget(&app, &caller.origin(&app), caller.network, player).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A player who was forgotten.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ForgottenPlayer)]
#[serde(rename_all = "camelCase")]
struct ForgottenBody {
    player_uuid: PlayerId,
    /// When it was asked for.
    #[schema(example = 1_804_680_000_000_i64)]
    forgotten_at: Millis,
    /// When all was deleted; null while it is under way.
    finished_at: Option<Millis>,
}

impl From<ForgottenPlayer> for ForgottenBody {
    fn from(row: ForgottenPlayer) -> Self {
        Self { player_uuid: row.player_uuid, forgotten_at: row.forgotten_at, finished_at: row.finished_at }
    }
}

/// List the forgotten players
///
/// The newest first. Their UUIDs are kept, so that they are forgotten again after a restore.
#[utoipa::path(get, path = "/api/manage/forgotten-players", operation_id = "list_forgotten_players", tag = "Privacy",
    security(("apiKey" = ["network:manage"])), params(PageQuery), responses((status = 200, body = Page<ForgottenBody>)))]
async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<ForgottenBody>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::page(&app.db, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(ForgottenBody::from)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Only those who were forgotten at this time or later.
    #[serde(default)]
    #[param(required = false, example = 1_804_680_000_000_i64)]
    after: Millis,
}

/// Rows that are read at a time.
const BATCH: i64 = 1_000;

/// A line of the operator's list, as `hub restore --forgotten` reads it.
pub(crate) fn to_line(row: &ForgottenPlayer) -> String {
    let line = json!({
        "networkId": row.network_id, "playerUuid": row.player_uuid, "forgottenAt": row.forgotten_at,
    });
    format!("{line}\n")
}

/// Export who was forgotten
///
/// Of all networks, as JSON lines, the oldest first. Keep a copy apart from the backups: `hub restore --forgotten` takes
/// it, and forgets them again.
#[utoipa::path(get, path = "/api/admin/forgotten-players", operation_id = "export_forgotten_players", tag = "Operator",
    security(("apiKey" = ["operator"])), params(ListQuery),
    responses((status = 200, body = String, content_type = "application/x-ndjson", description = "The players")))]
async fn list_of_hub(Operator(_caller): Operator, State(app): State<App>, Query(query): Query<ListQuery>) -> Response {
    let nobody = (NetworkId(uuid::Uuid::nil()), PlayerId(uuid::Uuid::nil()));
    let first = (query.after, nobody.0, nobody.1);
    let body = stream::try_unfold((app, first), |(app, position)| async move {
        let rows = store::after(&app.db, position, BATCH).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        let next = (last.forgotten_at, last.network_id, last.player_uuid);
        let text: String = rows.iter().map(to_line).collect();
        Ok::<_, hub_db::Error>(Some((Bytes::from(text), (app, next))))
    });
    ([(CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(body)).into_response()
}

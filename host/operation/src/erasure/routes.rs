//! `/api/manage/players/…`: export and erasure of a player's data.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{NetworkManage, Operator, RevocationWatch, Scope};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::erasure::service;
use crate::erasure::store::{self, ForgottenPlayer};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::limits::{self, Limit};
use crate::values::{NetworkId, PlayerId};

/// Routes of the component.
pub(super) fn router() -> Endpoints {
    endpoints![export: any_node, forget, list, list_of_hub: any_node]
}

/// Export a player
///
/// All data that the network stores about a player, in one JSON object: `tables` contains the rows about the player by
/// table, `mentions` the number of rows about others that mention the player. Takes a while, because every row of the
/// network is read. Recorded in the audit log. The answer is cut off when the key is revoked.
#[utoipa::path(get, path = "/api/manage/players/{uuid}/export", operation_id = "export_player", tag = "Privacy",
    security(("apiKey" = ["network:manage"])), params(("uuid" = PlayerId, Path)),
    responses((status = 200, body = Object, description = "The rows")))]
async fn export(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
) -> Result<Response, ApiError> {
    let network = caller.network;
    let watched = app.state::<RevocationWatch>().watch_caller(&caller, &[Scope::NetworkManage]);
    let open = limits::open::<ApiError>(&app, network, Limit::Exports).await?;
    let change = Change::new(Action::PlayerExported, player);
    audit::record_alone(&app.db, network, &caller.origin(&app), change).await?;
    let chunks =
        super::export(&app.db, &app.module_store, app.components().tables(), network, player, app.clock.now()).await?;
    let chunks = chunks.map(move |chunk| watched.check().and(chunk));
    Ok(([(CONTENT_TYPE, "application/json")], limits::body_of_open(open, chunks)).into_response())
}

/// Erase a player
///
/// Permanently deletes all data that the network stores about a player: in every table, in the modules' stores, in
/// logs, recorded calls and events. Ledger entries stay under a random UUID; in other documents that UUID replaces the
/// player's. A large network is processed in the background after the response: `/api/manage/forgotten-players` shows
/// the completion. A player who is online returns with the server's next heartbeat, as a new player.
#[utoipa::path(delete, path = "/api/manage/players/{uuid}", operation_id = "delete_player", tag = "Privacy",
    security(("apiKey" = ["network:manage"])), params(("uuid" = PlayerId, Path)),
    responses((status = 204, description = "Recorded; the data is deleted or being deleted")))]
async fn forget(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
) -> Result<StatusCode, ApiError> {
    service::forget(&app, &caller.origin(&app), caller.network, player).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// An erased player.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ForgottenPlayer)]
#[serde(rename_all = "camelCase")]
struct ForgottenBody {
    player_uuid: PlayerId,
    /// Time of the request.
    #[schema(example = 1_804_680_000_000_i64)]
    forgotten_at: Millis,
    /// Time of completion; null while in progress.
    finished_at: Option<Millis>,
}

impl From<ForgottenPlayer> for ForgottenBody {
    fn from(row: ForgottenPlayer) -> Self {
        Self { player_uuid: row.player_uuid, forgotten_at: row.forgotten_at, finished_at: row.finished_at }
    }
}

/// List the erased players
///
/// Newest first. UUIDs are kept, so that the players can be erased again after a restore.
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
    /// Only erasures at or after this time.
    #[serde(default)]
    #[param(required = false, example = 1_804_680_000_000_i64)]
    after: Millis,
}

/// Rows read at a time.
const BATCH: i64 = 1_000;

/// Formats a line of the operator's list, as read by `hub admin restore --forgotten`.
pub fn to_line(row: &ForgottenPlayer) -> String {
    let line = json!({
        "networkId": row.network_id, "playerUuid": row.player_uuid, "forgottenAt": row.forgotten_at,
    });
    format!("{line}\n")
}

/// Export the erased players
///
/// Erased players of all networks as JSON lines, oldest first. Keep a copy apart from the backups: `hub admin restore
/// --forgotten` uses it to erase them again.
#[utoipa::path(get, path = "/api/admin/forgotten-players", operation_id = "export_forgotten_players", tag = "Operator",
    security(("apiKey" = ["operator"])), params(ListQuery),
    responses((status = 200, body = String, content_type = "application/x-ndjson", description = "The players")))]
async fn list_of_hub(Operator(caller): Operator, State(app): State<App>, Query(query): Query<ListQuery>) -> Response {
    let watched = app.state::<RevocationWatch>().watch_caller(&caller, &[Scope::Operator]);
    let nobody = (NetworkId(uuid::Uuid::nil()), PlayerId(uuid::Uuid::nil()));
    let first = (query.after, nobody.0, nobody.1);
    let body = stream::try_unfold((app, watched, first), |(app, watched, position)| async move {
        watched.check()?;
        let rows = store::after(&app.db, position, BATCH).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        let next = (last.forgotten_at, last.network_id, last.player_uuid);
        let text: String = rows.iter().map(to_line).collect();
        Ok::<_, hub_db::Error>(Some((Bytes::from(text), (app, watched, next))))
    });
    ([(CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(body)).into_response()
}

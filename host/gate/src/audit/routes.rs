//! `/api/manage/audit` for owners, `/api/admin/audit` for the operator.

use axum::body::Bytes;
use axum::extract::{Extension, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::audit::service::{self, EntryRow, Filter};
use crate::audit::undo::{self, How, Undone};
use crate::auth::{ActorType, AuditRead, Caller, OPERATOR_NETWORK, Operator, RevocationWatch, Scope};
use crate::clock::Millis;
use crate::component::Components;
use crate::compute::{LARGE_JSON, compute_if};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::own_routes::OwnRoutes;
use crate::http::page::{Limit, Page, PageNumber};
use crate::limits;
use crate::values::{Label, NetworkId};

/// Routes of the audit log. No entry is changed: undoing one makes another.
pub(super) fn router() -> Endpoints {
    endpoints![
        list: large_answer,
        one,
        undo_one: repeatable,
        export: any_node,
        list_of_hub: large_answer,
        one_of_hub,
        undo_one_of_hub: repeatable,
        export_of_hub: any_node,
    ]
}

/// Actor of a change.
#[derive(Debug, Serialize, ToSchema)]
struct AuditActor {
    #[schema(value_type = ActorType)]
    r#type: String,
    /// Id of the key or person; for other actors, their kind.
    #[schema(example = "4fTq0ZkX91ab")]
    id: String,
    /// Name at that time.
    #[schema(example = "lobby servers")]
    name: String,
}

/// A change and its actor.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AuditEntry {
    /// Entry id; later entries have higher ids.
    #[schema(example = "0006695bd4f9b0004fTq0Z")]
    id: String,
    #[schema(example = 1_804_680_000_000_i64)]
    at: Millis,
    actor: AuditActor,
    /// Kind of thing and action.
    #[schema(example = "key.created")]
    action: String,
    /// Id or name of the thing.
    #[schema(example = "4fTq0ZkX91ab")]
    target: String,
    /// Previous value without secrets; `{"omittedBytes": n}` if it is large; null if there was none.
    #[schema(value_type = Option<Value>)]
    before: Option<Box<RawValue>>,
    /// New value; null if the thing was deleted.
    #[schema(value_type = Option<Value>)]
    after: Option<Box<RawValue>>,
    /// True if it can be undone.
    #[schema(example = false)]
    undoable: bool,
    /// `X-Request-Id` of the request.
    request_id: Option<String>,
    /// Address of the client.
    #[schema(example = "203.0.113.7")]
    address: Option<String>,
}

impl AuditEntry {
    /// Entry of a network's log, or of the hub's own.
    fn new(components: &Components, network: NetworkId, row: EntryRow) -> Self {
        let undoable = undo::is_undoable(components, &row, network == OPERATOR_NETWORK);
        let value = |text: Option<String>| text.and_then(|text| RawValue::from_string(text).ok());
        Self {
            id: row.id,
            at: row.at,
            actor: AuditActor { r#type: row.actor_type, id: row.actor_id, name: row.actor_name },
            action: row.action,
            target: row.target,
            before: value(row.value_before),
            after: value(row.value_after),
            undoable,
            request_id: row.request_id,
            address: row.address,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AuditQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only changes by the actor with this id.
    #[param(value_type = Option<String>, example = "4fTq0ZkX91ab")]
    actor: Option<Label>,
    /// Only this action.
    #[param(value_type = Option<String>, example = "key.created")]
    action: Option<Label>,
    /// Only entries before the entry with this id.
    #[param(value_type = Option<String>, example = "0006695bd4f9b0004fTq0Z")]
    before: Option<Label>,
}

async fn page(app: &App, network: NetworkId, query: AuditQuery) -> Result<Json<Page<AuditEntry>>, ApiError> {
    let AuditQuery { limit, page, actor, action, before } = query;
    let filter = Filter { actor: actor.map(Label::into_string), action: action.map(Label::into_string) };
    let before = before.as_ref().map(Label::as_str);
    let entry = |row| AuditEntry::new(app.components(), network, row);
    let (rows, total) = service::page(&app.db, network, &filter, before, limit.0, page.offset(limit)).await?;
    Ok(Json(compute_if(is_large(&rows), || Page::new(rows, page, limit, total).map(entry)).await))
}

/// Read the audit log
///
/// All changes made through `/api/manage`, by the operator, on the command line or by the hub itself, newest first.
/// With `before`, pages do not shift when entries are added meanwhile: pass the id of the previous page's last entry.
#[utoipa::path(get, path = "/api/manage/audit", operation_id = "list_audit", tag = "Audit",
    security(("apiKey" = ["audit:read", "network:manage"])), params(AuditQuery), responses((status = 200, body = Page<AuditEntry>)))]
async fn list(
    AuditRead(caller): AuditRead,
    State(app): State<App>,
    Query(query): Query<AuditQuery>,
) -> Result<Json<Page<AuditEntry>>, ApiError> {
    page(&app, caller.network, query).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ExportQuery {
    /// Only entries after the entry with this id, for example the last one of the previous export.
    #[param(value_type = Option<String>, example = "0006695bd4f9b0004fTq0Z")]
    after: Option<Label>,
}

/// Formats an entry as a line of an export.
pub fn to_line(components: &Components, network: NetworkId, row: EntryRow) -> String {
    let mut line = serde_json::to_string(&AuditEntry::new(components, network, row)).unwrap_or_default();
    line.push('\n');
    line
}

/// Streams all entries, one JSON object per line, at the client's speed.
async fn lines(app: App, caller: &Caller, any: &[Scope], query: ExportQuery) -> Result<Response, ApiError> {
    let network = caller.network;
    let watched = app.state::<RevocationWatch>().watch_caller(caller, any);
    let open = limits::open::<ApiError>(&app, network, limits::Limit::Exports).await?;
    let after = query.after.map_or_else(String::new, Label::into_string);
    let pieces = stream::try_unfold((app, watched, after), move |(app, watched, after)| async move {
        watched.check()?;
        let rows = service::next(&app.db, network, &after).await?;
        let Some(last) = rows.last().map(|row| row.id.clone()) else { return Ok(None) };
        let text: String = compute_if(is_large(&rows), || {
            rows.into_iter().map(|row| to_line(app.components(), network, row)).collect()
        })
        .await;
        Ok::<_, hub_db::Error>(Some((Bytes::from(text), (app, watched, last))))
    });
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], limits::body_of_open(open, pieces)).into_response())
}

/// True if reading the shown values takes a while.
fn is_large(rows: &[EntryRow]) -> bool {
    let bytes =
        |row: &EntryRow| [&row.value_before, &row.value_after].into_iter().flatten().map(String::len).sum::<usize>();
    rows.iter().map(bytes).sum::<usize>() > LARGE_JSON
}

/// Export the audit log
///
/// All entries as JSON lines in the format of the list, oldest first. The answer is cut off when the key is revoked.
#[utoipa::path(get, path = "/api/manage/audit/export", operation_id = "export_audit", tag = "Audit",
    security(("apiKey" = ["audit:read", "network:manage"])), params(ExportQuery),
    responses((status = 200, body = String, content_type = "application/x-ndjson", description = "The entries")))]
async fn export(
    AuditRead(caller): AuditRead,
    State(app): State<App>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    lines(app, &caller, &[Scope::AuditRead, Scope::NetworkManage], query).await
}

/// Read the operator's audit log
///
/// Actions of the operator on the hub and on networks, and actions of the hub on whole networks, newest first.
#[utoipa::path(get, path = "/api/admin/audit", operation_id = "list_audit_of_hub", tag = "Audit",
    security(("apiKey" = ["operator"])), params(AuditQuery), responses((status = 200, body = Page<AuditEntry>)))]
async fn list_of_hub(
    Operator(_caller): Operator,
    State(app): State<App>,
    Query(query): Query<AuditQuery>,
) -> Result<Json<Page<AuditEntry>>, ApiError> {
    page(&app, OPERATOR_NETWORK, query).await
}

/// Export the operator's audit log
///
/// JSON lines, oldest first.
#[utoipa::path(get, path = "/api/admin/audit/export", operation_id = "export_audit_of_hub", tag = "Audit",
    security(("apiKey" = ["operator"])), params(ExportQuery),
    responses((status = 200, body = String, content_type = "application/x-ndjson", description = "The entries")))]
async fn export_of_hub(
    Operator(caller): Operator,
    State(app): State<App>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    lines(app, &caller, &[Scope::Operator], query).await
}

/// Entry of a log; 404 if there is none.
async fn find(app: &App, network: NetworkId, id: &Label) -> Result<EntryRow, ApiError> {
    let found = service::find(&app.db, network, id.as_str()).await?;
    found.ok_or_else(|| ApiError::not_found("unknown_entry", "No such entry in the log."))
}

/// Read an entry of the audit log
#[utoipa::path(get, path = "/api/manage/audit/{id}", operation_id = "get_audit_entry", tag = "Audit",
    security(("apiKey" = ["audit:read", "network:manage"])), params(("id" = String, Path, example = "0006695bd4f9b0004fTq0Z")),
    responses((status = 200, body = AuditEntry), (status = 404, body = ErrorBody, description = "No such entry")))]
async fn one(
    AuditRead(caller): AuditRead,
    State(app): State<App>,
    Path(id): Path<Label>,
) -> Result<Json<AuditEntry>, ApiError> {
    let row = find(&app, caller.network, &id).await?;
    Ok(Json(AuditEntry::new(app.components(), caller.network, row)))
}

/// Read an entry of the operator's audit log
#[utoipa::path(get, path = "/api/admin/audit/{id}", operation_id = "get_audit_entry_of_hub", tag = "Audit",
    security(("apiKey" = ["operator"])), params(("id" = String, Path, example = "0006695bd4f9b0004fTq0Z")),
    responses((status = 200, body = AuditEntry), (status = 404, body = ErrorBody, description = "No such entry")))]
async fn one_of_hub(
    Operator(_caller): Operator,
    State(app): State<App>,
    Path(id): Path<Label>,
) -> Result<Json<AuditEntry>, ApiError> {
    let row = find(&app, OPERATOR_NETWORK, &id).await?;
    Ok(Json(AuditEntry::new(app.components(), OPERATOR_NETWORK, row)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct UndoQuery {
    /// True: only say what would be done.
    #[serde(default)]
    #[param(required = false, example = true)]
    dry_run: bool,
    /// True: overwrite what was changed since.
    #[serde(default)]
    #[param(required = false, example = false)]
    force: bool,
}

impl UndoQuery {
    fn how(self) -> How {
        How { dry_run: self.dry_run, force: self.force }
    }
}

/// Undo a change
///
/// Makes the inverse change on today's state, by the route that changes the thing, whose scopes the caller needs, too: the
/// answer names the request. Fields that others changed since stay; if they changed the same ones, the answer is 409
/// `revision_changed`, with what there is now. Entries with `undoable` can be undone.
#[utoipa::path(post, path = "/api/manage/audit/{id}/undo", operation_id = "undo_audit_entry", tag = "Audit",
    security(("apiKey" = ["audit:read", "network:manage"])), params(("id" = String, Path, example = "0006695bd4f9b0004fTq0Z"), UndoQuery),
    responses((status = 200, body = Undone),
        (status = 404, body = ErrorBody, description = "No such entry, or what it changed is no longer there"),
        (status = 409, body = ErrorBody, description = "Somebody changed it again since, or the change is refused now")))]
async fn undo_one(
    AuditRead(caller): AuditRead,
    State(app): State<App>,
    Path(id): Path<Label>,
    Query(query): Query<UndoQuery>,
    Extension(routes): Extension<OwnRoutes>,
    parts: Parts,
) -> Result<Json<Undone>, Response> {
    let row = find(&app, caller.network, &id).await.map_err(IntoResponse::into_response)?;
    undo::undo(app.components(), &routes, &parts, &row, false, query.how()).await.map(Json)
}

/// Undo a change by the operator
///
/// The same for what the operator's log has, such as plans.
#[utoipa::path(post, path = "/api/admin/audit/{id}/undo", operation_id = "undo_audit_entry_of_hub", tag = "Audit",
    security(("apiKey" = ["operator"])), params(("id" = String, Path, example = "0006695bd4f9b0004fTq0Z"), UndoQuery),
    responses((status = 200, body = Undone),
        (status = 404, body = ErrorBody, description = "No such entry, or what it changed is no longer there"),
        (status = 409, body = ErrorBody, description = "Somebody changed it again since, or the change is refused now")))]
async fn undo_one_of_hub(
    Operator(_caller): Operator,
    State(app): State<App>,
    Path(id): Path<Label>,
    Query(query): Query<UndoQuery>,
    Extension(routes): Extension<OwnRoutes>,
    parts: Parts,
) -> Result<Json<Undone>, Response> {
    let row = find(&app, OPERATOR_NETWORK, &id).await.map_err(IntoResponse::into_response)?;
    undo::undo(app.components(), &routes, &parts, &row, true, query.how()).await.map(Json)
}

//! `/api/manage/audit` for owners, `/api/admin/audit` for the operator.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::audit::service::{self, EntryRow, Filter};
use crate::auth::{ActorType, NetworkManage, OPERATOR_NETWORK, Operator};
use crate::clock::Millis;
use crate::compute::{LARGE_JSON, compute_if};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::limits;
use crate::values::{Label, NetworkId};

/// The routes of the audit log, all of which only read.
pub(crate) fn router() -> Endpoints {
    endpoints![list: large_answer, export: any_node, list_of_hub: large_answer, export_of_hub: any_node]
}

/// Who acted.
#[derive(Debug, Serialize, ToSchema)]
struct AuditActor {
    #[schema(value_type = ActorType)]
    r#type: String,
    /// The id of the key or the person; of others, what they are.
    #[schema(example = "4fTq0ZkX91ab")]
    id: String,
    /// What it was called then.
    #[schema(example = "lobby servers")]
    name: String,
}

/// A change, and who made it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AuditEntry {
    /// Later entries have higher ids.
    #[schema(example = "0006695bd4f9b0004fTq0Z")]
    id: String,
    #[schema(example = 1_804_680_000_000_i64)]
    at: Millis,
    actor: AuditActor,
    /// The kind of thing, and what was done with it.
    #[schema(example = "key.created")]
    action: String,
    /// The id or name of the thing.
    #[schema(example = "4fTq0ZkX91ab")]
    target: String,
    /// What it was, without secrets; `{"omittedBytes": n}` where that is large; null where there was nothing.
    #[schema(value_type = Option<Value>)]
    before: Option<Box<RawValue>>,
    /// What it became; null where there is nothing any more.
    #[schema(value_type = Option<Value>)]
    after: Option<Box<RawValue>>,
    /// The `X-Request-Id` of the request.
    request_id: Option<String>,
    /// The address that the request came from.
    #[schema(example = "203.0.113.7")]
    address: Option<String>,
}

impl From<EntryRow> for AuditEntry {
    fn from(row: EntryRow) -> Self {
        let value = |text: Option<String>| text.and_then(|text| RawValue::from_string(text).ok());
        Self {
            id: row.id,
            at: row.at,
            actor: AuditActor { r#type: row.actor_type, id: row.actor_id, name: row.actor_name },
            action: row.action,
            target: row.target,
            before: value(row.value_before),
            after: value(row.value_after),
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
    /// Only what this actor did, by its id.
    #[param(value_type = Option<String>, example = "4fTq0ZkX91ab")]
    actor: Option<Label>,
    /// Only this action.
    #[param(value_type = Option<String>, example = "key.created")]
    action: Option<Label>,
    /// Only what came before the entry with this id.
    #[param(value_type = Option<String>, example = "0006695bd4f9b0004fTq0Z")]
    before: Option<Label>,
}

async fn page(app: &App, network: NetworkId, query: AuditQuery) -> Result<Json<Page<AuditEntry>>, ApiError> {
    let AuditQuery { limit, page, actor, action, before } = query;
    let filter = Filter { actor: actor.map(Label::into_string), action: action.map(Label::into_string) };
    let before = before.as_ref().map(Label::as_str);
    let (rows, total) = service::page(&app.db, network, &filter, before, limit.0, page.offset(limit)).await?;
    Ok(Json(compute_if(is_large(&rows), || Page::new(rows, page, limit, total).map(AuditEntry::from)).await))
}

/// Read the audit log
///
/// Every change that was made with `/api/manage`, by the operator, on the command line or by the hub itself; the newest
/// first. With `before` a page begins behind the last entry of the one before, however many are added meanwhile.
#[utoipa::path(get, path = "/api/manage/audit", operation_id = "list_audit", tag = "Audit",
    security(("apiKey" = ["network:manage"])), params(AuditQuery), responses((status = 200, body = Page<AuditEntry>)))]
async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<AuditQuery>,
) -> Result<Json<Page<AuditEntry>>, ApiError> {
    page(&app, caller.network, query).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ExportQuery {
    /// Only what came after the entry with this id: the last one of the export before.
    #[param(value_type = Option<String>, example = "0006695bd4f9b0004fTq0Z")]
    after: Option<Label>,
}

/// An entry as a line of an export.
pub(crate) fn to_line(row: EntryRow) -> String {
    let mut line = serde_json::to_string(&AuditEntry::from(row)).unwrap_or_default();
    line.push('\n');
    line
}

/// All entries, one JSON object a line, read as the caller takes them.
async fn lines(app: App, network: NetworkId, query: ExportQuery) -> Result<Response, ApiError> {
    let open = limits::open::<ApiError>(&app, network, limits::Limit::Exports).await?;
    let after = query.after.map_or_else(String::new, Label::into_string);
    let pieces = stream::try_unfold((app, after), move |(app, after)| async move {
        let rows = service::next(&app.db, network, &after).await?;
        let Some(last) = rows.last().map(|row| row.id.clone()) else { return Ok(None) };
        let text: String = compute_if(is_large(&rows), || rows.into_iter().map(to_line).collect()).await;
        Ok::<_, hub_db::Error>(Some((Bytes::from(text), (app, last))))
    });
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], limits::body_of_open(open, pieces)).into_response())
}

/// Whether reading what the entries show takes a while.
fn is_large(rows: &[EntryRow]) -> bool {
    let bytes =
        |row: &EntryRow| [&row.value_before, &row.value_after].into_iter().flatten().map(String::len).sum::<usize>();
    rows.iter().map(bytes).sum::<usize>() > LARGE_JSON
}

/// Export the audit log
///
/// All of it as JSON lines, the oldest first: an entry as the list shows it on each line.
#[utoipa::path(get, path = "/api/manage/audit/export", operation_id = "export_audit", tag = "Audit",
    security(("apiKey" = ["network:manage"])), params(ExportQuery),
    responses((status = 200, body = String, content_type = "application/x-ndjson", description = "The entries")))]
async fn export(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    lines(app, caller.network, query).await
}

/// Read the operator's audit log
///
/// What the operator did, to the hub and to any network, and what the hub did to networks as a whole; the newest first.
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
/// As JSON lines, the oldest first.
#[utoipa::path(get, path = "/api/admin/audit/export", operation_id = "export_audit_of_hub", tag = "Audit",
    security(("apiKey" = ["operator"])), params(ExportQuery),
    responses((status = 200, body = String, content_type = "application/x-ndjson", description = "The entries")))]
async fn export_of_hub(
    Operator(_caller): Operator,
    State(app): State<App>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    lines(app, OPERATOR_NETWORK, query).await
}

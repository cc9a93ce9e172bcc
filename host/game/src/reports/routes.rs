//! `/api/plugin/reports` and `/api/manage/reports`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{PunishmentsWrite, ReportsManage};
use crate::chat::ChatLine;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::reports::chat_lines;
use crate::reports::model::{Report, ReportState, ReportWithChat};
use crate::reports::service::{self, NewReport};
use crate::values::{Identifier, PlayerId, Text, present};

/// Routes of reports.
pub(super) fn router() -> Endpoints {
    endpoints![create_report: transactional, list_reports: large_answer, read_report: large_answer, change_report]
}

/// A report with what the player said before.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlayerReport)]
struct ReportBody {
    #[serde(flatten)]
    report: Report,
    /// The reported player's newest 50 lines when it was written, if the network keeps a chat history; until 90 days after it was closed.
    #[schema(value_type = Vec<ChatLine>)]
    chat: Vec<Value>,
    /// True in a list that has no room for the lines: read the report itself. Else left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(nullable = false)]
    chat_omitted: bool,
}

impl From<ReportWithChat> for ReportBody {
    fn from(ReportWithChat { report, chat }: ReportWithChat) -> Self {
        Self { report, chat: chat_lines::parse(chat.as_deref()), chat_omitted: false }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewReport)]
struct CreateReport {
    reporter_uuid: PlayerId,
    /// The reported player.
    player_uuid: PlayerId,
    #[schema(value_type = Text<500>, example = "Insults in chat")]
    reason: Text<500>,
    /// Server on which it is written.
    #[schema(example = "lobby-1")]
    server_id: Option<Identifier>,
}

/// Report a player
///
/// Staff reads it at `/api/manage/reports`. One player has at most 5 reports that nobody has taken (403
/// `quota_exceeded`). Streams and webhooks that name it get a `REPORT_CREATED` event.
#[utoipa::path(post, path = "/api/plugin/reports", operation_id = "create_report", tag = "Reports",
    security(("apiKey" = ["punishments:write", "plugin"])), responses((status = 201, body = ReportBody)))]
async fn create_report(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Json(body): Json<CreateReport>,
) -> Result<(StatusCode, Json<ReportBody>), ApiError> {
    if body.reason.as_str().trim().is_empty() {
        return Err(ApiError::invalid("In the body, `reason`: must not be blank."));
    }
    let new = NewReport {
        reporter: body.reporter_uuid,
        player: body.player_uuid,
        reason: body.reason.into_string(),
        server: body.server_id.map(Identifier::into_string),
    };
    Ok((StatusCode::CREATED, Json(service::create(&app, caller.network, new).await?.into())))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only those in this state.
    #[param(inline)]
    state: Option<ReportState>,
}

/// List the reports
///
/// Newest first.
#[utoipa::path(get, path = "/api/manage/reports", operation_id = "list_reports", tag = "Reports",
    security(("apiKey" = ["reports:manage", "network:manage"])), params(ListQuery),
    responses((status = 200, body = Page<ReportBody>)))]
async fn list_reports(
    ReportsManage(caller): ReportsManage,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<ReportBody>>, ApiError> {
    let place = (query.limit.0, query.page.offset(query.limit));
    let (rows, total) = service::list(&app, caller.network, query.state, place).await?;
    let mut room = chat_lines::Room::default();
    let body = |row: ReportWithChat| {
        if room.take(row.chat.as_deref()) {
            return row.into();
        }
        ReportBody { report: row.report, chat: vec![], chat_omitted: true }
    };
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(body)))
}

/// Read a report
#[utoipa::path(get, path = "/api/manage/reports/{reportId}", operation_id = "get_report", tag = "Reports",
    security(("apiKey" = ["reports:manage", "network:manage"])), params(("reportId" = i64, Path, description = "Id of the report", example = 1)),
    responses((status = 200, body = ReportBody), (status = 404, body = ErrorBody, description = "No such report")))]
async fn read_report(
    ReportsManage(caller): ReportsManage,
    State(app): State<App>,
    Path(id): Path<i64>,
) -> Result<Json<ReportBody>, ApiError> {
    Ok(Json(service::get(&app, caller.network, id).await?.into()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ReportChanges)]
#[allow(clippy::option_option, reason = "null and absent differ")]
struct ChangeReport {
    /// TAKEN is by the caller. Absent: unchanged.
    state: Option<ReportState>,
    /// Staff's answer; null: none. Absent: unchanged.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Text<500>>, example = "Muted for a day")]
    resolution: Option<Option<Text<500>>>,
}

/// Change a report
///
/// Takes it, closes it or opens it again, or answers it.
#[utoipa::path(patch, path = "/api/manage/reports/{reportId}", operation_id = "change_report", tag = "Reports",
    security(("apiKey" = ["reports:manage", "network:manage"])), params(("reportId" = i64, Path, description = "Id of the report", example = 1)),
    responses((status = 200, body = ReportBody), (status = 404, body = ErrorBody, description = "No such report")))]
async fn change_report(
    ReportsManage(caller): ReportsManage,
    State(app): State<App>,
    Path(id): Path<i64>,
    Json(body): Json<ChangeReport>,
) -> Result<Json<ReportBody>, ApiError> {
    let resolution = body.resolution.map(|resolution| resolution.map(Text::into_string));
    let changed = service::change(&app, &caller, id, body.state, resolution.as_ref()).await?;
    Ok(Json(changed.into()))
}

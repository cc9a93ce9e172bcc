//! `/api/manage/appeals`.

use axum::extract::State;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::appeals::model::{Appeal, AppealDecision, AppealState};
use crate::appeals::service;
use crate::auth::PunishmentsManage;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::punishments::PunishmentDuration;
use crate::values::Text;

/// Routes of staff.
pub(super) fn router() -> Endpoints {
    endpoints![list_appeals: large_answer, decide_appeal: transactional]
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
    state: Option<AppealState>,
}

/// List the appeals
///
/// Newest first.
#[utoipa::path(get, path = "/api/manage/appeals", operation_id = "list_appeals", tag = "Appeals",
    security(("apiKey" = ["punishments:manage", "network:manage"])), params(ListQuery),
    responses((status = 200, body = Page<Appeal>)))]
async fn list_appeals(
    PunishmentsManage(caller): PunishmentsManage,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Appeal>>, ApiError> {
    let place = (query.limit.0, query.page.offset(query.limit));
    let (rows, total) = service::list(&app, caller.network, query.state, place).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppealRuling)]
struct Decide {
    decision: AppealDecision,
    /// Required for REDUCE, ignored otherwise: milliseconds from the punishment's issue.
    #[schema(example = 3_600_000)]
    duration_ms: Option<PunishmentDuration>,
    /// Answer to the player.
    #[schema(example = "Welcome back.")]
    answer: Option<Text<2000>>,
}

/// Decide an appeal
///
/// ACCEPT revokes the punishment, REDUCE gives it the duration `durationMs`, REJECT leaves it. The player reads `answer` with
/// the punishment's code.
#[utoipa::path(post, path = "/api/manage/appeals/{appealId}/decide", operation_id = "decide_appeal",
    tag = "Appeals", security(("apiKey" = ["punishments:manage", "network:manage"])),
    params(("appealId" = String, Path, description = "Id of the appeal", example = "4fTq0ZkX91ab4fTq")),
    responses((status = 200, body = Appeal), (status = 404, body = ErrorBody, description = "No such appeal"),
        (status = 409, body = ErrorBody, description = "It was decided, or the punishment to reduce has ended")))]
async fn decide_appeal(
    PunishmentsManage(caller): PunishmentsManage,
    State(app): State<App>,
    Path(id): Path<String>,
    Json(body): Json<Decide>,
) -> Result<Json<Appeal>, ApiError> {
    if body.decision == AppealDecision::Reduce && body.duration_ms.is_none() {
        return Err(ApiError::invalid("In the body, `durationMs`: is required for REDUCE."));
    }
    let answer = body.answer.as_ref().map(Text::as_str);
    Ok(Json(service::decide(&app, &caller, &id, body.decision, body.duration_ms, answer).await?))
}

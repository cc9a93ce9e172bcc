//! `/api/admin/plans`.

use axum::extract::State;
use axum::http::{HeaderName, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Operator;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch, entity_tag, revision_of};
use crate::http::page::{Page, PageQuery};
use crate::limits::{ModuleLimits, PlanLimits, object};
use crate::plans::announce_change;
use crate::plans::service::{self, Plan};
use crate::values::Label;

/// Routes of plans.
pub(super) fn router() -> Endpoints {
    endpoints![list, create: transactional, find, set, delete]
}

/// A plan.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Plan)]
#[serde(rename_all = "camelCase")]
struct PlanAnswer {
    #[schema(example = "small")]
    name: String,
    limits: PlanLimits,
    module_limits: ModuleLimits,
    created_at: Millis,
    updated_at: Millis,
}

impl From<Plan> for PlanAnswer {
    fn from(plan: Plan) -> Self {
        let Plan { name, limits, module_limits, created_at, updated_at } = plan;
        Self { name, limits, module_limits, created_at, updated_at }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanRequest)]
struct CreatePlan {
    #[schema(value_type = String, example = "small")]
    name: Label,
    /// Default: none.
    #[serde(default, deserialize_with = "object")]
    limits: Option<PlanLimits>,
    /// Default: that of each extension point.
    #[serde(default, deserialize_with = "object")]
    module_limits: Option<ModuleLimits>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanUpdate)]
struct SetPlan {
    /// All limits: absent ones no longer apply.
    #[serde(deserialize_with = "object")]
    #[schema(value_type = PlanLimits)]
    limits: Option<PlanLimits>,
    /// All module limits: absent ones get the default of their extension point.
    #[serde(default, deserialize_with = "object")]
    module_limits: Option<ModuleLimits>,
}

fn check(limits: &PlanLimits) -> Result<(), ApiError> {
    if limits.has_lone_burst() {
        return Err(ApiError::invalid("In the body, `limits.requestBurst`: requires `requestsPerSecond`."));
    }
    Ok(())
}

/// List the plans
///
/// By name. The plan `default` always exists; new networks are on it.
#[utoipa::path(get, path = "/api/admin/plans", operation_id = "list_plans", tag = "Operator",
    security(("apiKey" = ["operator"])), params(PageQuery), responses((status = 200, body = Page<PlanAnswer>)))]
async fn list(
    Operator(_caller): Operator,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<PlanAnswer>>, ApiError> {
    let (plans, total) = service::list(&app.db, query.limit.0, query.page.offset(query.limit)).await?;
    Ok(Json(Page::new(plans, query.page, query.limit, total).map(PlanAnswer::from)))
}

/// Create a plan
#[utoipa::path(post, path = "/api/admin/plans", operation_id = "create_plan", tag = "Operator",
    security(("apiKey" = ["operator"])), responses((status = 201, body = PlanAnswer)))]
async fn create(
    Operator(caller): Operator,
    State(app): State<App>,
    Json(body): Json<CreatePlan>,
) -> Result<(StatusCode, Json<PlanAnswer>), ApiError> {
    let (limits, module_limits) = (body.limits.unwrap_or_default(), body.module_limits.unwrap_or_default());
    check(&limits)?;
    let plan = service::create(&app.db, &caller.origin(&app), body.name.as_str(), limits, module_limits).await?;
    Ok((StatusCode::CREATED, Json(plan.into())))
}

/// A plan with the revision of its limits as `ETag`.
type Tagged = ([(HeaderName, String); 1], Json<PlanAnswer>);

fn tagged(plan: Plan) -> Tagged {
    (entity_tag(revision_of(&plan.shown())), Json(plan.into()))
}

/// Get a plan
///
/// The header `ETag` has the revision of its limits, for `If-Match` of a change.
#[utoipa::path(get, path = "/api/admin/plans/{name}", operation_id = "get_plan", tag = "Operator",
    security(("apiKey" = ["operator"])), params(("name" = String, Path, example = "small")),
    responses((status = 200, body = PlanAnswer, headers(("ETag" = String, description = "The plan's revision"))),
        (status = 404, body = ErrorBody, description = "No such plan")))]
async fn find(
    Operator(_caller): Operator,
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Tagged, ApiError> {
    Ok(tagged(service::find(&app.db, &name).await?))
}

/// Replace a plan
///
/// In effect within a second for all networks on it, at every node of the hub. With `If-Match` it replaces the plan only at
/// that revision, the `ETag` of reading it: else it is 409 `revision_changed` with the limits of now.
#[utoipa::path(put, path = "/api/admin/plans/{name}", operation_id = "put_plan", tag = "Operator",
    security(("apiKey" = ["operator"])), params(("name" = String, Path, example = "small"), ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = PlanAnswer, headers(("ETag" = String, description = "The new revision"))),
        (status = 404, body = ErrorBody, description = "No such plan"),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
async fn set(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(name): Path<String>,
    expected: IfMatch,
    Json(body): Json<SetPlan>,
) -> Result<Tagged, ApiError> {
    let (limits, module_limits) = (body.limits.unwrap_or_default(), body.module_limits.unwrap_or_default());
    check(&limits)?;
    let plan = service::set(&app.db, &caller.origin(&app), &name, (limits, module_limits), expected).await?;
    announce_change(&app).await;
    Ok(tagged(plan))
}

/// Delete a plan
///
/// Fails with 400 `plan_in_use` while a network is on it.
#[utoipa::path(delete, path = "/api/admin/plans/{name}", operation_id = "delete_plan", tag = "Operator",
    security(("apiKey" = ["operator"])), params(("name" = String, Path, example = "small")),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such plan")))]
async fn delete(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::delete(&app.db, &caller.origin(&app), &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

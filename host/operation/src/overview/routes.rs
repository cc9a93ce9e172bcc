//! `/api/manage/attention`, `/api/manage/counts`, `/api/manage/plan` and `/api/manage/search`.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{NetworkManage, OverviewRead, SearchRead};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Query};
use crate::http::page::BoundedInt;
use crate::overview::attention::{self, Item};
use crate::overview::counts::{Counts, Waiting};
use crate::overview::plan::{self, NetworkPlan};
use crate::overview::search::{self, Found};
use crate::values::Text;

/// Routes of this component.
pub(super) fn router() -> Endpoints {
    endpoints![list_attention, get_counts, get_plan, search_network]
}

/// Things that need a person's attention.
#[derive(Debug, Serialize, ToSchema)]
struct Attention {
    /// Serious things first, of each severity the newest first.
    items: Vec<Item>,
}

/// List what needs attention
///
/// Servers that went offline, webhooks that fail, modules that are skipped, lag or left events, limits that are nearly
/// used, and what waits for an answer. Each caller sees the part that they may read. It is computed with each request: a thing
/// that ended is not listed any more.
#[utoipa::path(get, path = "/api/manage/attention", tag = "Overview", operation_id = "list_attention",
    security(("apiKey" = ["servers:read", "modules:read", "punishments:manage", "reports:manage", "deliveries:manage",
        "network:manage"])),
    responses((status = 200, body = Attention)))]
async fn list_attention(
    OverviewRead(caller): OverviewRead,
    State(app): State<App>,
) -> Result<Json<Attention>, ApiError> {
    Ok(Json(Attention { items: attention::list(&app, &caller).await? }))
}

/// Count what waits for a person
///
/// The figures of a menu, in one request.
#[utoipa::path(get, path = "/api/manage/counts", tag = "Overview", operation_id = "get_counts",
    security(("apiKey" = ["servers:read", "modules:read", "punishments:manage", "reports:manage", "deliveries:manage",
        "network:manage"])),
    responses((status = 200, body = Counts)))]
async fn get_counts(OverviewRead(caller): OverviewRead, State(app): State<App>) -> Result<Json<Counts>, ApiError> {
    Ok(Json(Waiting::of(&app, &caller).await?.counts()))
}

/// Get the network's plan
///
/// Its limits, and how much of each is used. The operator of the hub sets it.
#[utoipa::path(get, path = "/api/manage/plan", tag = "Overview", operation_id = "get_network_plan",
    security(("apiKey" = ["network:manage"])),
    responses((status = 200, body = NetworkPlan),
        (status = 404, body = ErrorBody, description = "No plan: the operator's own network has none")))]
async fn get_plan(NetworkManage(caller): NetworkManage, State(app): State<App>) -> Result<Json<NetworkPlan>, ApiError> {
    Ok(Json(plan::of_network(&app, caller.network).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SearchQuery {
    /// Part of a name, in any case.
    #[param(value_type = String, example = "lobby")]
    q: Text<255>,
    /// Maximum number of results (default 8, at most 50).
    #[serde(default)]
    #[param(inline, required = false)]
    limit: BoundedInt<1, 50, 8>,
}

/// Things that were found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FoundThings)]
struct FoundList {
    /// The best matches first: the whole name, its beginning, a part of it.
    items: Vec<Found>,
}

/// Search the network
///
/// Servers, players, groups of permissions, modules and config documents with a text in their names, for a box in which
/// one types. Each caller finds what they may list. A part of fewer than three letters is searched among the 10,000 players
/// seen last.
#[utoipa::path(get, path = "/api/manage/search", tag = "Overview", operation_id = "find_by_name",
    security(("apiKey" = ["servers:read", "modules:read", "players:read", "network:manage"])),
    params(SearchQuery), responses((status = 200, body = FoundList)))]
async fn search_network(
    SearchRead(caller): SearchRead,
    State(app): State<App>,
    Query(query): Query<SearchQuery>,
) -> Result<Json<FoundList>, ApiError> {
    let items = search::search(&app, &caller, query.q.as_str(), query.limit.0).await?;
    Ok(Json(FoundList { items }))
}

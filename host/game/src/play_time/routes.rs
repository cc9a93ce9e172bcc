//! `/api/manage/players/{playerUuid}/playtime`, its visits, and `/api/manage/analytics/players`.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::PlayTimeRead;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber, PageQuery};
use crate::play_time::day::Day;
use crate::play_time::model::Visit;
use crate::play_time::report::{DayReport, PlayTime};
use crate::play_time::service;
use crate::values::{Identifier, PlayerId, blank_as_absent};

/// Routes of play time.
pub(super) fn router() -> Endpoints {
    endpoints![get_play_time, list_visits, list_days]
}

/// Stay of a player on a server.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlayerVisit {
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Time at which the player joined.
    #[schema(example = 1_804_680_000_000_i64)]
    from: Millis,
    /// Time at which the player left; null while they are there.
    #[schema(example = 1_804_683_600_000_i64)]
    to: Option<Millis>,
}

impl From<Visit> for PlayerVisit {
    fn from(visit: Visit) -> Self {
        Self { server_id: visit.server_id, from: visit.from_at, to: visit.to_at }
    }
}

/// Get a player's play time
///
/// A running visit is included. A server that falls silent ends its visits at its last heartbeat.
#[utoipa::path(get, path = "/api/manage/players/{playerUuid}/playtime", tag = "Players", operation_id = "get_play_time",
    security(("apiKey" = ["players:read", "network:manage"])), params(("playerUuid" = PlayerId, Path)),
    responses((status = 200, body = PlayTime), (status = 404, body = ErrorBody, description = "No such player")))]
async fn get_play_time(
    PlayTimeRead(caller): PlayTimeRead,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
) -> Result<Json<PlayTime>, ApiError> {
    Ok(Json(service::of_player(&app, caller.network, player).await?))
}

/// List a player's visits
///
/// Stays on servers of the last 30 days, newest first; at most the newest 1,000 are kept.
#[utoipa::path(get, path = "/api/manage/players/{playerUuid}/visits", tag = "Players",
    operation_id = "list_player_visits", security(("apiKey" = ["players:read", "network:manage"])),
    params(("playerUuid" = PlayerId, Path), PageQuery),
    responses((status = 200, body = Page<PlayerVisit>), (status = 404, body = ErrorBody, description = "No such player")))]
async fn list_visits(
    PlayTimeRead(caller): PlayTimeRead,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Query(PageQuery { limit, page }): Query<PageQuery>,
) -> Result<Json<Page<PlayerVisit>>, ApiError> {
    let (visits, total) = service::visits(&app, caller.network, player, limit.0, page.offset(limit)).await?;
    Ok(Json(Page::new(visits, page, limit, total).map(PlayerVisit::from)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DaysQuery {
    /// First day. Default: 30 days up to `to`.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "2027-02-09")]
    from: Option<Day>,
    /// Last day, at most 400 days in all. Default: today.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "2027-03-10")]
    to: Option<Day>,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
}

/// List how many players were online
///
/// Day by day in UTC, newest first, up to today. The numbers stay when players are erased.
#[utoipa::path(get, path = "/api/manage/analytics/players", tag = "Players", operation_id = "list_player_days",
    security(("apiKey" = ["players:read", "network:manage"])), params(DaysQuery), responses((status = 200, body = Page<DayReport>)))]
async fn list_days(
    PlayTimeRead(caller): PlayTimeRead,
    State(app): State<App>,
    Query(query): Query<DaysQuery>,
) -> Result<Json<Page<DayReport>>, ApiError> {
    let days = service::days(&app, caller.network, query.from, query.to).await?;
    Ok(Json(Page::paginate(days, query.page, query.limit)))
}

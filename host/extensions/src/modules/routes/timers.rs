//! Timers of modules.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::ModulesWrite;
use crate::clock::Millis;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::modules::handlers::{self, TimerRow};

/// A timer that a module has set.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModuleTimer)]
pub(super) struct Timer {
    #[schema(example = "player:069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    key: String,
    /// Time for which it was set.
    at: Millis,
    #[schema(value_type = Object, example = json!({"step": 2}))]
    payload: Box<RawValue>,
    /// Time at which it was set.
    set_at: Millis,
    /// Failed attempts.
    #[schema(example = 0)]
    attempts: i64,
}

impl From<TimerRow> for Timer {
    fn from(row: TimerRow) -> Self {
        Self {
            key: row.timer,
            at: row.fires_at,
            payload: RawValue::from_string(row.payload).unwrap_or_else(|_| RawValue::NULL.to_owned()),
            set_at: row.set_at,
            attempts: row.attempts,
        }
    }
}

/// List a module's timers
///
/// By key. Those of a module that is not at `schedules` wait until it is again.
#[utoipa::path(get, path = "/api/manage/modules/{name}/timers", operation_id = "list_timers",
    tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("name" = String, Path, example = "season"), PageQuery),
    responses((status = 200, body = Page<Timer>)))]
pub(super) async fn list(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<Timer>>, ApiError> {
    let place = (query.limit.0, query.page.offset(query.limit));
    let (rows, total) = handlers::list_timers(&app, caller.network, &name, place).await?;
    Ok(Json(Page::new(rows.into_iter().map(Timer::from).collect(), query.page, query.limit, total)))
}

/// Delete a timer
#[utoipa::path(delete, path = "/api/manage/modules/{name}/timers/{key}", operation_id = "delete_timer",
    tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("name" = String, Path, example = "season"),
        ("key" = String, Path, example = "player:069a79f4-44e9-4726-a5be-fca90e38aaf5")),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such timer")))]
pub(super) async fn delete(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path((name, key)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    handlers::delete_timer(&app, caller.network, &name, &key, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

//! Schedules of modules.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{ModulesRead, ModulesWrite};
use crate::clock::Millis;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::modules::handlers::{self, Outcome, Run, ScheduleRow};

/// A schedule of a module.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModuleSchedule)]
pub(super) struct Schedule {
    #[schema(example = "nightly")]
    name: String,
    /// Version of the module that runs it.
    #[schema(example = 4)]
    version: i64,
    /// Minute, hour, day of the month, month and weekday, in UTC.
    #[schema(example = "0 3 * * *")]
    cron: String,
    /// Missed ticks that are made up for: SKIP none, ONCE the newest, ALL one after the other, 100 at most.
    #[schema(example = "ONCE")]
    catch_up: String,
    /// Time of the next tick; null: there is none.
    next: Option<Millis>,
    /// The tick under way, or the last one; null without one.
    last: Option<Tick>,
    /// True while a tick is under way, or waits for its next attempt.
    running: bool,
}

/// A tick of a schedule.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModuleScheduleTick)]
struct Tick {
    /// Time at which it was due.
    due_at: Millis,
    /// Null of one that was missed.
    started_at: Option<Millis>,
    /// Null while it runs.
    ended_at: Option<Millis>,
    /// OK, FAILED (it is a dead letter), MISSED or RUNNING.
    #[schema(value_type = String, example = "OK")]
    outcome: Outcome,
    /// Attempts that have ended.
    #[schema(example = 1)]
    attempts: i64,
    /// Ticks that were missed before it and are not made up for; of a MISSED one, itself included.
    #[schema(example = 0)]
    missed: i64,
    /// True if a person asked for it.
    manual: bool,
    #[schema(example = "pcVlMkCLcJM5fAQA")]
    call_id: Option<String>,
    /// Number of effects.
    #[schema(example = 12)]
    effects: i64,
    /// Code of the last failure; null without one.
    #[schema(example = "trap")]
    code: Option<String>,
}

impl From<Run> for Tick {
    fn from(run: Run) -> Self {
        let Run { due_at, started_at, ended_at, outcome, attempts, missed, manual, call_id, effects, code } = run;
        Self { due_at, started_at, ended_at, outcome, attempts, missed, manual, call_id, effects, code }
    }
}

impl Schedule {
    fn new(row: ScheduleRow, version: i64) -> Self {
        Self {
            last: row.latest().map(Tick::from),
            running: row.run_seq.is_some(),
            name: row.name,
            version,
            cron: row.cron,
            catch_up: row.catch_up,
            next: row.next_at,
        }
    }
}

/// List a module's schedules
///
/// Those of its version in the chain of `schedules`, by name.
#[utoipa::path(get, path = "/api/manage/modules/{name}/schedules", operation_id = "list_schedules",
    tag = "Modules", security(("apiKey" = ["modules:read"])),
    params(("name" = String, Path, example = "season"), PageQuery),
    responses((status = 200, body = Page<Schedule>)))]
pub(super) async fn list(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<Schedule>>, ApiError> {
    let (rows, version) = handlers::list_schedules(&app, caller.network, &name).await?;
    let (total, offset) = (rows.len() as i64, query.page.offset(query.limit));
    let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
    let shown = rows.into_iter().skip(skipped).take(usize::try_from(query.limit.0).unwrap_or(0));
    let items = shown.map(|row| Schedule::new(row, version)).collect();
    Ok(Json(Page::new(items, query.page, query.limit, total)))
}

/// Id of the call that runs a schedule.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScheduleCall)]
pub(super) struct Started {
    #[schema(example = "pcVlMkCLcJM5fAQA")]
    call_id: String,
}

/// Run a schedule
///
/// Runs it at once, beside its times: `next` stays. 409 `running` while a tick is under way.
#[utoipa::path(post, path = "/api/manage/modules/{name}/schedules/{schedule}/run", operation_id = "run_schedule",
    tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("name" = String, Path, example = "season"), ("schedule" = String, Path, example = "nightly")),
    responses((status = 202, body = Started, description = "It runs"),
        (status = 404, body = ErrorBody, description = "No such schedule"),
        (status = 409, body = ErrorBody, description = "A tick is under way")))]
pub(super) async fn run(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path((name, schedule)): Path<(String, String)>,
) -> Result<(StatusCode, Json<Started>), ApiError> {
    let call_id = handlers::run_now(&app, caller.network, &name, &schedule, &caller.origin(&app)).await?;
    Ok((StatusCode::ACCEPTED, Json(Started { call_id })))
}

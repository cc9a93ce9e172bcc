//! Trying a module without effect.

use axum::extract::State;
use hub_sandbox::case::Input;
use hub_sandbox::contract::Point;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::http::caller::ModulesWrite;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::modules::logs::{explain, level_name};
use crate::modules::service::ModulesError;
use crate::modules::service::dry_run::{self as service, Subject};

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct DryRun {
    /// The extension point to run it at.
    #[schema(example = "chat")]
    point: String,
    /// What it is given: for `chat` a line, for `punishment` a proposal, for `matchmaking` a request with `servers` or
    /// `worlds`.
    #[schema(value_type = Object, example = json!({
        "player": {"uuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "name": "Notch"},
        "message": "hello", "serverId": "lobby-1", "serverType": "lobby"}))]
    input: Value,
    /// Its configuration; absent or null is `{}`.
    #[schema(value_type = Option<Object>)]
    config: Option<Map<String, Value>>,
}

/// How a dry run went.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DryRunReport {
    /// What the module answered; null where it failed.
    #[schema(value_type = Option<Object>)]
    output: Option<Value>,
    failure: Option<Failure>,
    logs: Vec<LoggedLine>,
    /// Lines beyond the limit.
    logs_dropped: u32,
    /// The same in every run with the same input.
    fuel: u64,
    duration_micros: u64,
    memory_bytes: usize,
    /// The data it asked for, in order, and what it was told.
    #[schema(value_type = Vec<Object>)]
    host_calls: Vec<hub_sandbox::HostCallRecord>,
}

/// Why a call has no answer.
#[derive(Debug, Serialize, ToSchema)]
struct Failure {
    /// Such as `trap`, `timed_out`, `out_of_fuel`, `out_of_memory`, `host_call_limit`, `invalid_answer`.
    #[schema(value_type = String, example = "trap")]
    code: &'static str,
    /// In words, with a backtrace where there is one.
    message: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct LoggedLine {
    #[schema(value_type = String, example = "INFO")]
    level: &'static str,
    message: String,
}

/// Try a module
///
/// Runs it once with the limits of its point. It reads what it would read in production; what it writes to its store is
/// forgotten, and nobody else notices anything.
#[utoipa::path(post, path = "/api/manage/modules/{name}/{version}/dry-run", operation_id = "dry_run_module",
    tag = "Modules", security(("apiKey" = ["modules:write"])), params(("name" = String, Path), ("version" = i64, Path)),
    responses((status = 200, body = DryRunReport),
        (status = 404, body = ErrorBody, description = "No such version, or no such point")))]
pub(super) async fn dry_run(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path((name, version)): Path<(String, i64)>,
    Json(body): Json<DryRun>,
) -> Result<Json<DryRunReport>, ApiError> {
    let point = Point::from_name(&body.point).ok_or(ModulesError::UnknownPoint(body.point))?;
    let input = Input::parse(point, body.input).map_err(ModulesError::InvalidInput)?;
    let subject = Subject { name: &name, version, point, config: body.config.unwrap_or_default() };
    let report = service::run(&app, caller.network, subject, &input).await?;
    let (output, failure) = match report.result {
        Ok(output) => (Some(output), None),
        Err(failure) => (None, Some(Failure { code: failure.code(), message: explain(&failure) })),
    };
    let logs = report.logs.into_iter();
    Ok(Json(DryRunReport {
        output,
        failure,
        logs: logs.map(|line| LoggedLine { level: level_name(line.level), message: line.message }).collect(),
        logs_dropped: report.logs_dropped,
        fuel: report.fuel,
        duration_micros: report.micros,
        memory_bytes: report.memory_bytes,
        host_calls: report.host_calls,
    }))
}

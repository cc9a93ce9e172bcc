//! Dry runs.

use axum::extract::State;
use hub_sandbox::AnyInput;
use hub_sandbox::contract::Point;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::ModulesWrite;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::modules::routes::report::{Report, Seed};
use crate::modules::service::ModulesError;
use crate::modules::service::dry_run::{self as service, DryRunOptions, Target};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DryRunRequest)]
pub(super) struct DryRun {
    /// Extension point to run it at.
    #[schema(example = "chat")]
    point: String,
    /// Input of the module: for `chat` a line, for `punishment` a proposal, for `matchmaking` a request with `servers`
    /// or `worlds`, for `login` a player who joins, for `economy` a change, for `queue` a ticket, for `events` an event, for
    /// `endpoints` a request.
    #[schema(value_type = Object, example = json!({
        "player": {"uuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "name": "Notch"},
        "message": "hello", "serverId": "lobby-1", "serverType": "lobby"}))]
    input: Value,
    /// Its configuration. Default: `{}`.
    #[schema(value_type = Option<Object>)]
    config: Option<Map<String, Value>>,
    /// Current time for the module, in milliseconds since the Unix epoch. Default: now.
    #[schema(value_type = Option<i64>, minimum = 0)]
    now_ms: Option<u64>,
    /// Random number for the module, or its text. Default: a new one each time.
    #[schema(value_type = Option<String>, example = "42")]
    seed: Option<Seed>,
}

/// Outcome of a dry run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DryRunReport {
    #[serde(flatten)]
    report: Report,
    duration_micros: u64,
    /// Microseconds of the module's own computation.
    compute_micros: u64,
    /// Current time passed to the module.
    now_ms: u64,
    /// Random number passed to the module.
    #[schema(value_type = String, example = "42")]
    seed: Seed,
}

/// Try a module
///
/// Runs it once with the limits of its point. It reads production data; its writes to its store are discarded, and the
/// run has no other effect.
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
    let input = AnyInput::parse(point, body.input).map_err(ModulesError::InvalidInput)?;
    let target = Target { name: &name, version, point };
    let options = DryRunOptions {
        config: body.config.unwrap_or_default(),
        now_ms: body.now_ms,
        seed: body.seed.map(|Seed(seed)| seed),
    };
    let ran = service::run(&app, caller.network, target, options, &input).await?;
    Ok(Json(DryRunReport {
        duration_micros: ran.report.micros,
        compute_micros: ran.report.compute_micros,
        report: ran.report.into(),
        now_ms: ran.now_ms,
        seed: Seed(ran.seed),
    }))
}

//! Replays of recorded calls.

use axum::extract::State;
use hub_sandbox::contract::Point;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::ModulesWrite;
use crate::cluster::RequestLease;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::modules::records::MAX_CALLS;
use crate::modules::routes::report::{Failure, LoggedLine, Report, Seed};
use crate::modules::service::ModulesError;
use crate::modules::service::dry_run::Target;
use crate::modules::service::replay::{self as service, Replayed, Summary};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReplayRequest)]
pub(super) struct Replay {
    /// Extension point of the calls.
    #[schema(example = "chat")]
    point: String,
    /// Number of newest calls; 100 by default, at most 1,000. Not together with `callId`.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 1000, default = 100)]
    last: Option<usize>,
    /// Id of the only call to replay.
    call_id: Option<String>,
    /// Configuration to run with. Default: that of the module of this name in each call, else in the chain, else `{}`.
    #[schema(value_type = Option<Object>)]
    config: Option<Map<String, Value>>,
}

/// Result of a replay of many calls or of one.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ReplayResult)]
pub(super) enum ReplayAnswer {
    Many(ReplaySummary),
    One(Box<ReplayReport>),
}

/// A replay of many calls.
#[derive(Serialize, ToSchema)]
pub(super) struct ReplaySummary {
    /// Replayed calls. Fewer than requested if there were no more, or if it took too long.
    calls: u64,
    /// Calls with the same answer as recorded.
    same: u64,
    different: u64,
    failed: u64,
    /// Host calls without a recorded answer: answered from its store if the records show the value, else as missing.
    unrecorded: u64,
    /// The newest ten differing or failed calls, newest first.
    examples: Vec<Example>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReplayDifference)]
struct Example {
    call_id: String,
    at: u64,
    #[schema(value_type = Object)]
    input: Value,
    /// Recorded answer or failure of the module of this name; the call's outcome if it had no part in it.
    #[schema(value_type = Object)]
    recorded: Value,
    /// Answer of the replay; null if it failed.
    #[schema(value_type = Option<Object>)]
    replayed: Option<Value>,
    failure: Option<Failure>,
    logs: Vec<LoggedLine>,
    fuel: u64,
}

/// A replay of one call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReplayReport {
    call_id: String,
    at: u64,
    #[schema(value_type = String, example = "42")]
    seed: Seed,
    #[schema(value_type = Object)]
    config: Box<RawValue>,
    #[schema(value_type = Object)]
    input: Value,
    /// See the examples of a replay of many calls.
    #[schema(value_type = Object)]
    recorded: Value,
    unrecorded: u64,
    #[serde(flatten)]
    report: Report,
}

impl From<Summary> for ReplaySummary {
    fn from(summary: Summary) -> Self {
        let Summary { calls, same, different, failed, unrecorded, examples } = summary;
        Self { calls, same, different, failed, unrecorded, examples: examples.into_iter().map(Example::from).collect() }
    }
}

impl From<Replayed> for Example {
    fn from(replayed: Replayed) -> Self {
        let (answer, failure) = match replayed.report.result {
            Ok(answer) => (Some(answer), None),
            Err(failure) => (None, Some(Failure::from(&failure))),
        };
        Self {
            call_id: replayed.record.call.call_id.clone(),
            at: replayed.record.call.now_ms,
            input: replayed.input.to_json(),
            recorded: replayed.recorded,
            replayed: answer,
            failure,
            logs: replayed.report.logs.into_iter().map(LoggedLine::from).collect(),
            fuel: replayed.report.fuel,
        }
    }
}

impl TryFrom<Replayed> for ReplayReport {
    type Error = ModulesError;

    fn try_from(replayed: Replayed) -> Result<Self, ModulesError> {
        let call = &replayed.record.call;
        Ok(Self {
            call_id: call.call_id.clone(),
            at: call.now_ms,
            seed: Seed(call.seed),
            config: RawValue::from_string(replayed.config)?,
            input: replayed.input.to_json(),
            recorded: replayed.recorded,
            unrecorded: replayed.unrecorded,
            report: replayed.report.into(),
        })
    }
}

/// Replay calls
///
/// Runs this version over the newest calls of an extension point, even those from before its upload, and compares its
/// answers with those of the module of that name, else with the call's outcome. It gets the recorded input, time,
/// random number and host answers, so that a replay always gives the same result. It has no effect. With `callId` it
/// replays that call alone and returns all details.
#[utoipa::path(post, path = "/api/manage/modules/{name}/{version}/replay", operation_id = "replay_module",
    tag = "Modules", security(("apiKey" = ["modules:write"])), params(("name" = String, Path), ("version" = i64, Path)),
    responses((status = 200, body = ReplayAnswer),
        (status = 404, body = ErrorBody, description = "No such version, no such point, or no such call")))]
pub(super) async fn replay(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    lease: RequestLease,
    Path((name, version)): Path<(String, i64)>,
    Json(body): Json<Replay>,
) -> Result<Json<ReplayAnswer>, ApiError> {
    let point = Point::from_name(&body.point).ok_or(ModulesError::UnknownPoint(body.point))?;
    let target = Target { name: &name, version, point };
    match (body.call_id, body.last) {
        (Some(_), Some(_)) => Err(ModulesError::OneOrMany.into()),
        (Some(call_id), None) => {
            let replayed = service::one(&app, caller.network, &target, &call_id, body.config, &lease).await?;
            Ok(Json(ReplayAnswer::One(Box::new(replayed.try_into()?))))
        }
        (None, last) => {
            let last = last.unwrap_or(100);
            if !(1..=MAX_CALLS).contains(&last) {
                return Err(ApiError::invalid(format!("In the body, `last`: must be 1 to {MAX_CALLS}.")));
            }
            let summary = service::many(&app, caller.network, &target, last, body.config, &lease).await?;
            Ok(Json(ReplayAnswer::Many(summary.into())))
        }
    }
}

//! The recorded calls.

use std::sync::Arc;

use axum::extract::State;
use hub_sandbox::HostCallRecord;
use hub_sandbox::contract::Point;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::ModulesRead;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Offset};
use crate::modules::Modules;
use crate::modules::records::{Record, RecordedStep};
use crate::modules::routes::points::parse_point;
use crate::modules::routes::report::{Failure, LoggedLine, Seed};
use crate::modules::service::ModulesError;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CallsQuery {
    /// How many are wanted: 50 when absent, 200 at most.
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// How many of the newest to leave out.
    #[serde(default)]
    #[param(inline, required = false)]
    offset: Offset,
    /// Only calls in which a module failed, or only others; with `module`, in which that one did.
    #[param(required = false)]
    failed: Option<bool>,
    /// Only calls in which the module of this name was called.
    #[param(required = false)]
    module: Option<String>,
}

/// Some of the calls that are kept.
#[derive(Serialize, ToSchema)]
#[schema(as = RecordedCallList)]
pub(super) struct Calls {
    /// The newest first.
    items: Vec<CallItem>,
    /// How many of the newest were left out.
    offset: i64,
    /// The most rows there are in one answer.
    limit: i64,
    /// How many there are in all.
    total: usize,
}

/// A call as the list has it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordedCallSummary)]
struct CallItem {
    call_id: String,
    at: u64,
    /// Microseconds that its modules took.
    micros: u64,
    /// Those that were reached, in order; none where the built-in behaviour decided.
    modules: Vec<ModuleOutcome>,
}

#[derive(Serialize, ToSchema)]
struct ModuleOutcome {
    name: String,
    version: u64,
    /// `ok`, the code of its failure, `late`, or `skipped` where its breaker was open.
    #[schema(value_type = String, example = "ok")]
    outcome: &'static str,
}

/// A call with all that is needed to make it again.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordedCall {
    call_id: String,
    network_id: String,
    #[schema(value_type = String, example = "chat")]
    point: Point,
    at: u64,
    /// The random number the modules were given.
    #[schema(value_type = String, example = "42")]
    seed: Seed,
    micros: u64,
    #[schema(value_type = Object)]
    input: Value,
    /// What became of it, as one module alone would have answered.
    #[schema(value_type = Object)]
    ruling: Value,
    modules: Vec<ModulesPart>,
}

/// What one module did in a call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordedModuleCall)]
struct ModulesPart {
    name: String,
    version: u64,
    #[schema(value_type = Object)]
    config: Box<RawValue>,
    /// What it was given: what the modules before it made of the call's input.
    #[schema(value_type = Object)]
    input: Value,
    #[schema(value_type = String, example = "ok")]
    outcome: &'static str,
    /// What it answered; null where it has no answer.
    #[schema(value_type = Option<Object>)]
    output: Option<Value>,
    failure: Option<Failure>,
    fuel: u64,
    micros: u64,
    /// Microseconds that it computed itself.
    compute_micros: u64,
    /// All other microseconds of the call: for a permit, for the hub's answers, for a processor.
    waited_micros: u64,
    memory_bytes: usize,
    logs: Vec<LoggedLine>,
    logs_dropped: u32,
    /// The data it asked for, in order, and what it was told.
    #[schema(value_type = Vec<Object>)]
    host_calls: Vec<HostCallRecord>,
}

impl From<&Arc<Record>> for CallItem {
    fn from(record: &Arc<Record>) -> Self {
        let outcome = |step: &RecordedStep| ModuleOutcome {
            name: step.link.name.clone(),
            version: step.link.version,
            outcome: step.outcome(),
        };
        Self {
            call_id: record.call.call_id.clone(),
            at: record.call.now_ms,
            micros: record.micros(),
            modules: record.steps.iter().map(outcome).collect(),
        }
    }
}

impl TryFrom<&RecordedStep> for ModulesPart {
    type Error = ModulesError;

    fn try_from(step: &RecordedStep) -> Result<Self, ModulesError> {
        let report = step.report.as_ref();
        let result = report.map(|report| &report.result);
        Ok(Self {
            name: step.link.name.clone(),
            version: step.link.version,
            config: RawValue::from_string(step.link.config.clone())?,
            input: step.input.to_json(),
            outcome: step.outcome(),
            output: result.and_then(|result| Some(result.as_ref().ok()?.to_json())),
            failure: result.and_then(|result| result.as_ref().err().map(Failure::from)),
            fuel: report.map_or(0, |report| report.fuel),
            micros: report.map_or(0, |report| report.micros),
            compute_micros: report.map_or(0, |report| report.compute_micros),
            waited_micros: report.map_or(0, |report| report.waited_micros),
            memory_bytes: report.map_or(0, |report| report.memory_bytes),
            logs: report.into_iter().flat_map(|report| report.logs.iter().cloned().map(LoggedLine::from)).collect(),
            logs_dropped: report.map_or(0, |report| report.logs_dropped),
            host_calls: report.map(|report| report.host_calls.clone()).unwrap_or_default(),
        })
    }
}

/// List the latest calls of an extension point
///
/// This hub node keeps the latest 1,000 of each point, and besides the latest 100 in which a module failed, in memory and
/// within bounds on it; also where no module is asked, so that one can be tried on them before it is. Of many calls of
/// matchmaking without a module it keeps some.
#[utoipa::path(get, path = "/api/manage/extension-points/{point}/calls", operation_id = "list_recorded_calls", tag = "Modules",
    security(("apiKey" = ["modules:read"])), params(("point" = String, Path, example = "chat"), CallsQuery),
    responses((status = 200, body = Calls), (status = 404, body = ErrorBody, description = "No such point")))]
pub(super) async fn list(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path(point): Path<String>,
    Query(query): Query<CallsQuery>,
) -> Result<Json<Calls>, ApiError> {
    let mut calls = app.state::<Modules>().records.all(caller.network, parse_point(&point)?);
    calls.retain(|call| {
        let is_named = |step: &&RecordedStep| query.module.as_ref().is_none_or(|module| step.link.name == *module);
        let (is_called, has_failed) = (
            query.module.is_none() || call.steps.iter().any(|step| is_named(&step)),
            call.steps.iter().filter(is_named).any(RecordedStep::has_failed),
        );
        is_called && query.failed.is_none_or(|failed| has_failed == failed)
    });
    let skip = usize::try_from(query.offset.0).unwrap_or(usize::MAX);
    let items = calls.iter().skip(skip).take(query.limit.0 as usize).map(CallItem::from).collect();
    Ok(Json(Calls { items, offset: query.offset.0, limit: query.limit.0, total: calls.len() }))
}

/// Get one of the latest calls
///
/// With what each module was given, asked and was told, so that it can be made again: here by a replay, or elsewhere.
#[utoipa::path(get, path = "/api/manage/extension-points/{point}/calls/{callId}", operation_id = "get_recorded_call",
    tag = "Modules", security(("apiKey" = ["modules:read"])),
    params(("point" = String, Path, example = "chat"), ("callId" = String, Path, example = "9f86d081884c7d65")),
    responses((status = 200, body = RecordedCall),
        (status = 404, body = ErrorBody, description = "No such point, or no such call among the latest")))]
pub(super) async fn find(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path((point, call_id)): Path<(String, String)>,
) -> Result<Json<RecordedCall>, ApiError> {
    let point = parse_point(&point)?;
    let record = app.state::<Modules>().records.find(caller.network, point, &call_id);
    let record = record.ok_or(ModulesError::UnknownCall(call_id, point))?;
    Ok(Json(RecordedCall {
        call_id: record.call.call_id.clone(),
        network_id: record.call.network_id.clone(),
        point,
        at: record.call.now_ms,
        seed: Seed(record.call.seed),
        micros: record.micros(),
        input: record.input.to_json(),
        ruling: record.ruling(),
        modules: record.steps.iter().map(ModulesPart::try_from).collect::<Result<_, _>>()?,
    }))
}

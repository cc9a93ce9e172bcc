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
use crate::auth::ModulesWrite;
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
    /// Number of calls: 50 by default, 200 at most.
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// Number of newest calls to skip.
    #[serde(default)]
    #[param(inline, required = false)]
    offset: Offset,
    /// Only calls with (or without) a failed module; with `module`, only the failure of that one counts.
    #[param(required = false)]
    failed: Option<bool>,
    /// Only calls that reached the module of this name.
    #[param(required = false)]
    module: Option<String>,
}

/// A page of the recorded calls.
#[derive(Serialize, ToSchema)]
#[schema(as = RecordedCallList)]
pub(super) struct Calls {
    /// Newest first.
    items: Vec<CallItem>,
    /// Number of newest calls that were skipped.
    offset: i64,
    /// Maximum number of rows in one answer.
    limit: i64,
    /// Total number of calls.
    total: usize,
}

/// Summary of a call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordedCallSummary)]
struct CallItem {
    call_id: String,
    at: u64,
    /// Microseconds of its modules.
    micros: u64,
    /// Modules that were reached, in order; empty if the built-in behaviour decided.
    modules: Vec<ModuleOutcome>,
}

#[derive(Serialize, ToSchema)]
struct ModuleOutcome {
    name: String,
    version: u64,
    /// `ok`, the code of its failure, `late`, or `skipped` if its breaker was open.
    #[schema(value_type = String, example = "ok")]
    outcome: &'static str,
}

/// A call, complete enough to repeat it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordedCall {
    call_id: String,
    network_id: String,
    #[schema(value_type = String, example = "chat")]
    point: Point,
    at: u64,
    /// Random number passed to the modules.
    #[schema(value_type = String, example = "42")]
    seed: Seed,
    micros: u64,
    #[schema(value_type = Object)]
    input: Value,
    /// Decision of the call, in the form of a single module's answer.
    #[schema(value_type = Object)]
    ruling: Value,
    modules: Vec<ModulesPart>,
}

/// One module's part in a call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordedModuleCall)]
struct ModulesPart {
    name: String,
    version: u64,
    #[schema(value_type = Object)]
    config: Box<RawValue>,
    /// Its input: the call's input after the modules before it.
    #[schema(value_type = Object)]
    input: Value,
    #[schema(value_type = String, example = "ok")]
    outcome: &'static str,
    /// Its answer; null if there is none.
    #[schema(value_type = Option<Object>)]
    output: Option<Value>,
    failure: Option<Failure>,
    fuel: u64,
    micros: u64,
    /// Microseconds of its own computation.
    compute_micros: u64,
    /// Microseconds of waiting for a permit, the hub's answers and a processor.
    waited_micros: u64,
    memory_bytes: usize,
    logs: Vec<LoggedLine>,
    logs_dropped: u32,
    /// Its requests for data, in order, with the answers.
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
/// This hub node keeps the latest 1,000 calls of each point, plus the latest 100 with a failed module, in memory and
/// within its bounds. Calls without a chain are recorded as well, so that a module can be tried on them; frequent
/// matchmaking calls without a module are sampled. The list begins anew when the network moves to another node, and
/// when the node stops.
#[utoipa::path(get, path = "/api/manage/extension-points/{point}/calls", operation_id = "list_recorded_calls", tag = "Modules",
    security(("apiKey" = ["modules:write"])), params(("point" = String, Path, example = "chat"), CallsQuery),
    responses((status = 200, body = Calls), (status = 404, body = ErrorBody, description = "No such point")))]
pub(super) async fn list(
    ModulesWrite(caller): ModulesWrite,
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

/// Get a recorded call
///
/// With each module's input, requests and answers, so that the call can be repeated: by a replay here, or elsewhere.
#[utoipa::path(get, path = "/api/manage/extension-points/{point}/calls/{callId}", operation_id = "get_recorded_call",
    tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("point" = String, Path, example = "chat"), ("callId" = String, Path, example = "9f86d081884c7d65")),
    responses((status = 200, body = RecordedCall),
        (status = 404, body = ErrorBody, description = "No such point, or no such call among the latest")))]
pub(super) async fn find(
    ModulesWrite(caller): ModulesWrite,
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

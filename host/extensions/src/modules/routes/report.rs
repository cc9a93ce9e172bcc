//! Report of a call, for dry runs, replays and recorded calls.

use hub_sandbox::{CallFailure, CallReport, HostCallRecord, LogLine};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::modules::logs::{explain, level_name};

/// A module's answer and its cost; without the duration, which differs on every run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModuleCallReport)]
pub(super) struct Report {
    /// The module's answer; null if it failed.
    #[schema(value_type = Option<Object>)]
    output: Option<Value>,
    failure: Option<Failure>,
    logs: Vec<LoggedLine>,
    /// Number of lines beyond the limit.
    logs_dropped: u32,
    /// Same in every run with the same input and host answers.
    fuel: u64,
    memory_bytes: usize,
    /// Its requests for data, in order, with the answers.
    #[schema(value_type = Vec<Object>)]
    host_calls: Vec<HostCallRecord>,
}

impl From<CallReport<Value>> for Report {
    fn from(report: CallReport<Value>) -> Self {
        let (output, failure) = match report.result {
            Ok(output) => (Some(output), None),
            Err(failure) => (None, Some(Failure::from(&failure))),
        };
        Self {
            output,
            failure,
            logs: report.logs.into_iter().map(LoggedLine::from).collect(),
            logs_dropped: report.logs_dropped,
            fuel: report.fuel,
            memory_bytes: report.memory_bytes,
            host_calls: report.host_calls,
        }
    }
}

/// Reason for a missing answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModuleFailure)]
pub(super) struct Failure {
    /// One of `trap`, `timed_out`, `out_of_fuel`, `out_of_memory`, `host_call_limit`, `invalid_answer`, `late` and
    /// others.
    #[schema(value_type = String, example = "trap")]
    code: &'static str,
    /// Explanation, with a backtrace if there is one.
    message: String,
}

impl From<&CallFailure> for Failure {
    fn from(failure: &CallFailure) -> Self {
        Self { code: failure.code(), message: explain(failure) }
    }
}

/// A line logged by a module.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModuleOutputLine)]
pub(super) struct LoggedLine {
    #[schema(value_type = String, example = "INFO")]
    level: &'static str,
    message: String,
}

impl From<LogLine> for LoggedLine {
    fn from(line: LogLine) -> Self {
        Self { level: level_name(line.level), message: line.message }
    }
}

/// A seed: JavaScript's numbers cannot hold every one, so it is shown, and may be sent, as text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seed(pub(super) u64);

impl Serialize for Seed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a seed is a non-negative integer, or its text")]
        enum Written {
            Number(u64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(seed) => Ok(Self(seed)),
            Written::Text(text) => {
                text.parse().map(Self).map_err(|_| serde::de::Error::custom("a seed's text must be an integer"))
            }
        }
    }
}

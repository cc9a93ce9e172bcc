//! Reports of single calls.

use hub_sandbox::test_case::one_line;
use hub_sandbox::{CallReport, HostCallRecord};
use serde_json::{Value, json};

use crate::cli::module::{explain, format, level_name};

/// Formats a local call like the hub's answers for dry runs and replays.
pub(super) fn report_json(call: &CallReport<Value>) -> Value {
    let failure = call.result.as_ref().err().map(|why| json!({"code": why.code(), "message": explain(why)}));
    let logs = call.logs.iter().map(|line| json!({"level": level_name(line.level), "message": line.message}));
    json!({
        "output": call.result.as_ref().ok(), "failure": failure, "logs": logs.collect::<Vec<_>>(),
        "logsDropped": call.logs_dropped, "durationMicros": call.micros, "fuel": call.fuel,
        "memoryBytes": call.memory_bytes, "hostCalls": call.host_calls,
    })
}

/// Formats answer or failure, logs, host calls and cost of a call.
pub(super) fn format_report(call: &Value) -> String {
    let mut lines = vec![];
    if call["failure"].is_null() {
        lines.push(format!("answer  {}", one_line(&call["output"])));
    } else {
        lines.push(format!("failed  {}", format::text(&call["failure"], "code")));
        lines.extend(format::text(&call["failure"], "message").lines().map(|line| format!("        {line}")));
    }
    lines.extend(trace(call));
    let count = |field: &str| call[field].as_u64();
    let cost = [
        count("durationMicros").map(format::millis),
        count("fuel").map(|fuel| format!("{} fuel", format::number(fuel))),
        count("memoryBytes").and_then(|bytes| usize::try_from(bytes).ok()).map(format::bytes),
    ];
    lines.push(format!("cost    {}", cost.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    lines.join("\n")
}

/// Formats the logs and host calls of a call.
pub(super) fn trace(call: &Value) -> Vec<String> {
    let all = |field: &str| call[field].as_array().cloned().unwrap_or_default();
    let mut lines = vec![];
    for line in all("logs") {
        let message = format::text(&line, "message").replace('\n', "\n              ");
        lines.push(format!("log     {:<5} {message}", format::text(&line, "level")));
    }
    if let Some(dropped) = call["logsDropped"].as_u64().filter(|dropped| *dropped > 0) {
        lines.push(format!("log     {dropped} more lines were dropped"));
    }
    for call in all("hostCalls") {
        let record = serde_json::from_value::<HostCallRecord>(call.clone());
        let call = record.map_or_else(|_| one_line(&call), |record| format::host_call(&record));
        lines.push(format!("asked   {call}"));
    }
    lines
}

//! How one call went, for people.

use hub_sandbox::test_case::one_line;
use hub_sandbox::{CallReport, HostCallRecord};
use serde_json::{Value, json};

use crate::cli::module::{explain, level_name, show};

/// A call that was made here, in the form in which the hub answers dry runs and replays.
pub(super) fn report_of(call: &CallReport<Value>) -> Value {
    let failure = call.result.as_ref().err().map(|why| json!({"code": why.code(), "message": explain(why)}));
    let logs = call.logs.iter().map(|line| json!({"level": level_name(line.level), "message": line.message}));
    json!({
        "output": call.result.as_ref().ok(), "failure": failure, "logs": logs.collect::<Vec<_>>(),
        "logsDropped": call.logs_dropped, "durationMicros": call.micros, "fuel": call.fuel,
        "memoryBytes": call.memory_bytes, "hostCalls": call.host_calls,
    })
}

/// Answer or failure, logs, host calls and cost of a call.
pub(super) fn report(call: &Value) -> String {
    let mut lines = vec![];
    if call["failure"].is_null() {
        lines.push(format!("answer  {}", one_line(&call["output"])));
    } else {
        lines.push(format!("failed  {}", show::text(&call["failure"], "code")));
        lines.extend(show::text(&call["failure"], "message").lines().map(|line| format!("        {line}")));
    }
    lines.extend(traces(call));
    let count = |field: &str| call[field].as_u64();
    let cost = [
        count("durationMicros").map(show::millis),
        count("fuel").map(|fuel| format!("{} fuel", show::number(fuel))),
        count("memoryBytes").and_then(|bytes| usize::try_from(bytes).ok()).map(show::bytes),
    ];
    lines.push(format!("cost    {}", cost.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    lines.join("\n")
}

/// What a call logged and asked.
pub(super) fn traces(call: &Value) -> Vec<String> {
    let all = |field: &str| call[field].as_array().cloned().unwrap_or_default();
    let mut lines = vec![];
    for logged in all("logs") {
        let said = show::text(&logged, "message").replace('\n', "\n              ");
        lines.push(format!("log     {:<5} {said}", show::text(&logged, "level")));
    }
    if let Some(dropped) = call["logsDropped"].as_u64().filter(|dropped| *dropped > 0) {
        lines.push(format!("log     {dropped} more lines were dropped"));
    }
    for asked in all("hostCalls") {
        let record = serde_json::from_value::<HostCallRecord>(asked.clone());
        let asked = record.map_or_else(|_| one_line(&asked), |record| show::host_call(&record));
        lines.push(format!("asked   {asked}"));
    }
    lines
}

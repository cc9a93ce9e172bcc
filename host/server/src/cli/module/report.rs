//! What the hub reports about one call, for people.

use hub_sandbox::HostCallRecord;
use hub_sandbox::case::one_line;
use serde_json::Value;

use crate::cli::module::show;

/// Answer or failure, logs, host calls and cost of a call, as dry runs and replays answer them.
pub(super) fn report(call: &Value) -> String {
    let mut lines = vec![];
    if call["failure"].is_null() {
        lines.push(format!("answer  {}", one_line(&call["output"])));
    } else {
        lines.push(format!("failed  {}", show::text(&call["failure"], "code")));
        lines.extend(show::text(&call["failure"], "message").lines().map(|line| format!("        {line}")));
    }
    for logged in call["logs"].as_array().into_iter().flatten() {
        lines.push(format!("log     {:<5} {}", show::text(logged, "level"), show::text(logged, "message")));
    }
    if call["logsDropped"].as_u64().is_some_and(|dropped| dropped > 0) {
        lines.push(format!("log     {} more lines were dropped", call["logsDropped"]));
    }
    for asked in call["hostCalls"].as_array().into_iter().flatten() {
        let asked = serde_json::from_value::<HostCallRecord>(asked.clone())
            .map_or_else(|_| one_line(asked), |record| show::host_call(&record));
        lines.push(format!("asked   {asked}"));
    }
    let count = |field: &str| call[field].as_u64();
    let cost = [
        count("durationMicros").map(show::millis),
        count("fuel").map(|fuel| format!("{} fuel", show::number(fuel))),
        count("memoryBytes").and_then(|bytes| usize::try_from(bytes).ok()).map(show::bytes),
    ];
    lines.push(format!("cost    {}", cost.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    lines.join("\n")
}

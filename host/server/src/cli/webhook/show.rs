//! Human-readable output for webhooks.

use serde_json::Value;

use crate::cli::format::{table, text, timestamp};

/// Formats a number, or a dash.
fn number(object: &Value, field: &str) -> String {
    object[field].as_i64().map_or_else(|| "-".to_owned(), |number| number.to_string())
}

fn state(webhook: &Value) -> String {
    match webhook["disabledReason"].as_str() {
        Some(reason) => format!("disabled ({})", reason.to_lowercase()),
        None if webhook["failures"].as_i64().is_some_and(|failures| failures > 0) => "failing".to_owned(),
        None => "enabled".to_owned(),
    }
}

fn events(webhook: &Value) -> String {
    let events = webhook["events"].as_array().into_iter().flatten();
    events.filter_map(Value::as_str).collect::<Vec<_>>().join(",")
}

/// Formats a list of webhooks.
pub(super) fn list(webhooks: &Value) -> String {
    let rows: Vec<_> = webhooks["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            let named = [text(it, "webhookId"), text(it, "name"), text(it, "kind")].map(str::to_owned);
            let [id, name, kind] = named;
            [id, name, kind, state(it), number(it, "waiting"), text(it, "url").to_owned()]
        })
        .collect();
    table(["id", "name", "kind", "state", "waiting", "url"], &rows)
}

/// Formats a webhook, line by line.
pub(super) fn webhook(webhook: &Value) -> String {
    let at = |field: &str| if webhook[field].is_null() { "-".to_owned() } else { timestamp(&webhook[field]) };
    let lines = [
        ("id", text(webhook, "webhookId").to_owned()),
        ("name", text(webhook, "name").to_owned()),
        ("kind", text(webhook, "kind").to_owned()),
        ("url", text(webhook, "url").to_owned()),
        ("events", events(webhook)),
        ("state", state(webhook)),
        ("waiting", number(webhook, "waiting")),
        ("dropped", number(webhook, "dropped")),
        ("failing since", at("failingSince")),
        ("last success", at("lastSuccessAt")),
        ("next attempt", at("nextAttemptAt")),
    ];
    let lines: Vec<_> = lines.iter().map(|(name, value)| format!("{name:<14} {value}\n")).collect();
    lines.concat()
}

/// Formats a new secret.
pub(super) fn secret(made: &Value) -> String {
    format!("{:<14} {}\nStore the secret now: it is shown only once.\n", "secret", text(made, "secret"))
}

fn row(delivery: &Value) -> [String; 7] {
    let at = &delivery["attemptedAt"];
    [
        number(delivery, "deliveryId"),
        text(delivery, "event").to_owned(),
        text(delivery, "state").to_lowercase(),
        number(delivery, "attempts"),
        if at.is_null() { "-".to_owned() } else { timestamp(at) },
        number(delivery, "status"),
        text(delivery, "error").to_owned(),
    ]
}

const COLUMNS: [&str; 7] = ["delivery", "event", "state", "attempts", "last attempt", "status", "error"];

/// Formats a list of deliveries.
pub(super) fn deliveries(deliveries: &Value) -> String {
    table(COLUMNS, &deliveries["items"].as_array().into_iter().flatten().map(row).collect::<Vec<_>>())
}

/// Formats one delivery.
pub(super) fn delivery(delivery: &Value) -> String {
    table(COLUMNS, &[row(delivery)])
}

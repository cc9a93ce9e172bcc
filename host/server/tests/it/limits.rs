//! Limits: each is refused with its name, none affects existing data, and no answer is too large.

mod answers;
mod kept;
mod refused;
mod unread;

use hub::limits::Limit;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Backend, Client, Hub};

/// A hub with lower bounds.
pub async fn hub_with(backend: Backend, bounds: &[(Limit, i64)]) -> Hub {
    Hub::start_with(backend, |settings| {
        settings.limits = bounds.iter().fold(settings.limits.clone(), |all, (limit, bound)| all.with(*limit, *bound));
    })
    .await
}

async fn send_with_key(client: &Client, key: &str, path: &str, body: &Value) -> Answer {
    client.send(client.request(Method::POST, path).header("Idempotency-Key", key).json(body)).await
}

/// Maps each limit to its test, or to the reason why it has none.
#[test]
fn each_limit_has_a_test() {
    let tests = [
        include_str!("limits/answers.rs"),
        include_str!("limits/kept.rs"),
        include_str!("limits/refused.rs"),
        include_str!("limits/unread.rs"),
    ];
    let elsewhere = [
        // The tests of plans.
        Limit::StorageBytes,
        // The tests of the audit log, of people, and of players who are forgotten.
        Limit::AuditEntries,
        Limit::Exports,
        Limit::People,
        Limit::SessionsPerPerson,
        Limit::ForgottenPlayers,
        Limit::PlayersForgottenAtOnce,
        // A test of reports.
        Limit::Reports,
        // Tests of lines and deliveries.
        Limit::Waiting,
        Limit::Lines,
        Limit::LinesInMemory,
        Limit::Deliveries,
        Limit::DeliveriesPerPlayer,
        // A test of imports.
        Limit::Imports,
        Limit::ImportBytes,
        Limit::ImportRecords,
        // A test of webhooks.
        Limit::Webhooks,
        Limit::WebhookBacklog,
        Limit::WebhookBacklogBytes,
        Limit::WebhookDeliveries,
    ];
    for limit in Limit::CONFIGURABLE.iter().chain(Limit::FIXED).filter(|limit| !elsewhere.contains(limit)) {
        let (first, rest) = limit.name().split_at(1);
        let constant = format!("Limit::{}{rest}", first.to_uppercase());
        assert!(tests.iter().any(|text| text.contains(&constant)), "{constant} has no test");
    }
}

fn player(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

async fn register_collection(client: &Client, name: &str, indexes: &[&str]) -> Answer {
    let indexes: Vec<_> = indexes.iter().map(|field| json!({"field": field, "type": "number"})).collect();
    let body = json!({"collections": [{"name": name, "indexes": indexes}]});
    client.post("/api/plugin/collections/register", body).await
}

//! Control of servers: their connectors' console, their node agents, their logs.

mod agents;
mod commands;
mod logs;

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Answer, Client, Hub};
use hub::control::Control;

/// Waits for background work, in real time but no longer than needed.
async fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..4_000 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{what} did not happen");
}

/// Waits until this many callers wait for an answer.
async fn until_waiting(hub: &Hub, callers: usize) {
    until("a call that waits", || hub.app.state::<Control>().waiting() == callers).await;
}

/// Commands for an agent at one poll.
async fn poll(agent: &Client, server: &str, query: &str) -> Vec<Value> {
    let answer = agent.get(&format!("/api/plugin/servers/{server}/commands{query}")).await;
    let commands = answer.expect(200)["commands"].as_array().unwrap();
    commands.iter().map(|text| serde_json::from_str(text.as_str().unwrap()).unwrap()).collect()
}

/// The answer of an agent to a command.
async fn answer(agent: &Client, server: &str, command: &Value, body: Value) {
    let id = command["commandId"].as_str().unwrap();
    agent.post(&format!("/api/plugin/servers/{server}/commands/{id}/result"), body).await.expect(201);
}

/// A call that runs beside the test.
fn begin(client: &Client, path: &str, body: Value) -> tokio::task::JoinHandle<Answer> {
    let (client, path) = (client.clone(), format!("/api/manage/servers/{path}"));
    tokio::spawn(async move { client.post(&path, body).await })
}

async fn control(client: &Client, server: &str) -> Value {
    client.get(&format!("/api/manage/servers/{server}")).await.expect(200)["control"].clone()
}

fn lines(texts: impl IntoIterator<Item = String>) -> Value {
    let lines: Vec<_> = texts.into_iter().map(|text| json!({"at": 5, "stream": "stdout", "text": text})).collect();
    json!({"lines": lines})
}

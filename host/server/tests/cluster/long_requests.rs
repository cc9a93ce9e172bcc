//! Requests that take seconds succeed while nodes are replaced.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use reqwest::{Body, Method};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::fleet::{CURRENT, Fleet};
use crate::stream::Events;

const POST: Method = Method::POST;
const COMMAND: &str = "/api/manage/servers/lobby-1/command";
const CONSOLE: &str = "/api/manage/servers/lobby-1/console";
const NETWORKS: usize = 3;
/// Time that a server takes for a command: longer than a move waits for requests under way.
const COMMAND_TIME: Duration = Duration::from_millis(1_800);

type Stop = Arc<AtomicBool>;
/// Number of runs of each command.
type Runs = Arc<Mutex<HashMap<String, usize>>>;

fn note(runs: &Runs, command: &Value) {
    *runs.lock().unwrap().entry(command.as_str().unwrap().to_owned()).or_default() += 1;
}

fn is_stopped(stop: &Stop) -> bool {
    stop.load(Ordering::Relaxed)
}

/// Runs console commands like a connector: reads its stream, reconnects when it ends, and answers each.
async fn connector(owner: Client, runs: Runs) {
    let mut last = None::<String>;
    for node in 0.. {
        let stream = owner.stream(node, "lobby-1", last.as_deref()).unwrap().send().await;
        let Some(stream) = stream.ok().filter(|stream| stream.status() == 200) else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let mut events = Events::of(stream);
        while let Some(event) = events.next().await {
            last = event.id;
            if event.name == "EXECUTE_COMMAND" {
                note(&runs, &event.data["command"]);
                let owner = owner.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(COMMAND_TIME).await;
                    let command = &event.data;
                    let result =
                        json!({"requestId": command["requestId"], "success": true, "output": command["command"]});
                    owner.expect_success(POST, "/api/plugin/servers/command-result", result, None).await;
                });
            }
        }
        // The reconnect delay that the stream sent.
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

/// Runs console lines like a node agent.
async fn agent(owner: Client, runs: Runs) {
    loop {
        let path = "/api/plugin/servers/lobby-1/commands?nodeId=n&waitMs=1000";
        let commands = owner.expect_success_with(&Method::GET, path, |request| request).await;
        for text in commands["commands"].as_array().unwrap() {
            let command: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
            note(&runs, &command["line"]);
            let owner = owner.clone();
            tokio::spawn(async move {
                tokio::time::sleep(COMMAND_TIME).await;
                let id = command["commandId"].as_str().unwrap();
                let path = format!("/api/plugin/servers/lobby-1/commands/{id}/result");
                let result = json!({"status": "OK", "result": {"echo": command["line"]}});
                owner.expect_success(POST, &path, result, None).await;
            });
        }
        // Commands wait for the next poll, and may have to move meanwhile.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn heartbeats(owner: Client) {
    loop {
        let beat = json!({"serverId": "lobby-1", "serverType": "lobby"});
        owner.expect_success(POST, "/api/plugin/servers/heartbeat", beat, None).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Sends one command after the other. Every answer must be right; returns the commands.
async fn command(owner: Client, path: &'static str, field: &'static str, stop: Stop) -> Vec<String> {
    let mut sent = vec![];
    while !is_stopped(&stop) {
        let line = format!("say {}", sent.len());
        let outcome = owner.expect_success(POST, path, json!({field: line, "timeoutMs": 9_000}), None).await;
        let (output, echo) = (&outcome["output"], &outcome["data"]["echo"]);
        assert!(*output == line || *echo == line, "{line}: {outcome}");
        sent.push(line);
    }
    sent
}

/// Uploads slowly, one after the other; returns the number.
async fn upload(owner: Client, stop: Stop) -> usize {
    for number in 0.. {
        if is_stopped(&stop) {
            return number;
        }
        let slowly = |request: reqwest::RequestBuilder| {
            let bytes = stream::unfold(0, move |sent| async move {
                tokio::time::sleep(COMMAND_TIME / 10).await;
                (sent < 10).then(|| (Ok::<_, std::io::Error>(format!("{number} {sent}\n")), sent + 1))
            });
            request.body(Body::wrap_stream(bytes))
        };
        let path = format!("/api/manage/artifacts?name=plugin&version={number}");
        let stored = owner.expect_success_with(&POST, &path, slowly).await;
        assert_eq!(stored["sizeBytes"], 10 * format!("{number} 0\n").len());
    }
    unreachable!()
}

/// Activates one chain after the other and checks that it runs; returns the number.
async fn chain(owner: Client, stop: Stop) -> usize {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/chat-guard/chat-guard.wasm");
    let wasm = std::fs::read(file).unwrap();
    owner.expect_success_with(&POST, "/api/manage/modules?name=guard", |request| request.body(wasm.clone())).await;
    let path = "/api/manage/extension-points/chat";
    for number in 0.. {
        if is_stopped(&stop) {
            return number;
        }
        let words = json!({"words": [format!("word{number}")], "action": "REFUSE"});
        let modules = json!([{"name": "guard", "version": 1, "config": words, "onFailure": "REFUSE"}]);
        owner.expect_success(Method::PUT, path, json!({"modules": modules}), None).await;
        let runs = owner.expect_success_with(&Method::GET, path, |request| request).await;
        assert_eq!(runs["modules"][0]["config"], words);
    }
    unreachable!()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_requests_succeed_while_nodes_are_replaced() {
    let mut fleet = Fleet::start().await;
    let owners: Vec<_> = (0..NETWORKS).map(|number| fleet.network(&format!("long-{number}"))).collect();
    let stop = Stop::default();
    let (mut servers, mut commands, mut others) = (JoinSet::new(), vec![], vec![]);
    for owner in &owners {
        owner.register("lobby-1", json!({})).await;
        servers.spawn(heartbeats(owner.clone()));
        for (path, field) in [(COMMAND, "command"), (CONSOLE, "line")] {
            let runs = Runs::default();
            match path {
                COMMAND => servers.spawn(connector(owner.clone(), Arc::clone(&runs))),
                _ => servers.spawn(agent(owner.clone(), Arc::clone(&runs))),
            };
            let (owner, stop) = (owner.clone(), Arc::clone(&stop));
            let sent = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                command(owner, path, field, stop).await
            });
            commands.push((sent, runs));
        }
        others.push(tokio::spawn(upload(owner.clone(), Arc::clone(&stop))));
        others.push(tokio::spawn(chain(owner.clone(), Arc::clone(&stop))));
    }
    for node in 0..3 {
        tokio::time::sleep(Duration::from_secs(2)).await;
        fleet.replace(node, CURRENT, JoinSet::new()).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    stop.store(true, Ordering::Relaxed);
    for other in others {
        assert!(other.await.unwrap() > 3);
    }
    for (sent, runs) in commands {
        let sent = sent.await.unwrap();
        assert!(sent.len() > 3, "{sent:?}");
        let once: HashMap<_, _> = sent.into_iter().map(|line| (line, 1)).collect();
        assert_eq!(*runs.lock().unwrap(), once, "each was run, and once");
    }
}

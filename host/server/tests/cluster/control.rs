//! Commands reach their recipient, whichever nodes the three parties are connected to.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::fleet::Fleet;
use crate::stream::Events;

const POST: Method = Method::POST;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_console_command_reaches_a_stream_at_another_node() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("console");
    owner.register("lobby-1", json!({})).await;
    for node in 0..3 {
        let mut events = Events::open(owner.stream(node, "lobby-1", None).unwrap()).await;
        let connector = owner.clone();
        let connector = tokio::spawn(async move {
            let command = events.next_named("EXECUTE_COMMAND").await.data;
            let result = json!({"requestId": command["requestId"], "success": true, "output": command["command"]});
            let path = "/api/plugin/servers/command-result";
            connector.send(node + 2, &POST, path, Some(&result), None).await.unwrap().expect(204);
            events
        });
        let (path, line) = ("/api/manage/servers/lobby-1/command", format!("say {node}"));
        let command = json!({"command": line, "timeoutMs": 5_000});
        let outcome = loop {
            let outcome = owner.send(node + 1, &POST, path, Some(&command), None).await.unwrap();
            // An open stream is known at once at its node, and a moment later elsewhere.
            if outcome.body["code"] != "not_connected" {
                break outcome;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        assert_eq!(outcome.expect(200)["output"], line, "the stream is at {node}");
        drop(connector.await.unwrap());
    }
}

/// Polls a node like an agent; returns the commands.
async fn poll(agent: &Client, node: usize, wait_ms: u32) -> Vec<Value> {
    let path = format!("/api/plugin/servers/lobby-1/commands?nodeId=n&waitMs={wait_ms}");
    let answer = agent.request(node, &Method::GET, &path).unwrap().send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let answer: Value = answer.json().await.unwrap();
    answer["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| serde_json::from_str(text.as_str().unwrap()).unwrap())
        .collect()
}

/// Sends a command to an agent that already polls, and answers for it.
async fn command(owner: &Client, sent_at: usize, polling: tokio::task::JoinHandle<Vec<Value>>, answered_at: usize) {
    let (sender, line) = (owner.clone(), format!("say {sent_at}{answered_at}"));
    let body = json!({"line": line});
    let sent = tokio::spawn(async move {
        sender.send(sent_at, &POST, "/api/manage/servers/lobby-1/console", Some(&body), None).await.unwrap()
    });
    let commands = polling.await.unwrap();
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0]["line"], line);
    let path = format!("/api/plugin/servers/lobby-1/commands/{}/result", commands[0]["commandId"].as_str().unwrap());
    let result = json!({"status": "OK", "result": {"echo": line}});
    owner.send(answered_at, &POST, &path, Some(&result), None).await.unwrap().expect(201);
    assert_eq!(sent.await.unwrap().expect(200)["data"]["echo"], line);
}

/// Reads a server's log lines, resuming where a stream ended, until it has enough.
async fn follow(owner: Client, lines: usize) -> Vec<String> {
    let (mut seen, mut last, began) = (vec![], None, Instant::now());
    while seen.len() < lines {
        assert!(began.elapsed() < Duration::from_secs(30), "{} of {lines} lines arrived", seen.len());
        let request = owner.request(0, &Method::GET, "/api/manage/servers/lobby-1/logs/recent").unwrap();
        let request = request.header("Accept", "text/event-stream");
        let request = match &last {
            Some(last) => request.header("Last-Event-ID", last),
            None => request,
        };
        let mut stream = Events::open(request).await;
        while let Some(line) = stream.next().await {
            last = line.id;
            seen.push(line.data["text"].as_str().unwrap().to_owned());
            if seen.len() == lines {
                break;
            }
        }
    }
    seen
}

/// A starting node gets its share of the networks; polls and streams of the moved ones continue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polls_and_logs_continue_when_their_network_moves() {
    const LINES: usize = 60;
    let mut fleet = Fleet::start().await;
    fleet.stop(2);
    let networks: Vec<_> = (0..6).map(|number| fleet.network(&format!("moving-{number}"))).collect();
    let (mut polling, mut following) = (vec![], vec![]);
    for owner in &networks {
        owner.register("lobby-1", json!({})).await;
        assert!(poll(owner, 0, 0).await.is_empty());
        polling.push(keep_polling(owner, 0));
        following.push(tokio::spawn(follow(owner.clone(), LINES)));
    }
    let lines = |number: usize| json!({"lines": [{"at": 5, "stream": "stdout", "text": number.to_string()}]});
    for line in 0..LINES {
        if line == 5 {
            fleet.start_node(2);
        }
        for owner in &networks {
            owner
                .send_retrying(POST, "/api/plugin/servers/lobby-1/logs", Some(lines(line)), Some(&line.to_string()))
                .await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for (owner, polling) in networks.iter().zip(polling) {
        command(owner, 1, polling, 2).await;
    }
    for followed in following {
        let expected: Vec<_> = (0..LINES).map(|line| line.to_string()).collect();
        assert_eq!(followed.await.unwrap(), expected);
    }
}

/// Commands wait for agents that poll rarely, and the networks' owner stops meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unfetched_command_is_delivered_by_the_next_owner() {
    let mut fleet = Fleet::start().await;
    let networks: Vec<_> = (0..6).map(|number| fleet.network(&format!("waiting-{number}"))).collect();
    let mut sent = vec![];
    for owner in &networks {
        owner.register("lobby-1", json!({})).await;
        assert!(poll(owner, 1, 0).await.is_empty());
        let owner = owner.without(0);
        sent.push(tokio::spawn(async move {
            owner.send(1, &POST, "/api/manage/servers/lobby-1/console", Some(&json!({"line": "say"})), None).await
        }));
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    // Two in three networks were owned by these nodes, or move to the second.
    for node in [0, 2] {
        fleet.stop(node);
        for owner in &networks {
            let server = owner.send(1, &Method::GET, "/api/manage/servers/lobby-1", None, None).await.unwrap();
            assert_eq!(server.expect(200)["control"]["nodeId"], "n");
        }
    }
    for (owner, sent) in networks.iter().zip(sent) {
        let commands = poll(owner, 1, 10_000).await;
        assert_eq!(commands.len(), 1);
        assert!(poll(owner, 1, 0).await.is_empty());
        let id = commands[0]["commandId"].as_str().unwrap();
        let path = format!("/api/plugin/servers/lobby-1/commands/{id}/result");
        owner.send(1, &POST, &path, Some(&json!({"status": "OK"})), None).await.unwrap().expect(201);
        sent.await.unwrap().expect("an answer").expect(200);
    }
}

fn keep_polling(agent: &Client, node: usize) -> tokio::task::JoinHandle<Vec<Value>> {
    let agent = agent.clone();
    tokio::spawn(async move {
        loop {
            // A poll ends without commands after its time, which a slow machine may need for the rest.
            let commands = poll(&agent, node, 30_000).await;
            if !commands.is_empty() {
                return commands;
            }
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_polls_receives_and_answers_at_three_nodes() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("agent");
    assert!(poll(&owner, 0, 0).await.is_empty());
    for node in 0..3 {
        let polling = keep_polling(&owner, node);
        command(&owner, node + 1, polling, node + 2).await;
    }
}

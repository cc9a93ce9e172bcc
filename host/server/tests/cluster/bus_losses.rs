//! NATS comes back with an older store, or keeps no events: no client takes a gap for the whole.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::Method;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::fleet::{Client, Fleet, uuid, wait_until};
use crate::stream::Events;

/// What one client has seen: the lines, and how often it was told to read everything anew.
#[derive(Default)]
struct Seen {
    lines: BTreeSet<usize>,
    resyncs: usize,
}

/// Reads the chat at one node, and resumes there.
fn read(client: Client, node: usize) -> (Arc<Mutex<Seen>>, JoinHandle<()>) {
    let seen = Arc::<Mutex<Seen>>::default();
    let filled = Arc::clone(&seen);
    let reading = tokio::spawn(async move {
        let (server, mut last) = (format!("s-{node}"), None::<String>);
        loop {
            let request = client.stream(node, &server, last.as_deref()).unwrap();
            let Some(response) = request.send().await.ok().filter(|response| response.status() == 200) else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let mut events = Events::of(response);
            while let Some(frame) = events.next_frame().await {
                last = frame.id.or(last);
                match frame.name.as_str() {
                    "RESYNC" => filled.lock().resyncs += 1,
                    "CHAT" => {
                        filled.lock().lines.insert(frame.data["message"].as_str().unwrap().parse().unwrap());
                    }
                    _ => {}
                }
            }
        }
    });
    (seen, reading)
}

/// Sends lines, each once; returns those that were acknowledged.
async fn chat(client: &Client, lines: std::ops::Range<usize>) -> BTreeSet<usize> {
    let mut acknowledged = BTreeSet::new();
    for line in lines {
        let body = json!({"playerUuid": uuid(1), "playerName": "p", "message": line.to_string(), "serverId": "s-0"});
        let answer = client.send_once(&Method::POST, "/api/plugin/chat", Some(&body)).await;
        if answer.is_some_and(|answer| answer.status == 204) {
            acknowledged.insert(line);
        }
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_store_of_nats_is_announced_and_no_later_line_is_lost() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("older");
    let readers: Vec<_> = (0..3).map(|node| read(owner.clone(), node)).collect();
    let all_saw = async |lines: &BTreeSet<usize>| {
        wait_until(async || readers.iter().all(|(seen, _)| seen.lock().lines.is_superset(lines))).await;
    };
    wait_until(async || {
        chat(&owner, 0..1).await;
        readers.iter().all(|(seen, _)| seen.lock().lines.contains(&0))
    })
    .await;
    let older = fleet.save_bus().await;
    fleet.wait_until_ready().await;
    let acknowledged = chat(&owner, 1..11).await;
    assert_eq!(acknowledged.len(), 10);
    all_saw(&acknowledged).await;
    assert!(readers.iter().all(|(seen, _)| seen.lock().resyncs == 0));
    fleet.restore_bus(older).await;
    let acknowledged = chat(&owner, 11..31).await;
    assert!(acknowledged.len() > 10, "{acknowledged:?}");
    all_saw(&acknowledged).await;
    for (seen, reading) in readers {
        assert_eq!(seen.lock().resyncs, 1);
        reading.abort();
    }
    fleet.wait_until_ready().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_whose_bus_keeps_no_events_are_not_ready() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("forgetful");
    assert_eq!(chat(&owner, 0..3).await.len(), 3);
    fleet.restart_nats_without_jetstream().await;
    for node in 0..3 {
        wait_until(async || fleet.readiness(node).await == Some(json!(["bus"]))).await;
    }
    fleet.restart_nats().await;
    fleet.wait_until_ready().await;
    assert_eq!(chat(&owner, 3..6).await.len(), 3);
}

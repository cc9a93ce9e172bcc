//! Every node streams the same sequence of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::fleet::{Fleet, uuid, wait_until};

const LINES: usize = 150;

/// Starts to read chat lines for each of these servers, and waits until all their streams are open.
pub async fn start_readers(
    servers: impl IntoIterator<Item = (Client, String)>,
    stop: &Arc<AtomicBool>,
) -> Vec<JoinHandle<Vec<usize>>> {
    let line = |data: &Value| data["message"].as_str().unwrap().parse().unwrap();
    start_readers_of("CHAT", line, servers, stop).await
}

/// Variant of [`start_readers`] for the numbers in events of a kind.
pub async fn start_readers_of(
    kind: &'static str,
    number: fn(&Value) -> usize,
    servers: impl IntoIterator<Item = (Client, String)>,
    stop: &Arc<AtomicBool>,
) -> Vec<JoinHandle<Vec<usize>>> {
    let opened = Arc::new(AtomicUsize::new(0));
    let start =
        |(client, server)| tokio::spawn(read((kind, number), client, server, Arc::clone(&opened), Arc::clone(stop)));
    let readers: Vec<_> = servers.into_iter().map(start).collect();
    wait_until(async || opened.load(Ordering::Relaxed) == readers.len()).await;
    readers
}

/// Reads events of a kind, resuming at another node whenever a stream ends, until the last one arrived.
async fn read(
    (kind, number): (&str, fn(&Value) -> usize),
    client: Client,
    server: String,
    opened: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
) -> Vec<usize> {
    let mut is_first = true;
    let (mut last, mut seen, mut node) = (None::<String>, vec![], 0);
    let mut stopped_at = None::<Instant>;
    loop {
        // Waits for lines still on their way when the last was sent.
        if stop.load(Ordering::Relaxed)
            && stopped_at.get_or_insert_with(Instant::now).elapsed() > Duration::from_secs(8)
        {
            return seen;
        }
        node += 1;
        let Some(request) = client.stream(node, &server, last.as_deref()) else { continue };
        let Ok(Ok(response)) = tokio::time::timeout(Duration::from_secs(3), request.send()).await else { continue };
        if response.status() != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        }
        if std::mem::take(&mut is_first) {
            opened.fetch_add(1, Ordering::Relaxed);
        }
        let (mut bytes, mut text) = (response.bytes_stream(), String::new());
        let opened_at = Instant::now();
        // Reconnects every 2 s even while the stream continues.
        while opened_at.elapsed() < Duration::from_secs(2) {
            let Ok(chunk) = tokio::time::timeout(Duration::from_millis(500), bytes.next()).await else { continue };
            let Some(Ok(chunk)) = chunk else { break };
            text.push_str(std::str::from_utf8(&chunk).unwrap());
            while let Some(end) = text.find("\n\n") {
                let frame: String = text.drain(..end + 2).collect();
                assert!(!frame.contains("RESYNC"), "{frame}");
                let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
                if let Some(id) = field("id: ") {
                    last = Some(id.to_owned());
                }
                if field("event: ") == Some(kind) {
                    seen.push(number(&serde_json::from_str(field("data: ").unwrap()).unwrap()));
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_gets_every_event_once_while_nodes_and_the_bus_restart() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("events");
    let stop = Arc::new(AtomicBool::new(false));
    let readers = start_readers((0..3).map(|reader| (owner.clone(), format!("s-{reader}"))), &stop).await;
    let writer = tokio::spawn({
        let owner = owner.clone();
        async move {
            let mut acknowledged = vec![];
            for line in 0..LINES {
                let body = json!({"playerUuid": uuid(1), "playerName": "p", "message": line.to_string(),
                    "serverId": "s-0", "serverType": "lobby"});
                // Not retried: a repeated line is another line.
                let answer = owner.send_once(&reqwest::Method::POST, "/api/plugin/chat", Some(&body)).await;
                if answer.is_some_and(|answer| answer.status == 204) {
                    acknowledged.push(line);
                }
                tokio::time::sleep(Duration::from_millis(40)).await;
            }
            acknowledged
        }
    });
    tokio::time::sleep(Duration::from_millis(1500)).await;
    fleet.kill(0);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    fleet.start_node(0);
    fleet.restart_nats().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    fleet.stop(1);
    fleet.start_node(1);
    let acknowledged = writer.await.unwrap();
    stop.store(true, Ordering::Relaxed);
    assert!(acknowledged.len() > LINES / 2, "{acknowledged:?}");
    for reader in readers {
        let seen = reader.await.unwrap();
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "in order, none twice: {seen:?}");
        let missed: Vec<_> = acknowledged.iter().filter(|line| !seen.contains(line)).collect();
        assert!(missed.is_empty(), "acknowledged but not seen: {missed:?}");
    }
}

//! NATS comes back with an older store, loses events, or keeps none: every client is notified of a gap.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream;
use futures_util::future::join_all;
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::{JoinHandle, JoinSet};

use crate::bus_proxy::Proxy;
use crate::client::Client;
use crate::fleet::{Fleet, uuid, wait_until};
use crate::isolation::Link;
use crate::stream::Events;

/// Events seen by one client: the lines, and the number of notices to reload everything.
#[derive(Default)]
pub struct Seen {
    pub lines: BTreeSet<usize>,
    pub resyncs: usize,
}

/// Reads the chat at one node, and resumes there.
pub fn read(client: Client, node: usize) -> (Arc<Mutex<Seen>>, JoinHandle<()>) {
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
pub async fn chat(client: &Client, lines: std::ops::Range<usize>) -> BTreeSet<usize> {
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
    let readers = read_at_all(&owner).await;
    let all_saw = async |lines: &BTreeSet<usize>| {
        wait_until(async || readers.iter().all(|(seen, _)| seen.lock().lines.is_superset(lines))).await;
    };
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

/// All nodes report the fault and stay ready, so that a load balancer that checks readiness always has one.
async fn expect_service_without_bus(fleet: &Fleet, owner: &Client) {
    let began = Instant::now();
    // Start of the time since when all nodes are ready and report it: by the test's clock, and by theirs.
    let mut named = None::<(Instant, Vec<Value>)>;
    while named.as_ref().is_none_or(|(at, _)| at.elapsed() < Duration::from_secs(4)) {
        assert!(began.elapsed() < Duration::from_secs(40), "not all nodes name the bus");
        for node in 0..3 {
            let path = "/api/plugin/economy/team/red/currencies/modify";
            let payment = json!({"currency": "coins", "amount": 1});
            owner.send(node, &Method::POST, path, Some(&payment), None).await.unwrap().expect(200);
        }
        let health = join_all((0..3).map(|node| fleet.health(node))).await;
        // A node of a busy machine may not answer in time.
        let Some(health) = health.into_iter().collect::<Option<Vec<_>>>() else { continue };
        assert!(health.iter().any(|health| health["lacks"] == json!([])), "no node is ready: {health:?}");
        if health.iter().all(|health| health["lacks"] == json!([]) && health["faults"][0]["name"] == "bus") {
            let since: Vec<_> = health.iter().map(|health| health["faults"][0]["since"].clone()).collect();
            assert_eq!(named.get_or_insert_with(|| (Instant::now(), since.clone())).1, since);
        } else {
            // The first node that reports a lost stream is not ready until the others report it, too.
            named = None;
        }
    }
    let line = json!({"playerUuid": uuid(1), "playerName": "p", "message": "hello", "serverId": "s-0"});
    let refused = owner.send_once(&Method::POST, "/api/plugin/chat", Some(&line)).await.unwrap();
    assert_eq!(refused.expect(503)["code"], "bus_unreachable");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_without_the_bus_report_it_and_continue() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("forgetful");
    assert_eq!(chat(&owner, 0..3).await.len(), 3);
    // It keeps no events, or does not run.
    fleet.restart_nats_without_jetstream().await;
    expect_service_without_bus(&fleet, &owner).await;
    fleet.restart_nats().await;
    fleet.wait_until_ready().await;
    assert_eq!(chat(&owner, 3..6).await.len(), 3);
    fleet.stop_nats();
    expect_service_without_bus(&fleet, &owner).await;
    fleet.restart_nats().await;
    fleet.wait_until_ready().await;
    assert_eq!(chat(&owner, 6..9).await.len(), 3);
}

/// Reads at all nodes, each of which has delivered a line.
async fn read_at_all(owner: &Client) -> Vec<(Arc<Mutex<Seen>>, JoinHandle<()>)> {
    let readers: Vec<_> = (0..3).map(|node| read(owner.clone(), node)).collect();
    wait_until(async || {
        chat(owner, 0..1).await;
        readers.iter().all(|(seen, _)| seen.lock().lines.contains(&0))
    })
    .await;
    readers
}

/// Number of gaps announced to each reader.
fn gaps(readers: &[(Arc<Mutex<Seen>>, JoinHandle<()>)]) -> Vec<usize> {
    readers.iter().map(|(seen, _)| seen.lock().resyncs).collect()
}

/// Sends lines until ten are acknowledged, and expects them at all readers, with the expected number of announced gaps.
async fn expect_lines(
    owner: &Client,
    readers: &[(Arc<Mutex<Seen>>, JoinHandle<()>)],
    first: usize,
    are_told: impl Fn(Vec<usize>) -> bool,
) {
    let mut acknowledged = BTreeSet::new();
    for line in first.. {
        acknowledged.extend(chat(owner, line..line + 1).await);
        if acknowledged.len() == 10 {
            break;
        }
    }
    wait_until(async || {
        readers.iter().all(|(seen, _)| seen.lock().lines.is_superset(&acknowledged)) && are_told(gaps(readers))
    })
    .await;
}

/// True if no gap was announced to any reader.
fn of_none(gaps: Vec<usize>) -> bool {
    gaps.into_iter().all(|gaps| gaps == 0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_or_recreated_stream_of_nats_is_announced() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("deleted");
    let readers = read_at_all(&owner).await;
    expect_lines(&owner, &readers, 100, of_none).await;
    let nats = jetstream::new(async_nats::connect(fleet.bus()).await.unwrap());
    nats.delete_stream(fleet.stream().await).await.unwrap();
    // NATS 2.9 may delete the files of the new stream with those of the old one. Then that is replaced, too.
    expect_lines(&owner, &readers, 200, |gaps| gaps.iter().all(|gaps| *gaps > 0)).await;
    fleet.wait_until_ready().await;
    // Recreated at once, by another client.
    let before = gaps(&readers);
    let config = nats.get_stream(fleet.stream().await).await.unwrap().cached_info().config.clone();
    nats.delete_stream(fleet.stream().await).await.unwrap();
    nats.get_or_create_stream(config).await.unwrap();
    expect_lines(&owner, &readers, 300, |gaps| gaps.iter().zip(&before).all(|(gaps, before)| gaps > before)).await;
    fleet.wait_until_ready().await;
}

/// Sends many long lines of chat, so that the stream has no room for all.
async fn flood(owner: &Client, nodes: &'static [usize]) {
    let mut senders = JoinSet::new();
    for sender in 0..10 {
        let owner = owner.clone();
        senders.spawn(async move {
            for number in 0..150 {
                let line = 1_000 + 150 * sender + number;
                let message = format!("{line:0>1000}");
                let body = json!({"playerUuid": uuid(1), "playerName": "p", "message": message, "serverId": "s-1"});
                let answer =
                    owner.send(nodes[line % nodes.len()], &Method::POST, "/api/plugin/chat", Some(&body), None);
                answer.await.unwrap().expect(204);
            }
        });
    }
    senders.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_nats_had_no_room_for_while_a_node_was_away_are_announced() {
    let fleet = Fleet::start_isolated().await;
    let owner = fleet.network("trimmed");
    let nats = jetstream::new(async_nats::connect(fleet.bus()).await.unwrap());
    let config = nats.get_stream(fleet.stream().await).await.unwrap().cached_info().config.clone();
    nats.update_stream(jetstream::stream::Config { max_bytes: 1 << 20, ..config }).await.unwrap();
    let readers = read_at_all(&owner).await;
    expect_lines(&owner, &readers, 100, of_none).await;
    fleet.namespace().disconnect(Link::Bus);
    wait_until(async || fleet.readiness(0).await == Some(json!(["bus"]))).await;
    // The network may be its own, which then moves.
    let away = fleet.url(0);
    wait_until(async || fleet.shards_at(&away).await == 0).await;
    flood(&owner, &[1, 2]).await;
    assert_eq!(readers[0].0.lock().resyncs, 0);
    fleet.namespace().reconnect(Link::Bus);
    wait_until(async || readers[0].0.lock().resyncs >= 1).await;
    fleet.wait_until_ready().await;
    let (seen, last) = (&readers[0].0, async || chat(&owner, 99..100).await.len());
    wait_until(async || last().await == 1 && seen.lock().lines.contains(&99)).await;
    for (seen, _) in &readers[1..] {
        let seen = seen.lock();
        assert_eq!((seen.resyncs, seen.lines.range(1_000..).count()), (0, 1_500), "they were there");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_to_nats_that_breaks_while_missed_events_are_read_silences_no_stream() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("broken-off");
    let proxy = Proxy::start(&fleet.bus()).await;
    fleet.stop(2);
    fleet.start_node_with(2, &[("HUB_BUS", proxy.url.clone())]);
    fleet.wait_until_ready().await;
    let readers = read_at_all(&owner).await;
    proxy.cut();
    wait_until(async || fleet.readiness(2).await == Some(json!(["bus"]))).await;
    let away = fleet.url(2);
    wait_until(async || fleet.shards_at(&away).await == 0).await;
    flood(&owner, &[0, 1]).await;
    // In the middle of the missed events.
    proxy.freeze_after(512 << 10);
    wait_until(async || proxy.is_frozen()).await;
    proxy.open();
    wait_until(async || readers.iter().all(|(seen, _)| seen.lock().lines.range(1_000..).count() == 1_500)).await;
    fleet.wait_until_ready().await;
    expect_lines(&owner, &readers, 100, of_none).await;
}

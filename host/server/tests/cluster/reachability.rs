//! Nodes that do not reach each other: one is frozen, has a wrong URL, or is cut off. Every request is answered within
//! ten seconds, and soon all networks are served again.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::client::{Answer, Client};
use crate::fleet::{Fleet, wait_until};
use crate::isolation::Link;
use crate::stream::Events;

const NETWORKS: usize = 12;
const PAY: &str = "/api/plugin/economy/team/red/currencies/modify";
const BALANCES: &str = "/api/plugin/economy/team/red/currencies";
const OWNERS: &str = "SELECT COUNT(DISTINCT node) FROM shard_leases
    WHERE expires_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000";
/// Maximum time without service of a network, on a busy machine.
const OUTAGE: Duration = Duration::from_secs(20);

async fn networks(fleet: &Fleet) -> Vec<Client> {
    fleet.networks_everywhere("reach", NETWORKS).await
}

/// Waits until all nodes own about as many shards.
async fn wait_until_balanced(fleet: &Fleet) {
    let counts = "SELECT COUNT(*) FROM shard_leases h JOIN hub_nodes n ON n.node = h.node
                  WHERE h.expires_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000 GROUP BY h.node";
    wait_until(async || {
        let counts = fleet.numbers(counts).await;
        counts.len() == 3 && counts.iter().all(|count| (80..=90).contains(count))
    })
    .await;
    fleet.wait_until_ready().await;
}

/// A payment of each network's, a read, and a payment with a key; each is answered within ten seconds.
async fn ask_all(owners: &[Client], nodes: &[usize], round: usize) -> Vec<(&'static str, usize, Answer)> {
    let mut all = JoinSet::new();
    for (index, owner) in owners.iter().enumerate() {
        let node = nodes[(index + round) % nodes.len()];
        let payment = json!({"currency": "coins", "amount": 1});
        let key = format!("{index}-{round}");
        for (kind, method, path, body, key) in [
            ("pay", Method::POST, PAY, Some(payment.clone()), None),
            ("pay by key", Method::POST, PAY, Some(payment), Some(key)),
            ("read", Method::GET, BALANCES, None, None),
        ] {
            let owner = owner.clone();
            all.spawn(async move {
                let answer = owner.send(node, &method, path, body.as_ref(), key.as_deref()).await;
                (kind, index, answer.unwrap_or_else(|| panic!("{kind} at node {node} was not answered in time")))
            });
        }
    }
    all.join_all().await
}

/// Sends requests until all networks are served by each of these nodes, and fails after a time limit. A refusal must be
/// correct.
async fn expect_service_within(owners: &[Client], nodes: &[usize], within: Duration) {
    let began = Instant::now();
    for round in 0.. {
        let mut served = 0;
        for (kind, network, answer) in ask_all(owners, nodes, round).await {
            if answer.status == 200 {
                served += 1;
                continue;
            }
            let code = answer.expect(503)["code"].as_str().unwrap().to_owned();
            let message = answer.body["error"].as_str().unwrap();
            match (kind, code.as_str()) {
                (_, "no_home" | "moved") => {}
                ("pay", "node_lost") => assert!(message.contains("Check its effect before"), "{message}"),
                ("pay by key", "node_lost") => assert!(message.contains("same Idempotency-Key"), "{message}"),
                _ => panic!("{kind} of network {network}: {}", answer.body),
            }
        }
        if served == 3 * owners.len() {
            return;
        }
        assert!(began.elapsed() < within, "only {served} of {} are served", 3 * owners.len());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn fault<'a>(health: &'a Value, name: &str) -> Option<&'a Value> {
    health["faults"].as_array()?.iter().find(|fault| fault["name"] == name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_to_a_frozen_owner_continue_at_the_next() {
    let fleet = Fleet::start().await;
    wait_until_balanced(&fleet).await;
    let owners = networks(&fleet).await;
    expect_service_within(&owners, &[0, 1, 2], OUTAGE).await;
    // Each owner's requests take part: those of all nodes do.
    fleet.pause(0);
    let answers = ask_all(&owners, &[1, 2], 1_000).await;
    for (kind, network, answer) in &answers {
        match (*kind, answer.status) {
            (_, 200) => {}
            // It may have had its effect.
            ("pay", 503) => {
                assert_eq!(answer.body["code"], "node_lost", "network {network}: {}", answer.body);
                assert!(answer.body["error"].as_str().unwrap().contains("Check its effect before sending it again"));
                assert!(!answer.has_retry_after, "a client that obeys it repeats what may have been done");
            }
            _ => panic!("{kind} of network {network}: {} {}", answer.status, answer.body),
        }
    }
    assert!(answers.iter().any(|(_, _, answer)| answer.status == 503), "the frozen node owned none of the networks");
    expect_service_within(&owners, &[1, 2], OUTAGE).await;
    fleet.resume(0);
    fleet.wait_until_ready().await;
    expect_service_within(&owners, &[0, 1, 2], OUTAGE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_a_wrong_url_gets_no_shards_and_reports_it() {
    let mut fleet = Fleet::start().await;
    wait_until_balanced(&fleet).await;
    let owners = networks(&fleet).await;
    // One accepts connections and never answers; the other is that of another node.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for url in [format!("http://{}", silent.local_addr().unwrap()), format!("http://{}", fleet.address(1))] {
        fleet.stop(2);
        fleet.start_node_at(2, &url);
        let is_named = async || fleet.readiness(2).await == Some(json!(["peers"]));
        wait_until(is_named).await;
        // Longer than it takes to give a node its share.
        let since = fault(&fleet.health(2).await.unwrap(), "peers").unwrap()["since"].clone();
        for _ in 0..8 {
            expect_service_within(&owners, &[0, 1, 2], Duration::ZERO).await;
            assert_eq!(fleet.numbers(OWNERS).await, [2]);
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let health = fleet.health(2).await.unwrap();
        assert_eq!(fault(&health, "peers").unwrap()["since"], since, "{health}");
        assert!(fault(&health, "peers").unwrap()["message"].as_str().unwrap().contains("--node-url"));
        for node in 0..2 {
            let health = fleet.health(node).await.unwrap();
            assert_eq!(health["lacks"], json!([]), "the others are ready: {health}");
            assert_eq!(fault(&health, "peers").unwrap()["message"], "1 of 2 other nodes is not reached; see the log.");
        }
    }
    fleet.stop(2);
    fleet.start_node(2);
    wait_until_balanced(&fleet).await;
    let health = fleet.health(0).await.unwrap();
    assert_eq!(health, json!({"status": "OK", "lacks": [], "faults": []}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_nodes_cut_from_each_other_gives_its_shards_away() {
    let fleet = Fleet::start_isolated().await;
    wait_until_balanced(&fleet).await;
    let owners = networks(&fleet).await;
    expect_service_within(&owners, &[0, 1, 2], OUTAGE).await;
    // Node 0 does not reach node 1 any more; all others reach each other.
    fleet.namespace().disconnect_from_second();
    expect_service_within(&owners, &[0, 1, 2], OUTAGE).await;
    // Both were served for a moment before the fault was noticed.
    wait_until(async || fleet.readiness(1).await == Some(json!(["peers"]))).await;
    expect_service_within(&owners, &[0, 2], OUTAGE).await;
    let gone = format!("http://{}", fleet.address(1));
    wait_until(async || fleet.shards_at(&gone).await == 0).await;
    assert_eq!(fleet.readiness(0).await, Some(json!([])));
    assert!(fault(&fleet.health(0).await.unwrap(), "peers").is_some());
    fleet.namespace().connect_to_second();
    wait_until_balanced(&fleet).await;
    expect_service_within(&owners, &[0, 1, 2], OUTAGE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_cut_from_all_others_gives_its_shards_away() {
    let fleet = Fleet::start_isolated().await;
    wait_until_balanced(&fleet).await;
    let owners = networks(&fleet).await;
    // It has the database and the bus.
    fleet.namespace().disconnect(Link::Http);
    expect_service_within(&owners, &[1, 2], OUTAGE).await;
    let gone = format!("http://{}", fleet.address(0));
    wait_until(async || fleet.shards_at(&gone).await == 0).await;
    for node in 1..3 {
        assert_eq!(fleet.readiness(node).await, Some(json!([])));
    }
    expect_service_within(&owners, &[1, 2], Duration::ZERO).await;
    fleet.namespace().reconnect(Link::Http);
    wait_until_balanced(&fleet).await;
    expect_service_within(&owners, &[0, 1, 2], OUTAGE).await;
}

/// A link to a node that can stall for all but probes: connections stay open, and bytes sent on them do not arrive.
struct StallingLink {
    url: String,
    is_stalled: Arc<AtomicBool>,
}

impl StallingLink {
    async fn start(target: &str) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let is_stalled = Arc::<AtomicBool>::default();
        let (target, stalled) = (target.to_owned(), Arc::clone(&is_stalled));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(Self::relay(client, target.clone(), Arc::clone(&stalled)));
            }
        });
        Self { url, is_stalled }
    }

    async fn relay(client: TcpStream, target: String, is_stalled: Arc<AtomicBool>) {
        let Ok(server) = TcpStream::connect(target).await else { return };
        let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
            (client.into_split(), server.into_split());
        let requests = async {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(size @ 1..) = from_client.read(&mut buffer).await {
                while is_stalled.load(Ordering::Relaxed) && !buffer.starts_with(b"GET /healthz") {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                if to_server.write_all(&buffer[..size]).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = requests => {}
            _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
        }
    }

    fn stall(&self, is_stalled: bool) {
        self.is_stalled.store(is_stalled, Ordering::Relaxed);
    }
}

/// The game server `lobby-1` answers a command after longer than the time limit of ordinary requests.
async fn expect_slow_command(owner: &Client) {
    const TIME: Duration = Duration::from_millis(9_500);
    owner.register("lobby-1", json!({})).await;
    let mut events = Events::open(owner.stream(0, "lobby-1", None).unwrap()).await;
    let connector = owner.clone();
    let answering = tokio::spawn(async move {
        let command = events.next_named("EXECUTE_COMMAND").await.data;
        tokio::time::sleep(TIME).await;
        let result = json!({"requestId": command["requestId"], "success": true, "output": "done"});
        connector.post("/api/plugin/servers/command-result", result).await.expect(204);
    });
    let began = Instant::now();
    let body = json!({"command": "save-all", "timeoutMs": 30_000});
    let outcome: Value = loop {
        let request = owner.request(0, &Method::POST, "/api/manage/servers/lobby-1/command").unwrap();
        let answer = request.json(&body).send().await.unwrap().json::<Value>().await.unwrap();
        // An open stream is known at once at its node, and a moment later elsewhere.
        if answer["code"] != "not_connected" {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(outcome["output"], "done", "{outcome}");
    assert!(began.elapsed() >= TIME);
    answering.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_lost_on_a_link_are_answered_while_the_owner_continues() {
    let mut fleet = Fleet::start().await;
    let link = StallingLink::start(fleet.address(2)).await;
    fleet.stop(2);
    fleet.start_node_at(2, &link.url);
    wait_until_balanced(&fleet).await;
    let owners = networks(&fleet).await;
    expect_service_within(&owners, &[0, 1], OUTAGE).await;
    link.stall(true);
    let answers = ask_all(&owners, &[0, 1], 1_000).await;
    let mut refused = vec![];
    for (kind, network, answer) in &answers {
        if answer.status == 200 {
            continue;
        }
        let code = answer.expect(503)["code"].as_str().unwrap();
        let message = answer.body["error"].as_str().unwrap();
        match *kind {
            "read" => assert_eq!((code, answer.has_retry_after), ("no_home", true), "{message}"),
            "pay" => {
                assert_eq!((code, answer.has_retry_after), ("node_lost", false), "{message}");
                assert!(message.contains("Check its effect before sending it again"), "{message}");
            }
            _ => {
                assert_eq!((code, answer.has_retry_after), ("node_lost", true), "{message}");
                assert!(message.contains("same Idempotency-Key"), "{message}");
            }
        }
        refused.push(*network);
    }
    // It renews its leases, and probes reach it.
    let shards = fleet.shards_at(&link.url).await;
    assert!(shards >= 80, "{shards} shards");
    assert!(!refused.is_empty() && refused.len() < answers.len(), "{refused:?} with {shards} shards at the link");
    assert_eq!(fleet.health(0).await.unwrap()["faults"], json!([]));
    link.stall(false);
    expect_service_within(&owners, &[0, 1, 2], OUTAGE).await;
    expect_slow_command(&owners[refused[0]]).await;
}

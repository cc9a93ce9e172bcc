//! Nodes that do not reach each other: one is frozen, has a wrong URL, or is cut off. Every request is answered within ten
//! seconds, and soon all networks are served again.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::fleet::{Answer, Client, Fleet, wait_until};
use crate::isolation::Link;

/// Enough that every node owns some of them.
const NETWORKS: usize = 12;
const PAY: &str = "/api/plugin/economy/team/red/currencies/modify";
const BALANCES: &str = "/api/plugin/economy/team/red/currencies";
const OWNERS: &str = "SELECT COUNT(DISTINCT node) FROM network_homes
    WHERE expires_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000";
/// How long a network may be without service.
const OUTAGE: Duration = Duration::from_secs(10);

fn networks(fleet: &Fleet) -> Vec<Client> {
    (0..NETWORKS).map(|number| fleet.network(&format!("reach-{number}"))).collect()
}

/// Waits until all nodes own about as many shards.
async fn wait_until_balanced(fleet: &Fleet) {
    let counts = "SELECT COUNT(*) FROM network_homes h JOIN hub_nodes n ON n.node = h.node
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

/// Asks until everybody is served by each of these nodes, and fails if that takes too long. A refusal is a true one.
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
                ("pay", "node_lost") => assert!(message.contains("see whether it has before"), "{message}"),
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
    let owners = networks(&fleet);
    wait_until_balanced(&fleet).await;
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
                assert!(answer.body["error"].as_str().unwrap().contains("see whether it has before you send it again"));
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
async fn a_node_with_a_wrong_url_gets_no_shards_and_says_so() {
    let mut fleet = Fleet::start().await;
    let owners = networks(&fleet);
    wait_until_balanced(&fleet).await;
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
            assert_eq!(
                fault(&health, "peers").unwrap()["message"],
                "1 of 2 other nodes is not reached; the log tells which."
            );
        }
    }
    fleet.stop(2);
    fleet.start_node(2);
    wait_until_balanced(&fleet).await;
    let health = fleet.health(0).await.unwrap();
    assert_eq!(health, json!({"status": "OK", "lacks": [], "faults": []}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_nodes_that_are_cut_from_each_other_one_gives_its_shards_away() {
    let fleet = Fleet::start_isolated().await;
    let owners = networks(&fleet);
    wait_until_balanced(&fleet).await;
    expect_service_within(&owners, &[0, 1, 2], OUTAGE).await;
    // Node 0 does not reach node 1 any more, while everybody else reaches everybody.
    fleet.namespace().disconnect_from_second();
    let began = Instant::now();
    expect_service_within(&owners, &[0, 1, 2], OUTAGE).await;
    // Both were served for a moment before anybody noticed.
    wait_until(async || fleet.readiness(1).await == Some(json!(["peers"]))).await;
    expect_service_within(&owners, &[0, 2], OUTAGE).await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
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
    let owners = networks(&fleet);
    wait_until_balanced(&fleet).await;
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

//! Requests that are held up at a network's home while it moves.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::fleet::{CURRENT, Client, Fleet};

/// Of so many networks one or another is at the node that leaves.
const NETWORKS: usize = 9;
/// Within this a leaving node looks at the leases, and requests under way are still waited for.
const HELD_FOR: Duration = Duration::from_millis(600);
const CHAIN: &str = "/api/manage/extension-points/chat";

fn networks(fleet: &Fleet) -> Vec<Client> {
    (0..NETWORKS).map(|number| fleet.network(&format!("held-{number}"))).collect()
}

/// With `HUB_PREVIOUS_BINARY`, the nodes that leave are of that one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_under_way_when_a_node_leaves_is_answered() {
    let binary = std::env::var("HUB_PREVIOUS_BINARY").unwrap_or_else(|_| CURRENT.to_owned());
    let mut fleet = Fleet::start_with(&binary).await;
    let owners = networks(&fleet);
    let (path, payment) = ("/api/plugin/economy/team/red/currencies/modify", json!({"currency": "coins", "amount": 1}));
    for (node, paid) in [(0, 1), (1, 2)] {
        let mut held = fleet.hold("balances").await;
        let ask = |owner: &Client| {
            let (owner, payment) = (owner.clone(), payment.clone());
            tokio::spawn(async move { owner.ask(2, &Method::POST, path, Some(&payment), None).await.unwrap() })
        };
        let asked: Vec<_> = owners.iter().map(ask).collect();
        held.holds_up(NETWORKS as i64).await;
        let ending = fleet.ask_to_end(node);
        tokio::time::sleep(HELD_FOR).await;
        held.let_go().await;
        for answer in asked {
            assert_eq!(answer.await.unwrap().expect(200)["balance"].as_f64(), Some(f64::from(paid)));
        }
        ending.wait();
        fleet.settle().await;
    }
}

async fn ask(owner: &Client, method: Method, body: Option<&Value>) -> Value {
    owner.ask(1, &method, CHAIN, body, None).await.unwrap().expect(200).clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_that_was_not_stored_before_its_network_moved_runs_at_the_next_home() {
    let mut fleet = Fleet::start().await;
    let owners = networks(&fleet);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/chat-guard/chat-guard.wasm");
    let wasm = std::fs::read(file).unwrap();
    for owner in &owners {
        let upload = owner.request(1, &Method::POST, "/api/manage/modules?name=guard").unwrap();
        assert_eq!(upload.body(wasm.clone()).send().await.unwrap().status(), 201);
    }
    let words = json!({"words": ["heck"], "action": "REFUSE"});
    let link = json!({"name": "guard", "version": 1, "config": words, "onFailure": "REFUSE"});
    // Before it is stored its modules are looked up.
    let mut held = fleet.hold("modules").await;
    let mut puts = vec![];
    for owner in &owners {
        let (owner, chain) = (owner.clone(), json!({"modules": [link]}));
        puts.push(tokio::spawn(async move { ask(&owner, Method::PUT, Some(&chain)).await }));
    }
    held.holds_up(NETWORKS as i64).await;
    let ending = fleet.ask_to_end(0);
    for owner in &owners {
        // Only its next home answers that, and has read then what is stored.
        assert_eq!(ask(owner, Method::GET, None).await["modules"], json!([]));
    }
    held.let_go().await;
    for put in puts {
        put.await.unwrap();
    }
    for owner in &owners {
        assert_eq!(ask(owner, Method::GET, None).await["modules"][0]["config"], words);
    }
    ending.wait();
    fleet.end(2);
    for owner in &owners {
        assert_eq!(ask(owner, Method::GET, None).await["modules"][0]["config"], words);
        let line = json!({"playerUuid": crate::fleet::uuid(1), "playerName": "p", "message": "heck", "serverId": "s"});
        let said = owner.ask(1, &Method::POST, "/api/plugin/chat", Some(&line), None).await.unwrap();
        assert_eq!(said.expect(400)["code"], "chat_rejected");
    }
}

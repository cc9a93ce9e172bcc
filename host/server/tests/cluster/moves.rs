//! Requests that are blocked at a network's owner while it moves.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::fleet::{CURRENT, Fleet};

/// Enough that the stopping node owns some of them.
const NETWORKS: usize = 9;
/// Long enough for a stopping node to refresh the leases, short enough that requests under way are waited for.
const BLOCKED_FOR: Duration = Duration::from_millis(600);
const CHAIN: &str = "/api/manage/extension-points/chat";

fn networks(fleet: &Fleet) -> Vec<Client> {
    (0..NETWORKS).map(|number| fleet.network(&format!("moves-{number}"))).collect()
}

/// With `HUB_PREVIOUS_BINARY`, the nodes that stop run that binary.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_under_way_when_a_node_stops_are_answered() {
    let binary = std::env::var("HUB_PREVIOUS_BINARY").unwrap_or_else(|_| CURRENT.to_owned());
    let mut fleet = Fleet::start_with(&binary).await;
    let owners = networks(&fleet);
    let (path, payment) = ("/api/plugin/economy/team/red/currencies/modify", json!({"currency": "coins", "amount": 1}));
    for (node, paid) in [(0, 1), (1, 2)] {
        let mut lock = fleet.lock_table("balances").await;
        let pay = |owner: &Client| {
            let (owner, payment) = (owner.clone(), payment.clone());
            tokio::spawn(async move { owner.send(2, &Method::POST, path, Some(&payment), None).await.unwrap() })
        };
        let payments: Vec<_> = owners.iter().map(pay).collect();
        lock.wait_for_blocked(NETWORKS as i64).await;
        let stopping = fleet.request_stop(node);
        tokio::time::sleep(BLOCKED_FOR).await;
        lock.release().await;
        for answer in payments {
            assert_eq!(answer.await.unwrap().expect(200)["balance"].as_f64(), Some(f64::from(paid)));
        }
        stopping.wait();
        fleet.wait_until_ready().await;
    }
}

async fn send_chain(owner: &Client, method: Method, body: Option<&Value>) -> Value {
    owner.send(1, &method, CHAIN, body, None).await.unwrap().expect(200).clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_changes_of_a_chain_from_one_revision_by_two_nodes_one_is_made() {
    let fleet = Fleet::start().await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/chat-guard/chat-guard.wasm");
    let wasm = std::fs::read(file).unwrap();
    for owner in networks(&fleet).into_iter().take(4) {
        let upload = owner.request(1, &Method::POST, "/api/manage/modules?name=guard").unwrap();
        assert_eq!(upload.body(wasm.clone()).send().await.unwrap().status(), 201);
        let put = async |node: usize, word: &str| {
            let link = json!({"name": "guard", "version": 1, "config": {"words": [word], "action": "REFUSE"}});
            let request = owner.request(node, &Method::PUT, CHAIN).unwrap().header("If-Match", "0");
            request.json(&json!({"modules": [link]})).send().await.unwrap().status().as_u16()
        };
        let (one, two) = tokio::join!(put(0, "heck"), put(1, "darn"));
        assert_eq!((one.min(two), one.max(two)), (200, 409));
        assert_eq!(send_chain(&owner, Method::GET, None).await["revision"], 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_not_stored_before_its_network_moved_runs_at_the_next_owner() {
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
    // Storing a chain looks up its modules first.
    let mut lock = fleet.lock_table("modules").await;
    let mut puts = vec![];
    for owner in &owners {
        let (owner, chain) = (owner.clone(), json!({"modules": [link]}));
        puts.push(tokio::spawn(async move { send_chain(&owner, Method::PUT, Some(&chain)).await }));
    }
    lock.wait_for_blocked(NETWORKS as i64).await;
    let stopping = fleet.request_stop(0);
    for owner in &owners {
        // The next owner answers this, and has read the stored chain by then.
        assert_eq!(send_chain(owner, Method::GET, None).await["modules"], json!([]));
    }
    lock.release().await;
    for put in puts {
        put.await.unwrap();
    }
    for owner in &owners {
        assert_eq!(send_chain(owner, Method::GET, None).await["modules"][0]["config"], words);
    }
    stopping.wait();
    fleet.stop(2);
    for owner in &owners {
        assert_eq!(send_chain(owner, Method::GET, None).await["modules"][0]["config"], words);
        let line = json!({"playerUuid": crate::fleet::uuid(1), "playerName": "p", "message": "heck", "serverId": "s"});
        let answer = owner.send(1, &Method::POST, "/api/plugin/chat", Some(&line), None).await.unwrap();
        assert_eq!(answer.expect(400)["code"], "chat_rejected");
    }
}

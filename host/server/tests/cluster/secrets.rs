//! A rotated secrets key reaches all nodes while they serve.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;
use crate::fleet::{Fleet, wait_until};

/// The network's signing secret, from the node that owns the network.
async fn signing_secret(owner: &Client) -> Value {
    let server = json!({"serverId": "a", "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
    owner.post("/api/plugin/servers/register", server).await.expect(201)["signingSecret"].clone()
}

/// The node's key, as its file has it.
fn key(fleet: &Fleet, node: usize) -> String {
    std::fs::read_to_string(fleet.data(node).join("secrets.key")).unwrap()
}

/// Rotates at one of the machines: the others' nodes get the key through the database. Returns the newest line.
fn rotate(fleet: &Fleet) -> String {
    let old = key(fleet, 0);
    let rotate = ["admin", "secrets", "rotate", "--database", fleet.database(), "--data"];
    let output = Command::new(env!("CARGO_BIN_EXE_hub")).args(rotate).arg(fleet.data(0)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_ne!(key(fleet, 0), old);
    key(fleet, 0).lines().next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_goes_on_with_a_rotated_key() {
    let fleet = Fleet::start().await;
    let owners = fleet.networks_everywhere("sealed", 3).await;
    let mut before = vec![];
    for owner in &owners {
        before.push(signing_secret(owner).await);
    }
    for _ in 0..2 {
        let newest = rotate(&fleet);
        wait_until(async || (0..3).all(|node| key(&fleet, node).starts_with(&newest))).await;
        for (owner, before) in owners.iter().zip(&before) {
            assert_eq!(signing_secret(owner).await, *before);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_was_down_starts_with_a_rotated_key() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("sealed");
    let before = signing_secret(&owner).await;
    fleet.stop(2);
    let newest = rotate(&fleet);
    assert!(!key(&fleet, 2).contains(&newest));
    fleet.start_node(2);
    fleet.wait_until_ready().await;
    assert!(key(&fleet, 2).starts_with(&newest));
    assert_eq!(signing_secret(&owner).await, before);
}

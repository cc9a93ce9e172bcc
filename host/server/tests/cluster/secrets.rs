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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_goes_on_with_a_rotated_key() {
    let fleet = Fleet::start().await;
    let owners = fleet.networks_everywhere("sealed", 3).await;
    let mut before = vec![];
    for owner in &owners {
        before.push(signing_secret(owner).await);
    }
    let key = |node: usize| std::fs::read_to_string(fleet.data(node).join("secrets.key")).unwrap();
    for _ in 0..2 {
        let old = key(0);
        // At one of the machines: the others' nodes get the key through the database.
        let rotate = ["admin", "secrets", "rotate", "--database", fleet.database(), "--data"];
        let output = Command::new(env!("CARGO_BIN_EXE_hub")).args(rotate).arg(fleet.data(0)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_ne!(key(0), old);
        let newest = key(0).lines().next().unwrap().to_owned();
        wait_until(async || (0..3).all(|node| key(node).starts_with(&newest))).await;
        for (owner, before) in owners.iter().zip(&before) {
            assert_eq!(signing_secret(owner).await, *before);
        }
    }
}

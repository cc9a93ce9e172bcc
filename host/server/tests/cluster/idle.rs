//! Nodes rest while nothing happens.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::client::Client;
use crate::fleet::{Fleet, wait_until};
use crate::handler::{grants, handler, manifest};

const NETWORKS: usize = 12;
const LOOK: Duration = Duration::from_secs(1);
/// Hundredths of a second that a node may compute in a second in which nothing happens: background work of a build for
/// development. A task that wakes itself takes all of a processor.
const AT_REST: u64 = 40;

async fn activate(owner: &Client) {
    let wasm = handler(1, &manifest("PLAYER", &["BALANCE_CHANGED"]));
    let upload = |request: reqwest::RequestBuilder| request.body(wasm.clone());
    owner.expect_success_with(&Method::POST, "/api/manage/modules?name=counter", upload).await;
    let link = json!({"modules": [{"name": "counter", "version": 1, "grants": grants()}]});
    owner.put("/api/manage/extension-points/events", link).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_rest_once_their_work_is_done() {
    let fleet = Fleet::start().await;
    let owners: Vec<_> = (0..NETWORKS).map(|number| fleet.network(&format!("idle-{number}"))).collect();
    activate(&owners[0]).await;
    for (number, owner) in owners.iter().enumerate() {
        owner.register("lobby", json!({})).await;
        let path = format!("/api/plugin/economy/team/t{number}/currencies/modify");
        owner.expect_success(Method::POST, &path, json!({"currency": "coins", "amount": 1}), None).await;
    }
    for node in 0..3 {
        wait_until(async || {
            let before = fleet.computed(node);
            tokio::time::sleep(LOOK).await;
            fleet.computed(node) - before < AT_REST
        })
        .await;
    }
}

//! Every node gives the same answers, whichever node the parties are connected to.

use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::json;
use tokio::time::timeout;

use crate::fleet::{Fleet, TIMEOUT, uuid, wait_until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn presence_is_the_same_at_every_node_and_survives_its_owner() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("presence");
    owner.register("lobby-1", json!({})).await;
    let join = json!({"serverId": "lobby-1", "playerUuid": uuid(1), "playerName": "p1"});
    owner.post("/api/plugin/servers/players", join).await.expect(204);
    for killed in [None, Some(0), Some(1)] {
        if let Some(node) = killed {
            fleet.kill(node);
        }
        for node in 0..3 {
            let path = "/api/manage/servers/lobby-1";
            let Some(answer) = owner.send(node, &Method::GET, path, None, None).await else { continue };
            assert_eq!(answer.expect(200)["live"]["currentPlayers"], 1, "at {node} after {killed:?}");
        }
        if let Some(node) = killed {
            fleet.start_node(node);
            fleet.wait_until_ready().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_key_is_refused_at_every_node_within_a_second() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("keys");
    let made = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await;
    let made = made.expect(201);
    let client = fleet.client(made["apiKey"].as_str().unwrap());
    let list_servers =
        async |node| client.send(node, &Method::GET, "/api/plugin/servers", None, None).await.unwrap().status;
    for node in 0..3 {
        assert_eq!(list_servers(node).await, 200);
    }
    let mut streams = vec![];
    for node in 0..3 {
        let request = client.stream(node, &format!("s-{node}"), None).unwrap();
        streams.push(request.send().await.unwrap().bytes_stream());
    }
    owner
        .send_retrying(Method::DELETE, &format!("/api/manage/keys/{}", made["keyId"].as_str().unwrap()), None, None)
        .await;
    for node in 0..3 {
        wait_until(async || list_servers(node).await == 401).await;
    }
    for mut stream in streams {
        let ended = async { while stream.next().await.is_some_and(|chunk| chunk.is_ok()) {} };
        timeout(TIMEOUT, ended).await.expect("the streams of a revoked key end");
    }
}

/// A stopping node transfers its networks: requests wait only briefly for the next owner.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopping_node_transfers_its_networks_and_ends_its_streams() {
    let mut fleet = Fleet::start().await;
    let networks: Vec<_> = (0..6).map(|number| fleet.network(&format!("upgrade-{number}"))).collect();
    for owner in &networks {
        owner.register("lobby-1", json!({})).await;
    }
    let mut stream = networks[0].stream(1, "lobby-1", None).unwrap().send().await.unwrap().bytes_stream();
    let ended = tokio::spawn(async move { while stream.next().await.is_some_and(|chunk| chunk.is_ok()) {} });
    let stopping = fleet.request_stop(1);
    wait_until(async || fleet.readiness(1).await == Some(json!(["stopping"]))).await;
    stopping.wait();
    let stopped = fleet.url(1);
    let leases = fleet.leases().await;
    assert!(leases.values().all(|lease| lease.url != stopped), "it leaves leases that must run out");
    ended.await.unwrap();
    for owner in &networks {
        let answer = owner.send_retrying(Method::GET, "/api/manage/servers/lobby-1", None, None).await;
        assert_eq!(answer.expect(200)["online"], true);
    }
}

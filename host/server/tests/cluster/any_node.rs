//! Every node gives the same answers, whichever node the parties are connected to.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::json;

use crate::fleet::{Fleet, uuid, wait_until};

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
    let revoked_at = Instant::now();
    tokio::time::sleep(Duration::from_secs(1)).await;
    for node in 0..3 {
        assert_eq!(list_servers(node).await, 401, "at {node}");
    }
    for mut stream in streams {
        while stream.next().await.is_some_and(|chunk| chunk.is_ok()) {}
    }
    assert!(revoked_at.elapsed() < Duration::from_secs(10));
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
    let began = Instant::now();
    let stopping = fleet.request_stop(1);
    wait_until(async || fleet.readiness(1).await == Some(json!(["stopping"]))).await;
    stopping.wait();
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    ended.await.unwrap();
    for owner in &networks {
        let sent_at = Instant::now();
        let answer = owner.send_retrying(Method::GET, "/api/manage/servers/lobby-1", None, None).await;
        assert_eq!(answer.expect(200)["online"], true);
        assert!(sent_at.elapsed() < Duration::from_secs(3), "{:?}", sent_at.elapsed());
    }
}

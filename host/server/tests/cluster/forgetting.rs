//! A player forgotten at one node is forgotten at all.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::fleet::{Fleet, shard_of, uuid, wait_until};
use crate::stream::Events;

async fn send(client: &Client, node: usize, method: Method, path: &str, body: Value) -> Answer {
    let body = Some(body).filter(|body| !body.is_null());
    client.send(node, &method, path, body.as_ref(), None).await.unwrap()
}

async fn chat(owner: &Client, player: usize, message: &str) {
    let line = json!({"playerUuid": uuid(player), "playerName": "somebody", "message": message, "serverId": "s-0"});
    send(owner, 0, Method::POST, "/api/plugin/chat", line).await.expect(204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_node_remembers_a_forgotten_player() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("forgetting");
    let player = format!("/api/plugin/players/{}", uuid(1));
    send(&owner, 0, Method::POST, &format!("{player}/load?username=somebody"), Value::Null).await.expect(200);
    let mut streams = vec![];
    for node in 0..3 {
        streams.push(Events::open(owner.stream(node, &format!("s-{node}"), None).unwrap()).await);
    }
    chat(&owner, 2, "before").await;
    chat(&owner, 1, "of the player").await;
    let mut positions = vec![];
    for stream in &mut streams {
        let before = stream.next_named("CHAT").await;
        assert_eq!(before.data["message"], "before");
        positions.push(before.id.unwrap());
        assert_eq!(stream.next_named("CHAT").await.data["message"], "of the player");
    }
    drop(streams);

    send(&owner, 1, Method::DELETE, &format!("/api/manage/players/{}", uuid(1)), Value::Null).await.expect(204);
    // Each node checks once a second.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    for (node, position) in positions.iter().enumerate() {
        send(&owner, node, Method::GET, &player, Value::Null).await.expect(404);
        let mut resumed = Events::open(owner.stream(node, &format!("s-{node}"), Some(position)).unwrap()).await;
        let message = format!("after at {node}");
        chat(&owner, 2, &message).await;
        loop {
            let next = resumed.next_named("CHAT").await.data["message"].clone();
            assert_ne!(next, "of the player", "node {node} remembers");
            if next == message.as_str() {
                break;
            }
        }
    }
    let list = send(&owner, 2, Method::GET, "/api/manage/forgotten-players", Value::Null).await.expect(200).clone();
    assert!(list["items"][0]["finishedAt"].is_number(), "{list}");
}

/// It could still need the player's names, which are therefore not deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_waits_for_a_paused_node() {
    let fleet = Fleet::start().await;
    fleet.wait_until_balanced().await;
    let (paused, leases) = (fleet.url(1), fleet.leases().await);
    let networks = fleet.networks_everywhere("paused", 3).await;
    let owner = networks.into_iter().find(|network| leases[&shard_of(&network.key)].url != paused).unwrap();
    let player = format!("/api/plugin/players/{}", uuid(1));
    send(&owner, 0, Method::POST, &format!("{player}/load?username=somebody"), Value::Null).await.expect(200);
    fleet.pause(1);
    let began = Instant::now();
    let erase = owner.clone();
    // It may take longer than a request waits.
    tokio::spawn(async move {
        erase.send(0, &Method::DELETE, &format!("/api/manage/players/{}", uuid(1)), None, None).await
    });
    let recorded = async || {
        let list = send(&owner, 0, Method::GET, "/api/manage/forgotten-players", Value::Null).await;
        list.expect(200)["total"] == 1
    };
    wait_until(recorded).await;
    let finished = async || {
        let list = send(&owner, 0, Method::GET, "/api/manage/forgotten-players", Value::Null).await;
        list.expect(200)["items"][0]["finishedAt"].is_number()
    };
    // Longer than nodes need that are not paused, and shorter than a node is silent that others give up.
    while began.elapsed() < Duration::from_secs(6) {
        assert!(!finished().await, "without the paused node");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    fleet.resume(1);
    wait_until(finished).await;
}

//! A change at one node takes effect at all others at once, and reaches their streams.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::fleet::{Fleet, uuid};
use crate::stream::Events;

async fn send(client: &Client, node: usize, method: Method, path: &str, body: Value) -> Answer {
    let body = Some(body).filter(|body| !body.is_null());
    client.send(node, &method, path, body.as_ref(), None).await.unwrap()
}

/// Uploads and activates one of the starter modules at a node.
async fn install(owner: &Client, node: usize, name: &str, point: &str, config: Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../plugins/{name}/{name}.wasm"));
    let upload = owner.request(node, &Method::POST, &format!("/api/manage/modules?name={name}")).unwrap();
    let upload = upload.header("Content-Type", "application/wasm").body(std::fs::read(file).unwrap());
    assert!(upload.send().await.unwrap().status().is_success());
    let chain = json!({"modules": [{"name": name, "version": 1, "config": config, "onFailure": "REFUSE"}]});
    send(owner, node, Method::PUT, &format!("/api/manage/extension-points/{point}"), chain).await.expect(200);
}

async fn streams(client: &Client) -> Vec<Events> {
    let mut streams = vec![];
    for node in 0..3 {
        streams.push(Events::open(client.stream(node, &format!("s-{node}"), None).unwrap()).await);
    }
    streams
}

async fn chat(client: &Client, node: usize, message: &str) -> Answer {
    let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": message, "serverId": "s-0"});
    send(client, node, Method::POST, "/api/plugin/chat", line).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_activated_at_one_node_runs_at_all() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("modules");
    let mut streams = streams(&owner).await;
    for node in 0..3 {
        chat(&owner, node, "what the heck").await.expect(204);
    }
    let config = json!({"words": ["heck"], "action": "REFUSE"});
    install(&owner, 0, "chat-guard", "chat", config).await;
    for node in 0..3 {
        assert_eq!(chat(&owner, node, "what the heck").await.expect(400)["code"], "chat_rejected", "at {node}");
        chat(&owner, node, "hello").await.expect(204);
    }
    for events in &mut streams {
        for message in [["what the heck"; 3], ["hello"; 3]].concat() {
            assert_eq!(events.next_named("CHAT").await.data["message"], message);
        }
    }
    for region in ["asia", "europe"] {
        owner.register(region, json!({"region": region.to_uppercase()})).await;
    }
    let africa = json!({"playerUuid": uuid(2), "playerName": "p2", "serverType": "lobby", "region": "AFRICA"});
    let find = async |node| {
        let found = send(&owner, node, Method::POST, "/api/plugin/matchmaking/find", africa.clone()).await;
        found.expect(200)["matchedServer"]["serverId"].clone()
    };
    assert_eq!(find(2).await, "asia");
    install(&owner, 1, "region-first", "matchmaking", json!({"neighbours": {"AFRICA": ["EUROPE"]}})).await;
    for node in 0..3 {
        assert_eq!(find(node).await, "europe", "at {node}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_visible_at_every_node_and_on_every_stream() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("changes");
    let mut streams = streams(&owner).await;
    for node in 0..3 {
        let document = json!({"group": "lobby", "namespace": "board", "doc": {"lines": node}});
        let published = send(&owner, node, Method::POST, "/api/plugin/config/publish", document.clone()).await;
        published.expect(200);
        let path = format!("/api/plugin/permissions/users/{}/permissions", uuid(1));
        let granted = send(&owner, node, Method::POST, &path, json!({"node": format!("kit.{node}")})).await;
        granted.expect(204);
        let entries = json!({"namespace": "lobby", "locale": "en", "entries": {format!("line-{node}"): "Welcome!"}});
        let added = send(&owner, node, Method::POST, "/api/plugin/localization/defaults", entries).await;
        assert_eq!(added.expect(200)["inserted"], 1);
        for at in 0..3 {
            let read = send(&owner, at, Method::GET, "/api/plugin/config/lobby/board", Value::Null).await;
            assert_eq!(read.expect(200), &document);
            let path = format!("/api/plugin/permissions/users/{}/effective", uuid(1));
            let may = send(&owner, at, Method::GET, &path, Value::Null).await;
            assert_eq!(may.expect(200)["permissions"][format!("kit.{node}")], true);
            let catalog = send(&owner, at, Method::GET, "/api/plugin/localization/catalog", Value::Null).await;
            assert_eq!(catalog.expect(200)["version"], node + 1);
        }
        for events in &mut streams {
            let updated = events.next_named("CONFIG_UPDATED").await.data;
            assert_eq!((&updated["group"], &updated["namespace"]), (&json!("lobby"), &json!("board")));
            assert_eq!(events.next_named("LOCALIZATION_UPDATED").await.data["version"], node + 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_network_is_refused_at_every_node_within_a_second() {
    let fleet = Fleet::start().await;
    let (owner, other) = (fleet.network("suspended"), fleet.network("other"));
    let (streams, mut others) = (streams(&owner).await, streams(&other).await);
    let servers = async |client, node| send(client, node, Method::GET, "/api/plugin/servers", Value::Null).await;
    for node in 0..3 {
        servers(&owner, node).await.expect(200);
    }
    fleet.sql("UPDATE networks SET suspended = true WHERE name = 'suspended'").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    for node in 0..3 {
        assert_eq!(servers(&owner, node).await.expect(403)["code"], "network_suspended", "at {node}");
        servers(&other, node).await.expect(200);
    }
    for mut events in streams {
        let ends = async { while events.next().await.is_some() {} };
        tokio::time::timeout(Duration::from_secs(1), ends).await.expect("the stream ends");
    }
    chat(&other, 0, "still here").await.expect(204);
    for events in &mut others {
        assert_eq!(events.next_named("CHAT").await.data["message"], "still here");
    }
    fleet.sql("UPDATE networks SET suspended = false WHERE name = 'suspended'").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    for node in 0..3 {
        servers(&owner, node).await.expect(200);
    }
}

//! The store of blobs, in an S3-compatible store.

mod s3;

use reqwest::Method;
use serde_json::{Value, json};

use crate::modules::wasm;
use crate::servers::{register, uuid};
use crate::support::{Client, Hub};

/// Blobs of a network.
struct Things {
    artifact: Vec<u8>,
    module: Vec<u8>,
    inline: Vec<u8>,
}

/// Fills a network with a blob of each kind.
async fn fill(owner: &Client) -> Things {
    let things = Things {
        artifact: (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect(),
        module: wasm::padded(wasm::moody(1), 6_000_000),
        inline: wasm::padded(wasm::moody(2), 400_000),
    };
    register(owner, "lobby-1", json!({})).await;
    register(owner, "islands-1", json!({"serverType": "islands"})).await;
    let put = async |method, path: &str, bytes: Vec<u8>| owner.send(owner.request(method, path).body(bytes)).await;
    let artifact = "/api/manage/artifacts?name=my-plugin&version=1";
    put(Method::POST, artifact, things.artifact.clone()).await.expect(201);
    put(Method::PUT, "/api/manage/provisioning/bundles/bedwars", b"mods".into()).await.expect(200);
    put(Method::POST, "/api/manage/modules?name=large", things.module.clone()).await.expect(201);
    put(Method::POST, "/api/manage/modules?name=inline", things.inline.clone()).await.expect(201);
    let (id, fence, url) = boot(owner).await;
    assert_eq!((fence, url), (1, None));
    let path = format!("/api/plugin/worlds/{id}/upload-url");
    let upload = owner.post(&path, Value::Null).await.expect(200).clone();
    let sent = hub::http_client::client().unwrap().put(upload["url"].as_str().unwrap()).body("an island").send().await;
    assert_eq!(sent.unwrap().status(), 200);
    unload(owner, &id, fence, json!({"blobKey": upload["blobKey"], "sizeBytes": 9})).await;
    things
}

/// Boots a world on `islands-1`; returns its id, its fence and the link to its snapshot.
pub async fn boot(owner: &Client) -> (String, i64, Option<String>) {
    let mut stream = owner.events(Some("islands-1"), None).await;
    let body = json!({"ownerScope": "party", "ownerId": "p", "gameId": "islands"});
    let opened = owner.post("/api/plugin/worlds/open", body).await.expect(200).clone();
    let id = opened["worldInstanceId"].as_str().unwrap().to_owned();
    let told = stream.next_named("WORLD_OPEN").await.data;
    let fence = told["fence"].as_i64().unwrap();
    let by = json!({"nodeServerId": "islands-1", "fence": fence});
    owner.post(&format!("/api/plugin/worlds/{id}/ready"), by).await.expect(200);
    (id, fence, told["snapshotUrl"].as_str().map(str::to_owned))
}

async fn unload(owner: &Client, id: &str, fence: i64, saved: Value) {
    let mut body = json!({"nodeServerId": "islands-1", "fence": fence});
    body.as_object_mut().unwrap().extend(saved.as_object().unwrap().clone());
    owner.post(&format!("/api/plugin/worlds/{id}/unloaded"), body).await.expect(200);
}

async fn get(url: &str) -> bytes::Bytes {
    let answer = hub::http_client::client().unwrap().get(url).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{url}");
    answer.bytes().await.unwrap()
}

/// Checks that all of it is there.
async fn check(owner: &Client, things: &Things) {
    register(owner, "islands-1", json!({"serverType": "islands"})).await;
    let artifacts = owner.get("/api/manage/artifacts").await.expect(200).clone();
    let path = format!("/api/manage/artifacts/{}/install", artifacts["items"][0]["artifactId"].as_str().unwrap());
    let link = owner.post(&path, json!({"serverId": "lobby-1"})).await.expect(201).clone();
    assert!(get(link["url"].as_str().unwrap()).await == things.artifact);
    assert_eq!(owner.get("/api/plugin/provisioning/agent/bedwars").await.expect(200), "mods");
    for (name, bytes) in [("large", &things.module), ("inline", &things.inline)] {
        let path = format!("/api/manage/modules/{name}/1/wasm");
        let download = owner.request(Method::GET, &path).send().await.unwrap();
        assert!(download.bytes().await.unwrap() == bytes);
    }
    let (id, fence, url) = boot(owner).await;
    assert_eq!(get(&url.unwrap()).await, "an island");
    unload(owner, &id, fence, json!({})).await;
}

/// Restarts the hub without its compiled code; a module runs nevertheless.
async fn run_module(hub: Hub, owner: &Client) -> Hub {
    std::fs::remove_dir_all(hub.data().join("modules-cache")).unwrap();
    let hub = hub.restart(std::time::Duration::ZERO).await;
    let owner = hub.with_key(owner.key.as_deref().unwrap());
    let line = json!({"player": {"uuid": uuid(4), "name": "p4"}, "message": "hi", "serverId": "a", "serverType": "b"});
    let run = json!({"point": "chat", "input": line, "config": {}});
    let run = owner.post("/api/manage/modules/large/1/dry-run", run).await;
    assert_eq!(run.expect(200)["output"]["decision"], "allow");
    hub
}

//! Snapshots that go through the hub itself.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{call, node, open, open_request, ready, state};
use crate::servers::beat;
use crate::support::{Answer, Backend, Client, Hub, S3, on_both, on_each};

async fn upload_url(client: &Client, id: &Value) -> Value {
    let path = format!("/api/plugin/worlds/{}/upload-url", id.as_str().unwrap());
    client.post(&path, Value::Null).await.expect(200).clone()
}

/// Calls an unchanged link, with no key.
async fn follow(hub: &Hub, method: Method, url: &Value, body: &str) -> Answer {
    let path = url.as_str().unwrap().strip_prefix(&hub.url()).expect("the hub's own address");
    let stranger = hub.anonymous();
    stranger.send(stranger.request(method, path).body(body.to_owned())).await
}

async fn put(hub: &Hub, upload: &Value, body: &str) -> Answer {
    follow(hub, Method::PUT, &upload["url"], body).await
}

async fn unload(client: &Client, id: &Value, fence: i64, upload: &Value, size: usize) -> Answer {
    let more = json!({"blobKey": upload["blobKey"], "sizeBytes": size});
    call(client, id, "unloaded", "n1", fence, more).await
}

/// Boots the world again, and returns its node's parameters.
async fn boot(client: &Client, owner: &str) -> (Value, i64, Value) {
    let mut stream = client.events(Some("n1"), None).await;
    let id = open(client, owner).await["worldInstanceId"].clone();
    let told = stream.next_named("WORLD_OPEN").await.data;
    let fence = told["fence"].as_i64().unwrap();
    ready(client, &id, "n1", fence).await;
    (id, fence, told["snapshotUrl"].clone())
}

async fn bytes(hub: &Hub, url: &Value) -> String {
    let answer = follow(hub, Method::GET, url, "").await;
    answer.expect(200).as_str().unwrap().to_owned()
}

on_both! {
    async fn a_world_boots_from_the_snapshot_it_was_unloaded_with(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let (id, fence, url) = boot(&client, "p").await;
        assert_eq!((fence, &url), (1, &Value::Null));
        let upload = upload_url(&client, &id).await;
        assert_eq!((&upload["method"], &upload["headers"]), (&json!("PUT"), &json!({})));
        assert_eq!(upload["expiresAt"], crate::support::NOW + 900_000);
        // It ends with the key that made it.
        let end = crate::support::NOW + 4_000;
        let short = client.post("/api/manage/keys", json!({"name": "short", "scopes": ["plugin"], "expiresAt": end})).await;
        let short = hub.with_key(short.expect(201)["apiKey"].as_str().unwrap());
        assert_eq!(upload_url(&short, &id).await["expiresAt"], end);
        let key = upload["blobKey"].as_str().unwrap();
        assert!(key.starts_with(&client.network.unwrap().to_string()) && key.ends_with("/1-1"), "{key}");
        // Nothing came yet.
        unload(&client, &id, 1, &upload, 9).await.expect_error(400, "snapshot_missing");
        let stored = put(&hub, &upload, "first one").await;
        assert_eq!(stored.expect(200), &json!({"blobKey": key, "sizeBytes": 9}));
        // A key of the hub's own, of no upload of this lease.
        let other = json!({"blobKey": format!("{}/9/1-1", client.network.unwrap())});
        unload(&client, &id, 1, &other, 9).await.expect_error(400, "unknown_snapshot");
        // The lease continued meanwhile.
        call(&client, &id, "heartbeat", "n1", 1, json!({})).await.expect(200);
        unload(&client, &id, 1, &upload, 9).await.expect(200);
        unload(&client, &id, 1, &upload, 9).await.expect(200);
        let (id, fence, url) = boot(&client, "p").await;
        assert_eq!(fence, 2);
        assert_eq!(bytes(&hub, &url).await, "first one");
        // Nothing new: the snapshot stays.
        call(&client, &id, "unloaded", "n1", 2, json!({})).await.expect(200);
        let (_, _, url) = boot(&client, "p").await;
        assert_eq!(bytes(&hub, &url).await, "first one");
        let (_, _, none) = boot(&client, "q").await;
        assert_eq!(none, Value::Null);
    }

    async fn a_node_may_keep_snapshots_in_a_store_of_its_own(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let mut stream = client.events(Some("n1"), None).await;
        let id = open(&client, "p").await["worldInstanceId"].clone();
        assert_eq!(stream.next_named("WORLD_OPEN").await.data["blobKey"], Value::Null);
        ready(&client, &id, "n1", 1).await;
        // Saved twice: the later one counts.
        call(&client, &id, "heartbeat", "n1", 1, json!({"blobKey": "disk7:/p.1", "sizeBytes": 5})).await.expect(200);
        let own = json!({"blobKey": "disk7:/p.2"});
        unload(&client, &id, 1, &own, 9).await.expect(200);
        unload(&client, &id, 1, &own, 9).await.expect(200);
        // Its node is preferred, though others have fewer leases, and is given the key back.
        for other in ["n0", "n2"] {
            node(&client, other).await;
        }
        for busy in 0..2 {
            let body = json!({"gameId": "islands", "ownerScope": "party", "ownerId": format!("b{busy}"), "preferNode": "n1"});
            client.post("/api/plugin/worlds/open", body).await.expect(200);
            stream.next_named("WORLD_OPEN").await;
        }
        let id = open(&client, "p").await["worldInstanceId"].clone();
        let told = stream.next_named("WORLD_OPEN").await.data;
        assert_eq!((&told["worldId"].to_string(), &told["blobKey"], &told["snapshotUrl"], &told["fence"]),
            (&id.as_str().unwrap().to_owned(), &json!("disk7:/p.2"), &Value::Null, &json!(2)));
        // Unless the caller prefers another; a snapshot of the hub's replaces it.
        ready(&client, &id, "n1", 2).await;
        let upload = upload_url(&client, &id).await;
        put(&hub, &upload, "in the hub").await.expect(200);
        call(&client, &id, "unloaded", "n1", 2, json!({"blobKey": upload["blobKey"]})).await.expect(200);
        let mut other = client.events(Some("n2"), None).await;
        let body = json!({"gameId": "islands", "ownerScope": "party", "ownerId": "p", "preferNode": "n2"});
        client.post("/api/plugin/worlds/open", body).await.expect(200);
        let told = other.next_named("WORLD_OPEN").await.data;
        assert_eq!(told["blobKey"], upload["blobKey"]);
        assert_eq!(bytes(&hub, &told["snapshotUrl"]).await, "in the hub");
    }

    async fn a_save_point_counts_when_it_is_on_disk(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let (id, ..) = boot(&client, "p").await;
        let mut stream = client.events(Some("n1"), None).await;
        let path = format!("/api/plugin/worlds/{}/snapshot", id.as_str().unwrap());
        client.post(&path, json!({"reason": "BOSS"})).await.expect(200);
        let told = stream.next_named("WORLD_SNAPSHOT").await.data;
        assert_eq!((told["worldId"].to_string(), &told["reason"]), (id.as_str().unwrap().to_owned(), &json!("BOSS")));
        client.post(&path, json!({})).await.expect(200);
        assert_eq!(stream.next_named("WORLD_SNAPSHOT").await.data["reason"], "REQUESTED");
        let (one, two) = (upload_url(&client, &id).await, upload_url(&client, &id).await);
        put(&hub, &two, "newer").await.expect(200);
        // A late one does not replace the newer one.
        put(&hub, &one, "older").await.expect(200);
        // The node dies.
        client.post("/api/plugin/worlds/release-all", json!({"nodeServerId": "n1"})).await.expect(200);
        let (_, _, url) = boot(&client, "p").await;
        assert_eq!(bytes(&hub, &url).await, "newer");
        // A world that can't be saved reports it.
        let id = open(&client, "q").await["worldInstanceId"].clone();
        let path = format!("/api/plugin/worlds/{}/snapshot", id.as_str().unwrap());
        client.post(&path, json!({})).await.expect_error(400, "world_not_ready");
        let brief = open_request("brief", json!({"persistence": "EPHEMERAL"}));
        let id = client.post("/api/plugin/worlds/open", brief).await.expect(200)["worldInstanceId"].clone();
        for what in ["snapshot", "upload-url"] {
            let path = format!("/api/plugin/worlds/{}/{what}", id.as_str().unwrap());
            client.post(&path, json!({})).await.expect_error(400, "not_persistent");
        }
    }

    async fn a_node_that_was_away_overwrites_nothing(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let (first, ..) = boot(&client, "p").await;
        let (early, late) = (upload_url(&client, &first).await, upload_url(&client, &first).await);
        put(&hub, &early, "its last").await.expect(200);
        hub.advance_ms(60_000);
        node(&client, "n1").await;
        let (second, fence, url) = boot(&client, "p").await;
        assert_eq!((fence, bytes(&hub, &url).await.as_str()), (2, "its last"));
        put(&hub, &late, "from beyond").await.expect_error(400, "lease_ended");
        put(&hub, &early, "from beyond").await.expect_error(400, "lease_ended");
        unload(&client, &first, 1, &late, 11).await.expect_error(400, "lease_ended");
        // Nor does it help to name its upload under the successor's lease.
        unload(&client, &second, 2, &early, 8).await.expect_error(400, "unknown_snapshot");
        let upload = upload_url(&client, &second).await;
        put(&hub, &upload, "the successor's").await.expect(200);
        put(&hub, &early, "from beyond").await.expect_error(400, "lease_ended");
        unload(&client, &second, 2, &upload, 15).await.expect(200);
        // A link is used up with its lease.
        put(&hub, &upload, "too late").await.expect_error(400, "lease_ended");
        assert_eq!(state(&client, &first).await, "LOST");
        let (_, _, url) = boot(&client, "p").await;
        assert_eq!(bytes(&hub, &url).await, "the successor's");
    }

    async fn the_newest_two_snapshots_are_kept(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let (id, ..) = boot(&client, "p").await;
        for round in 0..4 {
            let upload = upload_url(&client, &id).await;
            put(&hub, &upload, &format!("snapshot {round}")).await.expect(200);
        }
        assert_eq!(hub.blobs().len(), 2);
        // The same link again replaces its own.
        let upload = upload_url(&client, &id).await;
        put(&hub, &upload, "once").await.expect(200);
        put(&hub, &upload, "twice").await.expect(200);
        assert_eq!(hub.blobs().len(), 2);
        unload(&client, &id, 1, &upload, 5).await.expect(200);
        let (id, _, url) = boot(&client, "p").await;
        assert_eq!(bytes(&hub, &url).await, "twice");
        // One more: the snapshot that the node boots from is still there.
        put(&hub, &upload_url(&client, &id).await, "next").await.expect(200);
        assert_eq!(bytes(&hub, &url).await, "twice");
        let [one, two] = [upload_url(&client, &id).await, upload_url(&client, &id).await];
        put(&hub, &one, "more").await.expect(200);
        put(&hub, &two, "and more").await.expect(200);
        follow(&hub, Method::GET, &url, "").await.expect_error(404, "unknown_snapshot");
        assert_eq!(hub.blobs().len(), 2);
    }

    async fn only_the_hubs_own_links_are_good_and_only_for_a_while(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let (id, ..) = boot(&client, "p").await;
        let upload = upload_url(&client, &id).await;
        let path = upload["url"].as_str().unwrap().strip_prefix(&hub.url()).unwrap().to_owned();
        // A link to put is none to get.
        follow(&hub, Method::GET, &upload["url"], "").await.expect_error(403, "invalid_signature");
        put(&hub, &upload, "").await.expect_error(400, "invalid_request");
        let (head, _) = path.rsplit_once('.').unwrap();
        for forged in ["/api/worlds/blobs/x".to_owned(), head.to_owned(), format!("{head}.AAAA"), format!("{path}A")] {
            let stranger = hub.anonymous();
            stranger.send(stranger.request(Method::PUT, &forged).body("x")).await.expect_error(403, "invalid_signature");
            stranger.get(&forged).await.expect_error(403, "invalid_signature");
        }
        for _ in 0..45 {
            hub.advance_ms(20_000);
            beat(&client, "n1", json!({})).await;
            call(&client, &id, "heartbeat", "n1", 1, json!({"playerCount": 1})).await.expect(200);
        }
        put(&hub, &upload, "late").await.expect_error(410, "link_expired");
    }

    /// Every server of the network knows the secret of transfers' signatures.
    async fn the_signing_secret_makes_no_links(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let (id, ..) = boot(&client, "p").await;
        let upload = upload_url(&client, &id).await;
        put(&hub, &upload, "ours").await.expect(200);
        let body = crate::servers::server("verifier", json!({}));
        let registered = client.post("/api/plugin/servers/register", body).await.expect(201).clone();
        let secret = registered["signingSecret"].as_str().unwrap();
        let (network, key) = (client.network.unwrap().0.simple().to_string(), upload["blobKey"].as_str().unwrap());
        let in_ten_years = crate::support::NOW + 10 * 365 * 86_400_000;
        for method in [Method::PUT, Method::GET] {
            let claims = format!("{method}\n{network}\n{in_ten_years}\n{key}");
            for purpose in ["world-blob\n", "world-links\0", "world-links\n", ""] {
                let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
                mac.update(format!("{purpose}{claims}").as_bytes());
                let token = format!("{}.{}", BASE64.encode(&claims), BASE64.encode(mac.finalize().into_bytes()));
                let link = json!(format!("{}/api/worlds/blobs/{token}", hub.url()));
                follow(&hub, method.clone(), &link, "theirs").await.expect_error(403, "invalid_signature");
            }
        }
        client.post("/api/plugin/worlds/release-all", json!({"nodeServerId": "n1"})).await.expect(200);
        let (_, _, url) = boot(&client, "p").await;
        assert_eq!(bytes(&hub, &url).await, "ours");
    }

    async fn links_of_a_suspended_network_stop_working(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let (id, ..) = boot(&client, "p").await;
        let upload = upload_url(&client, &id).await;
        put(&hub, &upload, "one").await.expect(200);
        client.post("/api/plugin/worlds/release-all", json!({"nodeServerId": "n1"})).await.expect(200);
        let (id, _, url) = boot(&client, "p").await;
        let upload = upload_url(&client, &id).await;
        let suspend = async |suspended: bool| {
            let update = "UPDATE networks SET suspended = $2 WHERE network_id = $1";
            hub.app.db.write(update).bind(client.network.unwrap()).bind(suspended).execute().await.unwrap();
        };
        suspend(true).await;
        put(&hub, &upload, "two").await.expect_error(403, "network_suspended");
        follow(&hub, Method::GET, &url, "").await.expect_error(403, "network_suspended");
        suspend(false).await;
        assert_eq!(bytes(&hub, &url).await, "one");
        put(&hub, &upload, "two").await.expect(200);
    }

    async fn snapshots_outlive_a_restart(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let (id, ..) = boot(&client, "p").await;
        let upload = upload_url(&client, &id).await;
        put(&hub, &upload, "kept").await.expect(200);
        let key = client.key.clone().unwrap();
        let hub = hub.restart(Duration::from_secs(1)).await;
        let client = hub.with_key(&key);
        call(&client, &id, "unloaded", "n1", 1, json!({"blobKey": upload["blobKey"]})).await.expect(200);
        let (_, _, url) = boot(&client, "p").await;
        assert_eq!(bytes(&hub, &url).await, "kept");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_that_is_too_large_leaves_nothing_behind() {
    let hub = Hub::start_with(Backend::sqlite(), |settings| settings.snapshot_settings.limit = 100_000).await;
    let client = hub.network().await;
    node(&client, "n1").await;
    let (id, ..) = boot(&client, "p").await;
    let upload = upload_url(&client, &id).await;
    put(&hub, &upload, &"x".repeat(100_001)).await.expect_error(413, "body_too_large");
    let path = upload["url"].as_str().unwrap().strip_prefix(&hub.url()).unwrap();
    let pieces = futures_util::stream::iter((0..3).map(|_| Ok::<_, std::io::Error>("x".repeat(50_000))));
    let request = hub.anonymous().request(Method::PUT, path).body(reqwest::Body::wrap_stream(pieces));
    hub.anonymous().send(request).await.expect_error(413, "body_too_large");
    assert_eq!(hub.blobs(), [] as [PathBuf; 0]);
    put(&hub, &upload, &"x".repeat(100_000)).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_lead_where_the_settings_say() {
    let hub = Hub::start_with(Backend::sqlite(), |settings| {
        settings.public_url = Some("https://hub.example.org/".to_owned());
    })
    .await;
    let client = hub.network().await;
    node(&client, "n1").await;
    let (id, ..) = boot(&client, "p").await;
    let upload = upload_url(&client, &id).await;
    assert!(upload["url"].as_str().unwrap().starts_with("https://hub.example.org/api/worlds/blobs/"), "{upload}");
}

/// A node whose lease is lost may still upload by the link that it got: the file of nobody is deleted once it cannot.
async fn an_upload_of_a_lost_lease_is_deleted_when_its_link_has_ended(backend: Backend) {
    let s3 = S3::start().await;
    let hub = Hub::start_with(backend, |settings| settings.blobs = Some(s3.url())).await;
    let owner = hub.network().await;
    node(&owner, "n1").await;
    let (id, fence, _) = boot(&owner, "p").await;
    let late = upload_url(&owner, &id).await;
    call(&owner, &id, "unloaded", "n1", fence, json!({})).await.expect(200);
    // The next lease's snapshot makes that upload obsolete.
    let (id, ..) = boot(&owner, "p").await;
    let newer = upload_url(&owner, &id).await;
    let put = async |upload: &Value| {
        let url = upload["url"].as_str().unwrap();
        let sent = hub::http_client::builder().unwrap().build().unwrap().put(url).body("world").send().await.unwrap();
        assert!(sent.status().is_success(), "{sent:?}");
    };
    put(&newer).await;
    call(&owner, &id, "unloaded", "n1", 2, json!({"blobKey": newer["blobKey"], "sizeBytes": 5})).await.expect(200);
    put(&late).await;
    assert_eq!(s3.keys().len(), 2);
    hub.advance_ms(30 * 60_000);
    Hub::eventually("the late upload is deleted", async || {
        hub.advance_ms(60_000);
        s3.keys().len() == 1
    })
    .await;
    assert!(s3.keys()[0].ends_with(newer["blobKey"].as_str().unwrap().rsplit('/').next().unwrap()), "{:?}", s3.keys());
}

on_each! { an_upload_of_a_lost_lease_is_deleted_when_its_link_has_ended }

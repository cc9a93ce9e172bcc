//! Artifacts: uploads, links, downloads.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use bytes::Bytes;
use reqwest::{Body, Method};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Answer, Client, Hub, NOW, on_both};

const PIECES: usize = 64;
pub const UPLOAD: &str = "/api/manage/artifacts?name=my-plugin&version=1.4.0";

pub async fn upload(client: &Client, path: &str, bytes: impl Into<Body>) -> Answer {
    client.send(client.request(Method::POST, path).body(bytes)).await
}

fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

pub async fn register(client: &Client, server: &str) {
    let body = json!({"serverId": server, "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
    client.post("/api/plugin/servers/register", body).await.expect(201);
}

pub async fn install(client: &Client, artifact: &Value, server: &str) -> Answer {
    let id = artifact["artifactId"].as_str().unwrap();
    client.post(&format!("/api/manage/artifacts/{id}/install"), json!({"serverId": server})).await
}

/// The path in a link to this hub.
pub fn path(hub: &Hub, link: &Value) -> String {
    let url = link["url"].as_str().unwrap();
    url.strip_prefix(&hub.url()).unwrap_or_else(|| panic!("{url} does not lead to {}", hub.url())).to_owned()
}

on_both! {
    async fn links_lead_to_the_uploaded_bytes(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1").await;
        let bytes: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let made = upload(&owner, UPLOAD, bytes.clone()).await;
        let artifact = made.expect(201);
        assert_eq!(artifact["name"], "my-plugin");
        assert_eq!(artifact["version"], "1.4.0");
        assert_eq!(artifact["sha256"], sha256(&bytes));
        assert_eq!(artifact["sizeBytes"], bytes.len());
        assert!(artifact["artifactId"].is_string());

        let link = install(&owner, artifact, "lobby-1").await;
        let link = link.expect(201);
        assert_eq!(link["expiresAt"], hub.app.clock.now() + 600_000);
        let anonymous = hub.anonymous();
        let path = path(&hub, link);
        let response = anonymous.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/octet-stream");
        assert_eq!(response.headers()["content-length"], bytes.len().to_string());
        let etag = response.headers()["etag"].to_str().unwrap().to_owned();
        assert_eq!(etag, format!("\"{}\"", sha256(&bytes)));
        assert_eq!(response.bytes().await.unwrap(), bytes);

        for has in [etag.clone(), format!("\"other\", W/{etag}"), "*".to_owned()] {
            let again = anonymous.send(anonymous.request(Method::GET, &path).header("If-None-Match", has)).await;
            assert_eq!((again.status.as_u16(), again.body), (304, Value::Null));
        }
        let other = anonymous.request(Method::GET, &path).header("If-None-Match", "\"other\"").send().await.unwrap();
        assert_eq!(other.bytes().await.unwrap(), bytes);
        let head = anonymous.request(Method::HEAD, &path).send().await.unwrap();
        assert_eq!((head.status().as_u16(), head.headers()["content-length"].to_str().unwrap()), (200, "1200000"));
    }

    async fn the_servers_agent_gets_the_install_command(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1").await;
        let agent = owner.key_with(&["agent"]).await;
        let commands = async || {
            let polled = agent.get("/api/plugin/servers/lobby-1/commands?nodeId=n").await;
            let texts = polled.expect(200)["commands"].as_array().unwrap().clone();
            texts.iter().map(|text| serde_json::from_str(text.as_str().unwrap()).unwrap()).collect::<Vec<Value>>()
        };
        let made = upload(&owner, UPLOAD, "bytes").await;
        let artifact = made.expect(201);
        // Before any agent was there.
        let early = install(&owner, artifact, "lobby-1").await;
        hub.advance_ms(599_999);
        let told = commands().await;
        assert_eq!(told.len(), 1);
        assert_eq!((&told[0]["action"], &told[0]["url"]), (&json!("INSTALL"), &early.expect(201)["url"]));
        assert_eq!((&told[0]["name"], &told[0]["version"]), (&json!("my-plugin"), &json!("1.4.0")));
        assert_eq!(told[0]["sha256"], artifact["sha256"]);
        let fetched = hub.anonymous().get(&path(&hub, &told[0])).await;
        assert_eq!(fetched.expect(200), "bytes");
        assert!(commands().await.is_empty());
        // And no later than the expiry of the link.
        install(&owner, artifact, "lobby-1").await.expect(201);
        hub.advance_ms(600_000);
        assert!(commands().await.is_empty());
    }

    async fn commands_of_an_agent_outlive_the_hub_and_come_once(hub: Hub) {
        let owner = hub.network().await;
        let agent = owner.key_with(&["agent"]).await;
        register(&owner, "lobby-1").await;
        let made = upload(&owner, UPLOAD, "bytes").await;
        let mut urls = vec![];
        // Beyond a hundred the oldest are dropped.
        for _ in 0..102 {
            hub.advance_ms(1);
            urls.push(install(&owner, made.expect(201), "lobby-1").await.expect(201)["url"].clone());
        }
        let hub = hub.abandon(Duration::from_secs(5)).await;
        let agent = hub.with_key(agent.key.as_ref().unwrap());
        let polled = agent.get("/api/plugin/servers/lobby-1/commands").await;
        let told = polled.expect(200)["commands"].as_array().unwrap().iter().map(|text| {
            serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap()["url"].clone()
        });
        // The earlier links lead to the hub's old address.
        assert_eq!(told.collect::<Vec<_>>(), urls[2..]);
        let hub = hub.abandon(Duration::from_secs(5)).await;
        let agent = hub.with_key(agent.key.as_ref().unwrap());
        assert_eq!(agent.get("/api/plugin/servers/lobby-1/commands").await.expect(200)["commands"], json!([]));
    }

    async fn a_version_never_changes(hub: Hub) {
        let owner = hub.network().await;
        let first = upload(&owner, UPLOAD, "bytes").await;
        let first = first.expect(201);
        assert_eq!(upload(&owner, UPLOAD, "bytes").await.expect(200), first);
        upload(&owner, UPLOAD, "others").await.expect_error(400, "version_exists");
        upload(&owner, "/api/manage/artifacts?name=my-plugin&version=1.4.1", "others").await.expect(201);
        // Another network has names of its own.
        upload(&hub.network().await, UPLOAD, "others").await.expect(201);
        assert_eq!(hub.blobs().len(), 3);
    }

    async fn many_uploads_of_one_version_make_one(hub: Hub) {
        let owner = hub.network().await;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..12 {
            let owner = owner.clone();
            let bytes = if number % 2 == 0 { "even" } else { "odd" };
            tasks.spawn(async move { upload(&owner, UPLOAD, bytes).await });
        }
        let answers: Vec<_> = tasks.join_all().await.iter().map(|answer| answer.status.as_u16()).collect();
        let count = |status| answers.iter().filter(|answer| **answer == status).count();
        assert_eq!((count(201), count(200), count(400)), (1, 5, 6), "{answers:?}");
        assert_eq!(owner.get("/api/manage/artifacts").await.expect(200)["total"], 1);
        assert_eq!(hub.blobs().len(), 1);
    }

    async fn the_list_is_newest_first_and_deleting_takes_the_file(hub: Hub) {
        let owner = hub.network().await;
        let mut ids = vec![];
        for version in ["1", "2", "3"] {
            let made = upload(&owner, &format!("/api/manage/artifacts?name=a&version={version}"), "x").await;
            ids.push(made.expect(201)["artifactId"].as_str().unwrap().to_owned());
            hub.advance_ms(1);
        }
        let page = owner.get("/api/manage/artifacts?limit=2").await;
        let page = page.expect(200);
        let versions: Vec<_> = page["items"].as_array().unwrap().iter().map(|item| &item["version"]).collect();
        assert_eq!((json!(versions), &page["total"]), (json!(["3", "2"]), &json!(3)));
        assert_eq!(owner.get("/api/manage/artifacts?limit=2&page=1").await.expect(200)["items"][0]["version"], "1");

        owner.delete(&format!("/api/manage/artifacts/{}", ids[0])).await.expect(204);
        owner.delete(&format!("/api/manage/artifacts/{}", ids[0])).await.expect_error(404, "unknown_artifact");
        assert_eq!(owner.get("/api/manage/artifacts").await.expect(200)["total"], 2);
        assert_eq!(hub.blobs().len(), 2);
        // Its version is free again.
        upload(&owner, "/api/manage/artifacts?name=a&version=1", "y").await.expect(201);
    }

    async fn another_network_neither_sees_nor_installs_nor_deletes(hub: Hub) {
        let ours = hub.network().await;
        let theirs = hub.network().await;
        register(&ours, "lobby-1").await;
        register(&theirs, "lobby-2").await;
        let made = upload(&theirs, UPLOAD, "secret").await;
        let artifact = made.expect(201);
        assert_eq!(ours.get("/api/manage/artifacts").await.expect(200)["total"], 0);
        install(&ours, artifact, "lobby-1").await.expect_error(404, "unknown_artifact");
        let id = artifact["artifactId"].as_str().unwrap();
        ours.delete(&format!("/api/manage/artifacts/{id}")).await.expect_error(404, "unknown_artifact");
        install(&theirs, artifact, "lobby-1").await.expect_error(404, "unknown_server");
        install(&theirs, artifact, "lobby-2").await.expect(201);
    }

    async fn invalid_uploads_are_refused_with_a_reason_and_leave_nothing(hub: Hub) {
        let owner = hub.network().await;
        for (query, field) in [
            ("", "name"), ("name=a", "version"), ("version=1", "name"), ("name=&version=1", "name"),
            ("name=..&version=1", "name"), ("name=a%2Fb&version=1", "name"), ("name=a&version=%2E%2E", "version"),
            ("name=a&version=1%20", "version"),
        ] {
            let answer = upload(&owner, &format!("/api/manage/artifacts?{query}"), "x").await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(&format!("`{field}`")), "{}", answer.body);
        }
        upload(&owner, UPLOAD, "").await.expect_error(400, "empty_body");
        upload(&owner.key_with(&["plugin", "agent"]).await, UPLOAD, "x").await.expect_error(403, "forbidden_scope");
        let made = upload(&owner, UPLOAD, "x").await;
        for body in [json!({}), json!({"serverId": " "}), json!({"serverId": 7}), json!([])] {
            let id = made.expect(201)["artifactId"].as_str().unwrap();
            let answer = owner.post(&format!("/api/manage/artifacts/{id}/install"), body).await;
            answer.expect_error(400, "invalid_request");
        }
        owner.post("/api/manage/artifacts/nope/install", json!({"serverId": "a"})).await
            .expect_error(404, "unknown_artifact");
        assert_eq!(hub.blobs().len(), 1);
    }

    async fn a_body_that_announces_too_much_is_refused_before_it_is_read(hub: Hub) {
        let owner = hub.network().await;
        // Written by hand: no client announces a longer body than it sends.
        let request = format!(
            "POST {UPLOAD} HTTP/1.1\r\nHost: hub\r\nX-Service-Api-Key: {}\r\nContent-Length: {}\r\n\r\n",
            owner.key.as_ref().unwrap(),
            512 * 1024 * 1024 + 1,
        );
        let answer = raw(&hub, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("body_too_large"), "{answer}");
        assert_eq!(hub.blobs(), Vec::<PathBuf>::new());
    }

    async fn an_upload_that_breaks_off_leaves_nothing(hub: Hub) {
        let owner = hub.network().await;
        let request = format!(
            "POST {UPLOAD} HTTP/1.1\r\nHost: hub\r\nX-Service-Api-Key: {}\r\nContent-Length: 5000000\r\n\r\n{}",
            owner.key.as_ref().unwrap(),
            "half".repeat(500_000),
        );
        let mut stream = tokio::net::TcpStream::connect(hub.address()).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
        Hub::eventually("the upload has begun", async || hub.blobs().len() == 1).await;
        drop(stream);
        Hub::eventually("nothing is left", async || hub.blobs().is_empty()).await;
        assert_eq!(owner.get("/api/manage/artifacts").await.expect(200)["total"], 0);
    }

    async fn half_received_uploads_of_a_killed_hub_are_swept_after_a_day(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, UPLOAD, "kept").await.expect(201);
        let incoming = hub.data().join("blobs/incoming");
        std::fs::create_dir_all(&incoming).unwrap();
        let day = 24 * 60 * 60 * 1000;
        let left = [format!("{NOW}-whole"), format!("{NOW}-half#1"), format!("{}-younger", NOW + day)];
        for name in &left {
            std::fs::write(incoming.join(name), "half").unwrap();
        }
        let hub = hub.abandon(Duration::from_millis(day.unsigned_abs())).await;
        assert_eq!(hub.blobs().len(), 4);
        hub.advance_ms(600_000);
        Hub::eventually("only the younger is left", async || hub.blobs().len() == 2).await;
        assert!(incoming.join(&left[2]).exists());
    }

    async fn a_link_ends_and_cannot_be_forged(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1").await;
        let made = upload(&owner, UPLOAD, "bytes").await;
        let link = install(&owner, made.expect(201), "lobby-1").await;
        let path = path(&hub, link.expect(201));
        let anonymous = hub.anonymous();

        let (claims, signature) = path.rsplit_once('/').unwrap().1.split_once('.').unwrap();
        let mut later = BASE64.decode(claims).unwrap();
        later[16..24].copy_from_slice(&i64::MAX.to_be_bytes());
        let later = BASE64.encode(later);
        let elsewhere = {
            let made = upload(&owner, "/api/manage/artifacts?name=b&version=1", "other").await;
            let link = install(&owner, made.expect(201), "lobby-1").await;
            link.expect(201)["url"].as_str().unwrap().rsplit_once('.').unwrap().1.to_owned()
        };
        for token in [
            "x", ".", "a.b", "%00", "a%2Fb", claims, &format!("{claims}."), &format!(".{signature}"),
            &format!("{later}.{signature}"), &format!("{claims}.{elsewhere}"), &format!("{claims}.{signature}x"),
            &"x".repeat(5000), "%C3%A9.%C3%A9",
        ] {
            let answer = anonymous.get(&format!("/api/artifacts/{token}")).await;
            if token == "%00" {
                answer.expect_error(400, "invalid_request");
            } else {
                answer.expect_error(403, "invalid_link");
            }
        }
        anonymous.get("/api/artifacts").await.expect_error(403, "invalid_link");
        anonymous.get("/api/artifacts/").await.expect_error(403, "invalid_link");

        hub.advance_ms(599_999);
        anonymous.get(&path).await.expect(200);
        hub.advance_ms(1);
        anonymous.get(&path).await.expect_error(410, "link_expired");
    }

    async fn a_link_of_a_suspended_network_stops_working(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1").await;
        let made = upload(&owner, UPLOAD, "bytes").await;
        let link = install(&owner, made.expect(201), "lobby-1").await;
        let path = path(&hub, link.expect(201));
        for (suspended, status) in [(true, 403), (false, 200)] {
            let update = "UPDATE networks SET suspended = $2 WHERE network_id = $1";
            hub.app.db.write(update).bind(owner.network.unwrap()).bind(suspended).execute().await.unwrap();
            let answer = hub.anonymous().get(&path).await;
            if suspended {
                answer.expect_error(status, "network_suspended");
            } else {
                answer.expect(status);
            }
        }
    }

    async fn a_link_outlives_a_restart_and_not_its_artifact(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1").await;
        let made = upload(&owner, UPLOAD, "bytes").await;
        let artifact = made.expect(201);
        let link = install(&owner, artifact, "lobby-1").await;
        let path = path(&hub, link.expect(201));
        let (network, key) = (owner.network.unwrap(), owner.key.clone().unwrap());
        let hub = hub.restart(Duration::from_secs(1)).await;
        let owner = hub.with_key(&key).for_network(network);
        assert_eq!(hub.anonymous().get(&path).await.expect(200), "bytes");
        owner.delete(&format!("/api/manage/artifacts/{}", artifact["artifactId"].as_str().unwrap())).await.expect(204);
        hub.anonymous().get(&path).await.expect_error(404, "unknown_artifact");
    }

    async fn a_large_artifact_streams(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1").await;
        let piece = Bytes::from((0..1024 * 1024).map(|at| (at % 251) as u8).collect::<Vec<u8>>());
        let pieces = futures_util::stream::iter(vec![piece.clone(); PIECES].into_iter().map(Ok::<_, std::io::Error>));
        let made = upload(&owner, UPLOAD, Body::wrap_stream(pieces)).await;
        let artifact = made.expect(201);
        let expected = sha256(&piece.repeat(PIECES));
        assert_eq!(artifact["sha256"], expected);
        let link = install(&owner, artifact, "lobby-1").await;
        let response = hub.anonymous().request(Method::GET, &path(&hub, link.expect(201))).send().await.unwrap();
        let bytes = response.bytes().await.unwrap();
        assert_eq!((bytes.len(), sha256(&bytes)), (PIECES * piece.len(), expected));
    }
}

/// Sends raw bytes; returns the hub's answer up to its close or pause.
async fn raw(hub: &Hub, request: &[u8]) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(hub.address()).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = vec![0; 16 * 1024];
    let mut read = 0;
    // Until the JSON of the error is complete.
    while !answer[..read].ends_with(b"}") {
        let more = tokio::time::timeout(Duration::from_mins(1), stream.read(&mut answer[read..])).await;
        match more.expect("an answer in time").unwrap() {
            0 => break,
            more => read += more,
        }
    }
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

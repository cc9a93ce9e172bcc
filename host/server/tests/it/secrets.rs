//! The hub's own secrets: their key, and their rotation.

use std::os::unix::fs::PermissionsExt as _;

use hub::clock::Clock;
use hub::config::Settings;
use hub::ids::Ids;
use hub::lifecycle;
use reqwest::Method;
use serde_json::json;

use crate::support::{Backend, Client, Hub, fail, on_each, run, succeed};

async fn artifact(owner: &Client) -> String {
    let body = json!({"serverId": "lobby-1", "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
    owner.post("/api/plugin/servers/register", body).await.expect(201);
    let upload = owner.request(Method::POST, "/api/manage/artifacts?name=a&version=1").body("bytes");
    owner.send(upload).await.expect(201)["artifactId"].as_str().unwrap().to_owned()
}

async fn link(owner: &Client, artifact: &str) -> String {
    let path = format!("/api/manage/artifacts/{artifact}/install");
    let installed = owner.post(&path, json!({"serverId": "lobby-1"})).await.expect(201).clone();
    format!("/api/artifacts/{}", installed["url"].as_str().unwrap().rsplit_once('/').unwrap().1)
}

async fn rotated_secrets_verify_once_more(backend: Backend) {
    let hub = Hub::start_with(backend, |settings| settings.artifact_link_ttl = 1 << 40).await;
    let backend = hub.backend().clone();
    let owner = hub.network().await;
    let artifact = artifact(&owner).await;
    let first = link(&owner, &artifact).await;
    let version = async || owner.get("/api/plugin/provisioning/agent-version").await.expect(200).clone();
    let before = version().await;
    assert!(before["previousSignature"].is_null());
    let script = async || owner.get("/api/plugin/provisioning/agent-script").await.expect(200).clone();
    let old_script = script().await;

    // The hub's clock is ahead of the command's, so that the new secret signs at once.
    assert!(succeed(&backend, &["admin", "secrets", "rotate"]).contains("artifact-links"));
    Hub::eventually("the new key of agents", async || version().await["sha256"] != before["sha256"]).await;
    let after = version().await;
    assert!(after["previousSignature"].is_string() && script().await != old_script);
    hub.anonymous().get(&first).await.expect(200);
    succeed(&backend, &["admin", "secrets", "rotate"]);
    Hub::eventually("the end of the first secret", async || hub.anonymous().get(&first).await.status == 403).await;

    let third = link(&owner, &artifact).await;
    hub.anonymous().get(&third).await.expect(200);
    let report: serde_json::Value =
        serde_json::from_str(&succeed(&backend, &["admin", "secrets", "rotate", "--now", "--json"])).unwrap();
    assert!(report["rotated"].as_array().unwrap().contains(&json!("agent")), "{report}");
    Hub::eventually("the end of all secrets", async || hub.anonymous().get(&third).await.status == 403).await;
    assert!(version().await["previousSignature"].is_null());
    hub.anonymous().get(&link(&owner, &artifact).await).await.expect(200);
    let log = hub.operator().await.get("/api/admin/audit?action=secrets.rotated").await.expect(200).clone();
    assert_eq!(log["items"].as_array().unwrap().len(), 3);
}

async fn hubs_start_only_with_their_key(backend: Backend) {
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let path = link(&owner, &artifact(&owner).await).await;
    let backend = hub.stop().await;
    let file = backend.data().join("secrets.key");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let key = std::fs::read(&file).unwrap();
    let refused = async |what: &str| {
        let mut settings = Settings { listen: ([127, 0, 0, 1], 0).into(), ..Settings::default() };
        backend.apply(&mut settings);
        let started = lifecycle::start(settings, Clock::System, Ids::System).await;
        let error = started.err().expect("it starts").to_string();
        assert!(error.contains(what) && error.contains("--secrets-key"), "{error}");
    };
    // Another hub's.
    let other = Hub::start(Backend::sqlite()).await;
    std::fs::copy(other.data().join("secrets.key"), &file).unwrap();
    refused("does not open the secrets").await;
    let doctor = String::from_utf8(run(&backend, &["admin", "doctor"]).stdout).unwrap();
    assert!(doctor.contains("does not open the secrets"), "{doctor}");
    assert!(fail(&backend, &["admin", "secrets", "rotate"]).contains("cannot replace the secrets"));
    std::fs::write(&file, "nonsense").unwrap();
    let mut settings = Settings::default();
    backend.apply(&mut settings);
    assert!(lifecycle::start(settings, Clock::System, Ids::System).await.is_err());
    // None: a hub alone makes its secrets again, and one of several must not.
    std::fs::remove_file(&file).unwrap();
    if backend.is_postgres() {
        refused("is missing").await;
        assert!(!file.exists(), "a second key was made");
        assert!(succeed(&backend, &["admin", "secrets", "renew"]).contains("secrets.key"));
    }
    let hub = Hub::start(backend).await;
    hub.anonymous().get(&path).await.expect_error(403, "invalid_link");
    let backend = hub.stop().await;
    // The old key opens nothing any more.
    std::fs::write(&file, key).unwrap();
    let doctor = String::from_utf8(run(&backend, &["admin", "doctor"]).stdout).unwrap();
    assert!(doctor.contains("does not open the secrets"), "{doctor}");
}

on_each! { rotated_secrets_verify_once_more hubs_start_only_with_their_key }

//! The hub's own secrets: their key, and their rotation.

use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hub::clock::Clock;
use hub::config::Settings;
use hub::ids::Ids;
use hub::lifecycle;
use hub::secrets::{SealingKey, context_of_table};
use reqwest::Method;
use serde_json::json;

use crate::people::{PASSWORD, member, send, sessions::shown, sign_in};
use crate::servers::uuid;
use crate::support::{Backend, Client, Hub, NOW, fail, on_each, run, succeed, text};

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

/// Sealed texts of all networks with their tables, and second factors' secrets with their context.
async fn sealed(hub: &Hub) -> Vec<(String, Vec<u8>)> {
    let mut all = vec![];
    for (table, sql) in [
        ("networks", "SELECT signing_secret FROM networks WHERE signing_secret <> ''"),
        ("networks", "SELECT previous_signing_secret FROM networks WHERE previous_signing_secret IS NOT NULL"),
        ("webhooks", "SELECT secret FROM webhooks"),
        ("webhooks", "SELECT url FROM webhooks"),
        ("punishments", "SELECT appeal_code FROM punishments WHERE appeal_code IS NOT NULL"),
    ] {
        let rows: Vec<(String,)> = hub.app.db.query(sql).all().await.unwrap();
        assert!(!rows.is_empty(), "{sql}");
        let bytes = |(text,): (String,)| URL_SAFE_NO_PAD.decode(text.strip_prefix("sealed:").unwrap()).unwrap();
        all.extend(rows.into_iter().map(|row| (context_of_table(table), bytes(row))));
    }
    let factors = "SELECT person_id, totp_secret FROM persons WHERE totp_secret IS NOT NULL";
    let factors: Vec<(String, Vec<u8>)> = hub.app.db.query(factors).all().await.unwrap();
    assert!(!factors.is_empty());
    all.extend(factors.into_iter().map(|(person, sealed)| (format!("totp {person}"), sealed)));
    all
}

async fn ban(owner: &Client) -> String {
    let body = json!({"playerUuid": uuid(1), "playerName": "Steve", "type": "BAN"}).to_string();
    let request = owner.request(Method::POST, "/api/plugin/punishments/create").header("Idempotency-Key", "ban-1");
    owner.send(request.body(body)).await.expect(200)["appealCode"].as_str().unwrap().to_owned()
}

async fn signing_secret(owner: &Client) -> serde_json::Value {
    let body = json!({"serverId": "lobby-1", "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
    owner.post("/api/plugin/servers/register", body).await.expect(201)["signingSecret"].clone()
}

async fn a_rotation_seals_everything_again(backend: Backend) {
    let folder = tempfile::TempDir::new().unwrap();
    let hub = Hub::start(backend).await;
    let backend = hub.backend().clone();
    let owner = hub.network().await;
    let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
    let post = async |path: &str, body| send(&hub, &alex.token, Method::POST, path, body).await;
    let factor = post("/api/people/second-factor", json!({"password": PASSWORD})).await;
    let totp = factor.expect(201)["secret"].as_str().unwrap().to_owned();
    post("/api/people/second-factor/confirm", json!({"code": shown(&totp, NOW)})).await.expect(200);
    signing_secret(&owner).await;
    owner.post("/api/manage/signing-secret/rotate", json!({"overlapMs": 60_000})).await.expect(201);
    let webhook = json!({"url": "https://hook.invalid/x", "events": ["PUNISHMENT"]});
    owner.post("/api/manage/webhooks", webhook).await.expect(201);
    let (secret, code) = (signing_secret(&owner).await, ban(&owner).await);
    let works = async |hub: &Hub| {
        let owner = hub.with_key(owner.key.as_ref().unwrap());
        assert_eq!(signing_secret(&owner).await, secret);
        // The same answer again.
        assert_eq!(ban(&owner).await, code);
        assert_eq!(owner.get("/api/manage/punishments/1").await.expect(200)["appealCode"], code.as_str());
        hub.anonymous().get(&format!("/api/public/appeals/{code}")).await.expect(200);
        let webhooks = owner.get("/api/manage/webhooks").await.expect(200)["items"].to_string();
        assert!(webhooks.contains("https://hook.invalid/x"), "{webhooks}");
    };
    let signs_in = async || {
        hub.advance_ms(30_000);
        let code = json!({"code": shown(&totp, hub.app.clock.now())});
        sign_in(&hub, "alex@example.org", PASSWORD, code).await.expect(200);
    };
    works(&hub).await;
    signs_in().await;
    let sent = "SELECT COUNT(*) FROM webhook_deliveries WHERE network_id = $1";
    Hub::eventually("the webhook has its delivery", async || {
        hub.app.db.query(sent).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap().0 == 1
    })
    .await;
    let (file, copy) = (backend.data().join("secrets.key"), folder.path().join("first.key"));
    std::fs::copy(&file, &copy).unwrap();
    let first = SealingKey::read(&copy).unwrap().unwrap();
    assert!(sealed(&hub).await.iter().all(|(context, sealed)| first.unseal(context, sealed).is_some()));
    let backup = folder.path().join("backup");
    succeed(&backend, &["admin", "backup", text(&backup)]);

    let said = succeed(&backend, &["admin", "secrets", "rotate"]);
    assert!(said.contains("sealed again, by a new key") && said.contains("secrets.key"), "{said}");
    let second = SealingKey::read(&file).unwrap().unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    for (context, sealed) in sealed(&hub).await {
        assert!(first.unseal(&context, &sealed).is_none(), "{context}: the replaced key opens it");
        assert!(second.unseal(&context, &sealed).is_some(), "{context}: the new key does not open it");
    }
    let (bodies, deliveries) =
        ("SELECT body FROM idempotency_keys", "SELECT CAST(data AS TEXT) FROM webhook_deliveries");
    let bodies: Vec<(Vec<u8>,)> = hub.app.db.query(bodies).all().await.unwrap();
    let deliveries: Vec<(String,)> = hub.app.db.query(deliveries).all().await.unwrap();
    let texts = bodies.iter().map(|(body,)| String::from_utf8_lossy(body).into_owned());
    for text in texts.chain(deliveries.into_iter().map(|(data,)| data)) {
        assert!(
            text.contains("sealed:") && !first.open_fields(owner.network.unwrap(), &text).contains(&code),
            "{text}"
        );
        assert!(second.open_fields(owner.network.unwrap(), &text).contains(&code), "{text}");
    }
    works(&hub).await;
    signs_in().await;
    let backend = hub.stop().await;
    let again = Hub::start(backend).await;
    works(&again).await;
    let backend = again.stop().await;
    // The file opens what it sealed before the rotation, and no longer after the next one.
    let to = Backend::like(&backend).await;
    std::fs::copy(&file, to.data().join("secrets.key")).unwrap();
    let restored = run(&to, &["admin", "restore", text(&backup)]);
    assert!(restored.status.success() && !String::from_utf8_lossy(&restored.stderr).contains("made again"));
    works(&Hub::start(to).await).await;
    succeed(&backend, &["admin", "secrets", "rotate"]);
    let to = Backend::like(&backend).await;
    std::fs::copy(&file, to.data().join("secrets.key")).unwrap();
    let restored = run(&to, &["admin", "restore", text(&backup)]);
    assert!(String::from_utf8_lossy(&restored.stderr).contains("made again"));
    // The key alone stays, if its file is another's to write.
    let before = std::fs::read(&file).unwrap();
    succeed(&backend, &["admin", "secrets", "rotate", "--keep-key"]);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

/// Two rotations at once, each with a file of its own: one is refused and changes nothing.
async fn one_rotation_refuses_another(backend: Backend) {
    let folder = tempfile::TempDir::new().unwrap();
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let (secret, code) = (signing_secret(&owner).await, ban(&owner).await);
    let backend = hub.stop().await;
    let (file, copy) = (backend.data().join("secrets.key"), folder.path().join("copy.key"));
    std::fs::copy(&file, &copy).unwrap();
    let before = std::fs::read(&file).unwrap();
    let rotate = |path| ["admin", "secrets", "rotate", "--secrets-key", path];
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| run(&backend, &rotate(text(&file))));
        let other = run(&backend, &rotate(text(&copy)));
        (one.join().unwrap(), other)
    });
    assert_ne!(one.status.success(), other.status.success(), "{one:?} {other:?}");
    let (refused, kept) = if one.status.success() { (other, &copy) } else { (one, &file) };
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("cannot replace the secrets") || message.contains("another rotation"), "{message}");
    assert_eq!(std::fs::read(kept).unwrap(), before);
    if kept == &file {
        std::fs::copy(&copy, &file).unwrap();
    }
    let hub = Hub::start(backend).await;
    let owner = hub.with_key(owner.key.as_ref().unwrap());
    assert_eq!(signing_secret(&owner).await, secret);
    assert_eq!(ban(&owner).await, code);
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
    let (network, out) = (owner.network.unwrap().to_string(), backend.data().join("export"));
    let export = ["admin", "network", "export", network.as_str(), "--out", text(&out)];
    assert!(fail(&backend, &export).contains("is not the key of this database") && !out.exists());
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

on_each! {
    rotated_secrets_verify_once_more a_rotation_seals_everything_again one_rotation_refuses_another
    hubs_start_only_with_their_key
}

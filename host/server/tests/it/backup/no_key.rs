//! A backup is no key: nothing in it signs in, signs, or is a code.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hub::secrets::{SealingKey, SigningKey};
use reqwest::{Method, RequestBuilder};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

use super::Files;
use crate::people::{PASSWORD, code as mailed, member, provider::Provider, send, sessions::shown, sign_in};
use crate::servers::uuid;
use crate::support::{Backend, Client, Events, Hub, on_each, succeed, text};

/// A webhook to Discord, whose URL is a credential.
const DISCORD: &str = "https://discord.com/api/webhooks/1234567890123/dGhlIHRva2VuIG9mIGEgd2ViaG9vaw";

/// All texts in the backup, as they are and decoded.
fn contents(path: &std::path::Path) -> BTreeSet<Vec<u8>> {
    fn add(value: &Value, into: &mut BTreeSet<Vec<u8>>) {
        match value {
            Value::String(text) => {
                into.insert(text.clone().into_bytes());
                let unmarked = text.strip_prefix("sealed:").or(text.strip_prefix("whsec_")).unwrap_or(text);
                into.extend(BASE64.decode(unmarked.trim_end_matches('=')).ok());
                into.extend(base64::prelude::BASE64_STANDARD.decode(text).ok());
                let digits = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok());
                into.extend(digits.collect::<Option<Vec<_>>>());
                if let Ok(inner) = serde_json::from_str::<Value>(text)
                    && !inner.is_string()
                {
                    add(&inner, into);
                }
            }
            Value::Array(all) => all.iter().for_each(|value| add(value, into)),
            Value::Object(all) => all.values().for_each(|value| add(value, into)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    for entry in tar::Archive::new(File::open(path).unwrap()).entries().unwrap() {
        let mut entry = entry.unwrap();
        if !entry.path().unwrap().starts_with("tables") {
            continue;
        }
        let mut lines = String::new();
        entry.read_to_string(&mut lines).unwrap();
        for line in lines.lines() {
            add(&serde_json::from_str(line).unwrap(), &mut found);
        }
    }
    found
}

/// Purposes of the hub's secrets.
const PURPOSES: &[&str] = &["agent", "artifact-links", "node", "world-links"];

/// The link of an artifact's installation.
async fn link(owner: &Client) -> String {
    let body = json!({"serverId": "lobby-1", "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
    owner.post("/api/plugin/servers/register", body).await.expect(201);
    let upload = owner.request(Method::POST, "/api/manage/artifacts?name=a&version=1").body("bytes");
    let id = owner.send(upload).await.expect(201)["artifactId"].as_str().unwrap().to_owned();
    let installed = owner.post(&format!("/api/manage/artifacts/{id}/install"), json!({"serverId": "lobby-1"})).await;
    installed.expect(201)["url"].as_str().unwrap().rsplit_once('/').unwrap().1.to_owned()
}

/// The secret of a claim to a delivery.
async fn claim(owner: &Client) -> String {
    let player = json!({"serverId": "lobby-1", "playerUuid": uuid(1), "playerName": "Steve"});
    assert!(owner.post("/api/plugin/servers/players", player).await.status.is_success());
    let body = json!({"playerUuid": uuid(1), "kind": "kit"});
    let id = owner.post("/api/plugin/deliveries", body).await.expect(201)["deliveryId"].clone();
    let claimed = owner.post(&format!("/api/plugin/deliveries/{id}/claim"), json!({"serverId": "lobby-1"})).await;
    claimed.expect(200)["claim"].as_str().unwrap().rsplit_once('.').unwrap().1.to_owned()
}

async fn credentials_cannot_be_minted(backend: Backend) {
    let (files, provider) = (Files::new(), Provider::start().await);
    let hub = Hub::start_with(backend, |settings| provider.apply(settings)).await;
    let owner = hub.network().await;
    let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
    let post = async |path: &str, body: Value| send(&hub, &alex.token, Method::POST, path, body).await;
    let factor = post("/api/people/second-factor", json!({"password": PASSWORD})).await;
    let totp = factor.expect(201)["secret"].as_str().unwrap().to_owned();
    let code = json!({"code": shown(&totp, crate::support::NOW)});
    let recovery = post("/api/people/second-factor/confirm", code).await.expect(200)["recoveryCodes"].clone();
    let anonymous = hub.anonymous();
    anonymous.post("/api/people/password/lost", json!({"email": "alex@example.org"})).await.expect(204);
    owner.post("/api/manage/people", json!({"email": "kim@example.org", "role": "ADMIN"})).await.expect(201);
    // All credentials in the form in which their holders have them.
    let mut credentials = vec![
        alex.token.clone(),
        owner.key.clone().unwrap(),
        totp.clone(),
        mailed(&hub, "alex@example.org", 2).await,
        mailed(&hub, "kim@example.org", 1).await,
        link(&owner).await,
    ];
    credentials.push(claim(&owner).await);
    let (webhooks, codes) = secrets_of(&owner).await;
    let first = register(&owner).await;
    credentials.push(first.as_str().unwrap().to_owned());
    let rotated =
        owner.post("/api/manage/signing-secret/rotate", json!({"overlapMs": 60_000})).await.expect(201).clone();
    credentials.push(rotated["signingSecret"].as_str().unwrap().to_owned());
    credentials.extend(webhooks.clone());
    credentials.extend(codes.clone());
    let raw: Vec<_> = webhooks.iter().filter_map(|it| base64::prelude::BASE64_STANDARD.decode(it).ok()).collect();
    assert!(raw.len() >= 2 && codes.len() == 2);
    credentials.extend(recovery.as_array().unwrap().iter().map(|code| code.as_str().unwrap().to_owned()));
    let mut signatures = vec![];
    for purpose in PURPOSES {
        signatures.push(hub::secrets::signing_key(&hub.app, purpose).await.unwrap().sign(b"probe"));
    }
    let made: Vec<(String,)> = hub.app.db.query("SELECT purpose FROM hub_secrets").all().await.unwrap();
    let is_known = |it: &str| it == "key-check" || PURPOSES.contains(&it);
    assert!(made.iter().all(|(purpose,)| is_known(purpose)), "add it to the test: {made:?}");
    let script = owner.get("/api/plugin/provisioning/agent-script").await.expect(200).as_str().unwrap().to_owned();
    let signed_by = script.split_once("SIGNED_BY = \"").unwrap().1.split_once('"').unwrap().0.to_owned();

    let file = files.path("backup");
    let backend = hub.stop().await;
    succeed(&backend, &["admin", "backup", text(&file)]);
    let whole = std::fs::read(&file).unwrap();
    for credential in &credentials {
        let is_there = whole.windows(credential.len()).any(|window| window == credential.as_bytes());
        assert!(!is_there, "{credential} is in the backup's bytes");
    }
    let contents = contents(&file);
    assert!(raw.iter().all(|secret| !contents.contains(secret)), "a webhook's secret is in the backup");
    assert!(contents.contains(&b"alex@example.org"[..]), "the test reads nothing");
    let key = std::fs::read_to_string(backend.data().join("secrets.key")).unwrap();
    assert!(!contents.contains(key.trim().as_bytes()) && !contents.contains(&BASE64.decode(key.trim()).unwrap()));
    let hub = Hub::start_with(backend, |settings| provider.apply(settings)).await;
    for bytes in &contents {
        let candidate = String::from_utf8_lossy(bytes);
        for credential in &credentials {
            assert!(!candidate.contains(credential.as_str()), "{credential} is in the backup: {candidate}");
        }
        // A signing secret.
        for (purpose, signature) in PURPOSES.iter().zip(&signatures) {
            let signed = SigningKey::new(purpose, &candidate).sign(b"probe");
            assert_ne!(signed, *signature, "{candidate} signs {purpose}");
        }
        let agent = SigningKey::new("agent", &candidate).sign(b"seed of Ed25519");
        for seed in [&agent[..], bytes] {
            let public =
                Ed25519KeyPair::from_seed_unchecked(seed).map(|pair| crate::support::hex(pair.public_key().as_ref()));
            assert!(public.is_err() || public.unwrap() != signed_by, "{candidate} signs agents' updates");
        }
        // The secret of a second factor.
        assert_ne!(base32(bytes), totp, "the secret of a second factor is in the backup");
        // A credential in plain text.
        if !candidate.bytes().all(|byte| byte.is_ascii_graphic()) || candidate.len() > 200 {
            continue;
        }
        is_no_credential(&hub, &candidate).await;
    }
    // They are all there, for their holders.
    let owner = hub.with_key(owner.key.as_ref().unwrap());
    assert_eq!(register(&owner).await, rotated["signingSecret"]);
    hub.anonymous().get(&format!("/api/public/appeals/{}", codes[0])).await.expect(200);
    // The password alone is not enough.
    hub.advance_ms(900_000);
    sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect_error(401, "second_factor_needed");
}

/// Tries a text as each credential that is sent as it is.
async fn is_no_credential(hub: &Hub, candidate: &str) {
    let client = hub.anonymous();
    let mut has_waited = false;
    let mut refused = async |what: &str, statuses: &[u16], request: RequestBuilder| {
        let again = request.try_clone().unwrap();
        let mut status = client.send(request).await.status.as_u16();
        // Guesses are limited by the minute.
        if status == 429 && !has_waited {
            has_waited = true;
            hub.advance_ms(60_000);
            status = client.send(again).await.status.as_u16();
        }
        assert!(status == 429 || statuses.contains(&status), "{candidate} is {what}: {status}");
    };
    refused("a key", &[401], client.with_key(candidate).request(Method::GET, "/api/manage/keys")).await;
    let bearer = client.request(Method::GET, "/api/people/me").bearer_auth(candidate);
    refused("a session", &[401], bearer).await;
    let get = |path: String| client.request(Method::GET, &path);
    refused("a code to appeal with", &[400, 404], get(format!("/api/public/appeals/{candidate}"))).await;
    refused("a link", &[400, 403, 404], get(format!("/api/artifacts/{candidate}"))).await;
    for (path, body) in [
        ("/api/people/accept", json!({"token": candidate, "name": "x", "password": PASSWORD})),
        ("/api/people/password/reset", json!({"token": candidate, "password": PASSWORD})),
    ] {
        refused("a code of a mail", &[400], client.request(Method::POST, path).json(&body)).await;
    }
    let cookie = client.request(Method::POST, "/api/people/openid/second-factor");
    let cookie = cookie.header("Cookie", format!("__Host-hub_openid={candidate}")).json(&json!({"code": "1"}));
    refused("a pending sign-in", &[400], cookie).await;
}

/// The network's signing secret, as a server gets it.
async fn register(owner: &Client) -> Value {
    let server = json!({"serverId": "lobby-1", "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
    owner.post("/api/plugin/servers/register", server).await.expect(201)["signingSecret"].clone()
}

/// Makes webhooks and punishments. Returns the secrets and tokens of the ones, and the codes of the others, which an answer
/// under an Idempotency-Key and a delivery to a webhook hold, too.
async fn secrets_of(owner: &Client) -> (Vec<String>, Vec<String>) {
    let mut secrets = vec![];
    for body in [
        json!({"url": "https://hook.invalid/services/b25seSB0aGUgb3duZXIga25vd3MgaXQ", "events": ["PUNISHMENT"]}),
        json!({"url": DISCORD, "kind": "DISCORD", "events": ["PUNISHMENT"]}),
    ] {
        let webhook = owner.post("/api/manage/webhooks", body).await.expect(201).clone();
        let secret = |it: &Value| it["secret"].as_str().map(|it| it.trim_start_matches("whsec_").to_owned());
        secrets.extend(secret(&webhook));
        let path = format!("/api/manage/webhooks/{}/rotate-secret", webhook["webhookId"].as_str().unwrap());
        secrets.extend(secret(owner.post(&path, json!({})).await.expect(201)));
    }
    secrets.push("b25seSB0aGUgb3duZXIga25vd3MgaXQ".to_owned());
    secrets.push(DISCORD.rsplit_once('/').unwrap().1.to_owned());
    let mut codes = vec![];
    for kind in ["BAN", "MUTE"] {
        let body = json!({"playerUuid": uuid(1), "playerName": "Steve", "type": kind}).to_string();
        let request = owner.request(Method::POST, "/api/plugin/punishments/create").header("Idempotency-Key", kind);
        let made = owner.send(request.body(body.clone())).await.expect(200).clone();
        let request = owner.request(Method::POST, "/api/plugin/punishments/create").header("Idempotency-Key", kind);
        assert_eq!(owner.send(request.body(body)).await.expect(200)["appealCode"], made["appealCode"]);
        codes.push(made["appealCode"].as_str().unwrap().to_owned());
    }
    Hub::eventually("a webhook has its deliveries", async || {
        let id = owner.get("/api/manage/webhooks").await.expect(200)["items"][0]["webhookId"].clone();
        let path = format!("/api/manage/webhooks/{}/deliveries", id.as_str().unwrap());
        let listed = owner.get(&path).await.expect(200).clone();
        if listed["total"] != 2 {
            return false;
        }
        let one = format!("{path}/{}", listed["items"][0]["deliveryId"]);
        let shown = owner.get(&one).await.expect(200)["data"]["punishment"]["appealCode"].clone();
        assert!(codes.iter().any(|code| shown == code.as_str()), "{shown}");
        true
    })
    .await;
    (secrets, codes)
}

/// Base 32 as of the secrets that authenticator apps get.
fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).collect();
    let digit = |five: &[u8]| (0..5).fold(0, |value, at| value * 2 + usize::from(*five.get(at).unwrap_or(&0)));
    bits.chunks(5).map(|five| char::from(DIGITS[digit(five)])).collect()
}

/// Restored beside its key a hub has its secrets, and without it new ones.
async fn a_restore_without_the_key_makes_secrets_again(backend: Backend) {
    let files = Files::new();
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
    let post = async |path: &str, body: Value| send(&hub, &alex.token, Method::POST, path, body).await;
    let factor = post("/api/people/second-factor", json!({"password": PASSWORD})).await;
    let totp = factor.expect(201)["secret"].as_str().unwrap().to_owned();
    let code = json!({"code": shown(&totp, crate::support::NOW)});
    let recovery = post("/api/people/second-factor/confirm", code).await.expect(200)["recoveryCodes"].clone();
    let path = format!("/api/artifacts/{}", link(&owner).await);
    let signing_secret = register(&owner).await;
    let (_, codes) = secrets_of(&owner).await;
    let backend = hub.stop().await;
    let file = files.path("backup");
    succeed(&backend, &["admin", "backup", text(&file)]);
    for has_key in [true, false] {
        let to = Backend::like(&backend).await;
        if has_key {
            std::fs::copy(backend.data().join("secrets.key"), to.data().join("secrets.key")).unwrap();
        }
        let restored = crate::support::run(&to, &["admin", "restore", text(&file)]);
        assert!(restored.status.success());
        let message = String::from_utf8(restored.stderr).unwrap();
        assert_eq!(message.contains("secrets were made again"), !has_key, "{message}");
        let hub = Hub::start(to).await;
        let sign_in = async |code: Value| sign_in(&hub, "alex@example.org", PASSWORD, json!({"code": code})).await;
        let owner = hub.with_key(owner.key.as_ref().unwrap());
        let rotations = owner.request(Method::GET, "/api/plugin/events?types=SIGNING_SECRET_ROTATED");
        let mut events = Events::open(rotations).await;
        let restored = register(&owner).await;
        assert_eq!(restored == signing_secret, has_key, "{restored}");
        assert_eq!(register(&owner).await, restored);
        if !has_key {
            let told = events.next_named("SIGNING_SECRET_ROTATED").await.data;
            assert_eq!(told["signingSecret"], restored);
        }
        let webhooks = owner.get("/api/manage/webhooks").await.expect(200)["items"].to_string();
        assert_eq!(webhooks.contains("hook.invalid"), has_key, "{webhooks}");
        let kept = owner.get("/api/manage/punishments/1").await.expect(200)["appealCode"].clone();
        assert_eq!(kept == codes[0].as_str(), has_key, "{kept}");
        let appealed = hub.anonymous().get(&format!("/api/public/appeals/{}", codes[0])).await;
        assert_eq!(appealed.status, if has_key { 200 } else { 404 });
        let body = json!({"playerUuid": uuid(1), "playerName": "Steve", "type": "BAN"}).to_string();
        let again = owner.request(Method::POST, "/api/plugin/punishments/create").header("Idempotency-Key", "BAN");
        let again = owner.send(again.body(body)).await.expect(200)["appealCode"].clone();
        assert_eq!(again == codes[0].as_str(), has_key, "{again}");
        hub.advance_ms(30_000);
        let right = sign_in(json!(shown(&totp, crate::support::NOW + 30_000))).await;
        if has_key {
            hub.anonymous().get(&path).await.expect(200);
            right.expect(200);
        } else {
            hub.anonymous().get(&path).await.expect_error(403, "invalid_link");
            right.expect_error(401, "wrong_credentials");
        }
        sign_in(recovery[0].clone()).await.expect(200);
    }
}

/// The key of a backup's hub does not open another hub's secrets.
#[tokio::test]
async fn the_key_is_no_other_hubs() {
    let folder = tempfile::TempDir::new().unwrap();
    let one = SealingKey::create(&folder.path().join("one")).unwrap();
    let sealed = one.seal("x", b"secret").unwrap();
    assert_eq!(SealingKey::create(&folder.path().join("two")).unwrap().unseal("x", &sealed), None);
}

on_each! { credentials_cannot_be_minted a_restore_without_the_key_makes_secrets_again }

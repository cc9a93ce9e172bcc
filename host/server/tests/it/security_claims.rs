//! Claims of SECURITY.md that no component's own tests show.

mod holders;
mod machine;
mod neighbor;

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::modules::wasm;
use crate::people::{PASSWORD, code, member, send, sessions::shown, sign_in};
use crate::support::{Client, Hub, NOW, on_both};

/// Operations for node agents, beside those of `plugin`.
const OF_AGENTS: &[&str] = &[
    "/api/plugin/provisioning/",
    "/api/plugin/servers/{serverId}/commands",
    "/api/plugin/servers/{serverId}/logs",
    "/api/plugin/worlds/release-all",
    "/api/plugin/worlds/{id}/",
];

/// Operations of the document: method, path as in the document, and its description.
async fn operations(hub: &Hub) -> Vec<(Method, String, Value)> {
    let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
    let mut all = vec![];
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            all.push((method.to_uppercase().parse().unwrap(), path.clone(), operation.clone()));
        }
    }
    all
}

/// Path with a value in place of each parameter.
fn filled(path: &str) -> String {
    let parts =
        path.split('/').map(|part| if part.starts_with('{') { "069a79f4-44e9-4726-a5be-fca90e38aaf5" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

async fn invite(owner: &Client, email: &str) -> Value {
    owner.post("/api/manage/people", json!({"email": email, "role": "VIEWER"})).await.expect(201).clone()
}

on_both! {
    async fn connectors_and_agents_manage_nothing(hub: Hub) {
        let owner = hub.network().await;
        let (connector, agent) = (owner.key_with(&["plugin"]).await, owner.key_with(&["agent"]).await);
        let (mut managed, mut opened) = (0, BTreeSet::new());
        for (method, path, operation) in operations(&hub).await {
            if operation["security"].as_array().is_none_or(|all| all.iter().all(|it| it["apiKey"].is_null())) {
                continue;
            }
            let name = format!("{method} {path}");
            let status = async |key: &Client| {
                key.request(method.clone(), &filled(&path)).send().await.unwrap().status().as_u16()
            };
            if !path.starts_with("/api/plugin/") {
                managed += 1;
                assert_eq!(status(&connector).await, 403, "{name} by a connector");
            }
            if status(&agent).await != 403 {
                let known = OF_AGENTS.iter().find(|known| path.starts_with(**known));
                opened.insert(known.unwrap_or_else(|| panic!("{name} by an agent")));
            }
        }
        assert!(managed > 50, "{managed}");
        assert_eq!(opened.len(), OF_AGENTS.len(), "{opened:?}");
    }

    async fn every_answer_stays_out_of_caches(hub: Hub) {
        let (owner, operator) = (hub.network().await, hub.operator().await);
        let mut seen = 0;
        for (method, path, operation) in operations(&hub).await {
            let client = if path.starts_with("/api/admin/") { &operator } else { &owner };
            let answer = client.request(method.clone(), &filled(&path)).send().await.unwrap();
            let header = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
            assert_eq!(header("x-content-type-options"), "nosniff", "{method} {path}");
            let cache = header("cache-control");
            if operation["security"].is_array() {
                let is_private = cache == "no-store" || cache == "private, no-cache" || cache == "no-cache";
                assert!(is_private, "{method} {path}: {cache}");
                seen += 1;
            }
            assert!(!cache.is_empty(), "{method} {path}");
        }
        assert!(seen > 100, "{seen}");
    }

    async fn keys_are_stored_as_hashes(hub: Hub) {
        let owner = hub.network().await;
        let made = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await.expect(201).clone();
        let [key, id] = ["apiKey", "keyId"].map(|name| made[name].as_str().unwrap().to_owned());
        let query = hub.app.db.query("SELECT sha256 FROM api_keys WHERE network_id = $1 AND key_id = $2");
        let (stored,): (Vec<u8>,) = query.bind(owner.network.unwrap()).bind(id).one().await.unwrap();
        assert_eq!(stored, Sha256::digest(key.as_bytes()).to_vec());
        // Two are never equal in their random part.
        let again = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await.expect(201).clone();
        assert_ne!(again["apiKey"].as_str().unwrap()[17..], key[17..]);
        let shown = owner.get("/api/manage/keys").await.expect(200).to_string() + &owner.get("/api/manage/audit").await.body.to_string();
        assert!(!shown.contains(&key[17..]), "{shown}");
    }

    async fn a_mailbox_is_no_second_factor(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
        let post = async |path: &str, body: Value| send(&hub, &alex.token, Method::POST, path, body).await;
        let secret = post("/api/people/second-factor", json!({"password": PASSWORD})).await.expect(201)["secret"].clone();
        let secret = secret.as_str().unwrap();
        post("/api/people/second-factor/confirm", json!({"code": shown(secret, NOW)})).await.expect(200);
        // Its reader resets the password, and gets an invitation.
        let anonymous = hub.anonymous();
        anonymous.post("/api/people/password/lost", json!({"email": "alex@example.org"})).await.expect(204);
        let reset = json!({"token": code(&hub, "alex@example.org", 2).await, "password": "the reader's own"});
        anonymous.post("/api/people/password/reset", reset).await.expect(204);
        let sign_in = async |more: Value| sign_in(&hub, "alex@example.org", "the reader's own", more).await;
        sign_in(json!({})).await.expect_error(401, "second_factor_needed");
        invite(&hub.network().await, "alex@example.org").await;
        let accept = json!({"token": code(&hub, "alex@example.org", 3).await, "name": "x", "password": "the reader's own"});
        anonymous.post("/api/people/accept", accept).await.expect_error(400, "person_exists");
        sign_in(json!({"code": "000000"})).await.expect_error(401, "wrong_credentials");
        hub.advance_ms(30_000);
        sign_in(json!({"code": shown(secret, NOW + 30_000)})).await.expect(200);
    }

    async fn an_invitation_does_not_tell_who_has_an_account(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        member(&hub, &other, "alex@example.org", "OWNER").await;
        let alex = member(&hub, &owner, "boss@example.org", "ADMIN").await;
        let seen = async |email: &str| {
            let body = json!({"email": email, "role": "VIEWER"});
            let mut made = send(&hub, &alex.token, Method::POST, "/api/manage/people", body).await.expect(201).clone();
            let mut listed = owner.get("/api/manage/people/invitations").await.expect(200)["items"][0].clone();
            assert_eq!(made["invitationId"], listed["invitationId"]);
            let path = format!("/api/manage/people/invitations/{}", made["invitationId"].as_str().unwrap());
            owner.delete(&path).await.expect(204);
            for answer in [&mut made, &mut listed] {
                assert_eq!(answer["email"], email);
                answer["email"] = Value::Null;
                answer["invitationId"] = Value::Null;
            }
            (made, listed)
        };
        assert_eq!(seen("alex@example.org").await, seen("nobody@example.org").await);
        let lost = async |email: &str| hub.anonymous().post("/api/people/password/lost", json!({"email": email})).await;
        assert_eq!(lost("alex@example.org").await.expect(204), lost("nobody@example.org").await.expect(204));
    }

    async fn modules_outlive_their_author(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        let upload = hub.anonymous().request(Method::POST, "/api/manage/modules?name=moody").bearer_auth(&alex.token);
        owner.send(upload.header("Content-Type", "application/wasm").body(wasm::moody(1))).await.expect(201);
        owner.delete(&format!("/api/manage/people/{}", alex.id)).await;
        owner.get("/api/manage/modules/moody/1").await.expect(200);
    }
}

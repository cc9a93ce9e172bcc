//! Rights and their holders: who made what, and what the operator's commands leave.

use reqwest::Method;
use serde_json::{Value, json};

use crate::imports::{files::balances, import};
use crate::modules::wasm;
use crate::people::{member, send};
use crate::support::{Backend, Hub, on_both, on_each, run, succeed, text};

on_both! {
    async fn what_was_made_names_its_maker(hub: Hub) {
        let owner = hub.network().await;
        let maker = owner.key.as_ref().unwrap()[4..16].to_owned();
        let key = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await.expect(201).clone();
        let webhook = json!({"url": "https://hook.invalid/x", "events": ["CHAT"]});
        let webhook = owner.post("/api/manage/webhooks", webhook).await.expect(201).clone();
        let invitation = json!({"email": "kim@example.org", "role": "ADMIN"});
        owner.post("/api/manage/people", invitation).await.expect(201);
        member(&hub, &owner, "alex@example.org", "ADMIN").await;
        import(&owner, "kind=balances&currency=coins", balances(1)).await;
        let upload = owner.request(Method::POST, "/api/manage/modules?name=moody").body(wasm::moody(1));
        owner.send(upload).await.expect(201);
        let of = |list: Value, id: &str, value: &Value| {
            let all = list["items"].as_array().unwrap().clone();
            all.into_iter().find(|it| value.is_null() || it[id] == *value).unwrap()["createdBy"].clone()
        };
        for (path, id, value) in [
            ("/api/manage/keys?limit=200", "keyId", &key["keyId"]),
            ("/api/manage/webhooks", "webhookId", &webhook["webhookId"]),
            ("/api/manage/people/invitations", "invitationId", &Value::Null),
            ("/api/manage/people", "personId", &Value::Null),
            ("/api/manage/imports", "importId", &Value::Null),
        ] {
            assert_eq!(of(owner.get(path).await.expect(200).clone(), id, value), maker, "{path}");
        }
        assert_eq!(owner.get("/api/manage/modules/moody/1").await.expect(200)["createdBy"], maker);
    }

    /// Two names never look the same because of characters that nobody sees.
    async fn names_hide_nothing(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
        for hidden in ['\u{ad}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0061}', '\u{7f}', '\u{1b}'] {
            let name = format!("lobby{hidden}");
            let server = json!({"serverId": name, "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
            owner.post("/api/plugin/servers/register", server).await.expect_error(400, "invalid_request");
            let key = json!({"name": name, "scopes": ["plugin"]});
            owner.post("/api/manage/keys", key).await.expect_error(400, "invalid_request");
            let person = json!({"email": format!("kim{hidden}@example.org"), "role": "VIEWER"});
            owner.post("/api/manage/people", person).await.expect_error(400, "invalid_request");
        }
        // The first letter is Cyrillic.
        for email in ["\u{430}lex@example.org", "alex@ex\u{430}mple.org"] {
            let body = json!({"email": email, "role": "VIEWER"});
            let invited = send(&hub, &alex.token, Method::POST, "/api/manage/people", body).await;
            invited.expect_error(400, "invalid_request");
        }
    }
}

/// The default of the command, other than of the route.
async fn the_command_ends_what_a_revoked_key_made(backend: Backend) {
    let hub = Hub::start(backend.clone()).await;
    let owner = hub.network().await;
    let network = owner.network.unwrap().to_string();
    for keeps in [false, true] {
        let body = json!({"name": "made", "scopes": ["network:manage"]});
        let first = owner.post("/api/manage/keys", body.clone()).await.expect(201).clone();
        let first_client = owner.with_key(first["apiKey"].as_str().unwrap());
        let second = first_client.post("/api/manage/keys", body).await.expect(201).clone();
        let second_client = owner.with_key(second["apiKey"].as_str().unwrap());
        second_client.get("/api/manage/keys").await.expect(200);
        let mut command =
            vec!["admin", "key", "revoke", first["keyId"].as_str().unwrap(), "--network", &network, "--json"];
        command.extend(keeps.then_some("--keep"));
        let left: Value = serde_json::from_str(&succeed(&backend, &command)).unwrap();
        assert_eq!((&left["left"][0]["id"], &left["left"][0]["ended"]), (&second["keyId"], &json!(!keeps)), "{left}");
        let status = if keeps { 200 } else { 401 };
        Hub::eventually("the hub notices", async || {
            hub.advance_ms(1_000);
            let first = first_client.get("/api/manage/keys").await.status;
            first == 401 && second_client.get("/api/manage/keys").await.status == status
        })
        .await;
    }
}

/// A plan is given by the operator of the hub, and no file says which.
async fn an_imported_network_is_on_the_default_plan(backend: Backend) {
    let hub = Hub::start(backend.clone()).await;
    let owner = hub.network().await;
    let network = owner.network.unwrap().to_string();
    succeed(&backend, &["admin", "plan", "create", "gold", "--limit", "servers=100000"]);
    succeed(&backend, &["admin", "network", "set", &network, "--plan", "gold"]);
    hub.stop().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("network");
    succeed(&backend, &["admin", "network", "export", &network, "--out", text(&file)]);
    for plan in [None, Some("gold")] {
        let to = Backend::like(&backend).await;
        let hub = Hub::start(to.clone()).await;
        let mut command = vec!["admin", "network", "import", text(&file)];
        if let Some(plan) = plan {
            let refused = run(&to, &["admin", "network", "import", text(&file), "--plan", plan]);
            assert!(!refused.status.success(), "there is no such plan");
            succeed(&to, &["admin", "plan", "create", plan, "--limit", "servers=3"]);
            command.extend(["--plan", plan]);
        }
        succeed(&to, &command);
        let listed = hub.operator().await.get(&format!("/api/admin/networks/{network}")).await.expect(200).clone();
        assert_eq!(listed["plan"], plan.unwrap_or("default"), "{listed}");
        hub.stop().await;
    }
}

on_each! { the_command_ends_what_a_revoked_key_made an_imported_network_is_on_the_default_plan }

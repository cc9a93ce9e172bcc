//! API keys: created, listed, rolled, revoked.

use serde_json::{Value, json};

use hub::config::Settings;
use hub::networks::service::create_network;

use crate::support::{Backend, Hub, NOW, on_both};

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

on_both! {
    async fn a_key_is_created_listed_and_revoked(hub: Hub) {
        let owner = hub.network().await;
        let created = owner.post("/api/manage/keys", json!({"name": "lobby", "scopes": ["plugin", "agent"]})).await;
        let created = created.expect(201).clone();
        assert!(text(&created["apiKey"]).starts_with(&format!("hub_{}_", text(&created["keyId"]))));
        assert_eq!(created["scopes"], json!(["plugin", "agent"]));
        assert_eq!(created["expiresAt"], Value::Null);

        let list = owner.get("/api/manage/keys").await.expect(200).clone();
        assert_eq!((&list["total"], &list["page"], &list["limit"]), (&json!(2), &json!(0), &json!(50)));
        let listed = list["items"].as_array().unwrap().iter().find(|key| key["keyId"] == created["keyId"]).unwrap();
        assert_eq!(listed["name"], "lobby");
        assert_eq!(listed["createdAt"], NOW);
        assert!(listed.get("apiKey").is_none());

        let lobby = hub.with_key(text(&created["apiKey"]));
        lobby.get("/api/manage/keys").await.expect_error(403, "forbidden_scope");
        let path = format!("/api/manage/keys/{}", text(&created["keyId"]));
        owner.delete(&path).await.expect(204);
        lobby.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        owner.delete(&path).await.expect_error(404, "unknown_key");
        assert_eq!(owner.get("/api/manage/keys").await.expect(200)["total"], 1);
    }

    async fn a_rolled_key_is_valid_for_its_overlap(hub: Hub) {
        let owner = hub.network().await;
        let created = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["network:manage"]})).await;
        let created = created.expect(201).clone();
        let old = hub.with_key(text(&created["apiKey"]));
        let path = format!("/api/manage/keys/{}/roll", text(&created["keyId"]));
        let rolled = owner.post(&path, json!({"overlapMs": 60_000})).await.expect(201).clone();
        assert_eq!(rolled["keyId"], created["keyId"]);
        let new = hub.with_key(text(&rolled["apiKey"]));
        old.get("/api/manage/keys").await.expect(200);
        new.get("/api/manage/keys").await.expect(200);
        hub.advance_ms(60_000);
        old.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        new.get("/api/manage/keys").await.expect(200);

        let at_once = owner.post(&path, json!({})).await.expect(201).clone();
        new.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        hub.with_key(text(&at_once["apiKey"])).get("/api/manage/keys").await.expect(200);
        owner.post(&path, json!({"overlapMs": -1})).await.expect_error(400, "invalid_request");
        owner.post("/api/manage/keys/nobody/roll", json!({})).await.expect_error(404, "unknown_key");
    }

    async fn a_key_expires(hub: Hub) {
        let owner = hub.network().await;
        let body = json!({"name": "k", "scopes": ["network:manage"], "expiresAt": NOW + 1000});
        let created = owner.post("/api/manage/keys", body).await;
        let short = hub.with_key(text(&created.expect(201)["apiKey"]));
        short.get("/api/manage/keys").await.expect(200);
        hub.advance_ms(1000);
        short.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        let past = json!({"name": "k", "scopes": ["plugin"], "expiresAt": NOW});
        owner.post("/api/manage/keys", past).await.expect_error(400, "invalid_request");
    }

    async fn a_key_grants_no_more_scopes_than_its_creator_has(hub: Hub) {
        let owner = hub.network().await;
        let manager = owner.key_with(&["network:manage"]).await;
        let more = json!({"name": "k", "scopes": ["plugin"]});
        manager.post("/api/manage/keys", more).await.expect_error(403, "forbidden_scope");
        let operator = json!({"name": "k", "scopes": ["operator"]});
        owner.post("/api/manage/keys", operator).await.expect_error(403, "forbidden_scope");
        // Rolling a key reveals its secret.
        let strong = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await;
        let path = format!("/api/manage/keys/{}/roll", text(&strong.expect(201)["keyId"]));
        manager.post(&path, json!({})).await.expect_error(403, "forbidden_scope");
        owner.post("/api/manage/keys", json!({"name": "k", "scopes": []})).await.expect_error(400, "invalid_request");
    }

    async fn a_key_manages_only_keys_within_its_scopes(hub: Hub) {
        let owner = hub.network().await;
        let made = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await.expect(201).clone();
        let strong = format!("/api/manage/keys/{}", text(&made["keyId"]));
        let economist = owner.key_with(&["network:manage", "economy:write"]).await;
        economist.delete(&strong).await.expect_error(403, "forbidden_scope");
        economist.post(&format!("{strong}/roll"), json!({})).await.expect_error(403, "forbidden_scope");
        hub.with_key(text(&made["apiKey"])).get("/api/plugin/servers").await.expect(200);
        let more = json!({"name": "k", "scopes": ["economy:write", "players:write"]});
        economist.post("/api/manage/keys", more).await.expect_error(403, "forbidden_scope");
        // A larger scope includes its areas, and never the other way round.
        let fine = json!({"name": "k", "scopes": ["economy:write"]});
        let fine = economist.post("/api/manage/keys", fine).await.expect(201).clone();
        assert_eq!(fine["scopes"], json!(["economy:write"]));
        let connector = owner.key_with(&["network:manage", "plugin"]).await;
        let areas = json!({"name": "k", "scopes": ["economy:write", "events:read", "matchmaking"]});
        connector.post("/api/manage/keys", areas).await.expect(201);
        connector.delete(&format!("/api/manage/keys/{}", text(&fine["keyId"]))).await.expect(204);
        connector.delete(&strong).await.expect(204);
        hub.with_key(text(&made["apiKey"])).get("/api/plugin/servers").await.expect_error(401, "unauthenticated");
    }

    async fn a_key_manages_none_that_outlives_it(hub: Hub) {
        let owner = hub.network().await;
        let new_key = |expires: Value| json!({"name": "k", "scopes": ["network:manage"], "expiresAt": expires});
        let forever = owner.post("/api/manage/keys", new_key(Value::Null)).await.expect(201).clone();
        let brief = owner.post("/api/manage/keys", new_key(json!(NOW + 60_000))).await.expect(201).clone();
        let guest = hub.with_key(text(&brief["apiKey"]));
        for outlives in [Value::Null, json!(NOW + 60_001)] {
            guest.post("/api/manage/keys", new_key(outlives)).await.expect_error(403, "forbidden_scope");
        }
        let path = |key: &Value| format!("/api/manage/keys/{}", text(&key["keyId"]));
        guest.post(&format!("{}/roll", path(&forever)), json!({})).await.expect_error(403, "forbidden_scope");
        guest.delete(&path(&forever)).await.expect_error(403, "forbidden_scope");
        hub.with_key(text(&forever["apiKey"])).get("/api/manage/keys").await.expect(200);
        let made = guest.post("/api/manage/keys", new_key(json!(NOW + 60_000))).await.expect(201).clone();
        guest.post(&format!("{}/roll", path(&made)), json!({})).await.expect(201);
        guest.delete(&path(&made)).await.expect(204);
        // Itself.
        guest.delete(&path(&brief)).await.expect(204);
        guest.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
    }

    async fn keys_of_another_network_are_unknown(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        let created = theirs.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await;
        let id = text(&created.expect(201)["keyId"]).to_owned();
        ours.delete(&format!("/api/manage/keys/{id}")).await.expect_error(404, "unknown_key");
        ours.post(&format!("/api/manage/keys/{id}/roll"), json!({})).await.expect_error(404, "unknown_key");
        assert_eq!(ours.get("/api/manage/keys").await.expect(200)["total"], 1);
    }

    async fn an_invalid_key_is_401(hub: Hub) {
        let owner = hub.network().await;
        let key = owner.key.clone().unwrap();
        let mut other_secret = key.clone().into_bytes();
        other_secret[20] = if other_secret[20] == b'a' { b'b' } else { b'a' };
        for bad in ["", "hub_", "secret", &key[..key.len() - 1], std::str::from_utf8(&other_secret).unwrap()] {
            hub.with_key(bad).get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        }
        hub.anonymous().get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        owner.get("/api/manage/keys").await.expect(200);
    }

    async fn the_last_use_is_stored(hub: Hub) {
        let owner = hub.network().await;
        hub.advance_ms(5_000);
        owner.get("/api/manage/keys").await.expect(200);
        let hub = hub.restart(std::time::Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_deref().unwrap());
        assert_eq!(owner.get("/api/manage/keys").await.expect(200)["items"][0]["lastUsedAt"], NOW + 5_000);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn debug_output_shows_no_secret() {
    let hub = Hub::start(Backend::sqlite()).await;
    let (_, key) = create_network(&hub.app.db, &hub.app.clock, &hub.app.ids, "n").await.unwrap();
    let shown = format!("{key:?}");
    assert!(shown.contains(&key.id.0) && !shown.contains(key.text.expose()), "{shown}");
    let settings = Settings {
        database: Some("postgres://hub:hunter2@db/hub".to_owned()),
        blobs: Some("s3://KEY:hunter2@host/bucket".to_owned()),
        smtp: Some("smtps://hub:hunter2@mail".to_owned()),
        bus: Some("nats://hub:hunter2@bus".to_owned()),
        ..Settings::default()
    };
    assert!(!format!("{settings:?}").contains("hunter2"));
}

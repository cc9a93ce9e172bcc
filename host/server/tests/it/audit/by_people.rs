//! Changes by people through the routes of connectors are in the log, like changes by others.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::{AUDIT, entries};
use crate::people::{Person, member};
use crate::servers::{register, uuid};
use crate::support::{Answer, Client, Hub, on_both};

const CREATE: &str = "/api/plugin/punishments/create";

async fn send(hub: &Hub, person: &Person, method: Method, path: &str, body: Value) -> Answer {
    send_with(hub, person, method, path, |request| request.json(&body)).await
}

async fn send_with(
    hub: &Hub,
    person: &Person,
    method: Method,
    path: &str,
    prepare: impl FnOnce(RequestBuilder) -> RequestBuilder,
) -> Answer {
    let client = hub.anonymous();
    client.send(prepare(client.request(method, path).bearer_auth(&person.token))).await
}

/// Actions of people by routes of connectors, newest first.
async fn calls(owner: &Client) -> Vec<Value> {
    let page = owner.get(&format!("{AUDIT}?action=plugin.called")).await.expect(200).clone();
    page["items"].as_array().unwrap().clone()
}

on_both! {
    async fn a_punishment_by_a_person_is_logged_with_its_actor(hub: Hub) {
        let owner = hub.network().await;
        let moderator = member(&hub, &owner, "mod@example.org", "MODERATOR").await;
        let ban = json!({"playerUuid": uuid(1), "playerName": "p1", "type": "BAN", "reason": "griefing"});
        send(&hub, &moderator, Method::POST, CREATE, ban.clone()).await.expect(200);
        let entry = calls(&owner).await.remove(0);
        assert_eq!(entry["actor"], json!({"type": "PERSON", "id": moderator.id, "name": "mod@example.org"}));
        assert_eq!((&entry["target"], &entry["after"]), (&json!(format!("POST {CREATE}")), &ban));
        assert!(entry["requestId"].is_string() && entry["address"] == "127.0.0.1", "{entry}");
        // No refused requests, and no reads.
        send(&hub, &moderator, Method::POST, CREATE, json!({"type": "BAN"})).await.expect(400);
        let group = json!({"displayName": "VIP"});
        let path = "/api/plugin/permissions/groups/vip";
        send(&hub, &moderator, Method::PUT, path, group).await.expect_error(403, "forbidden_scope");
        send(&hub, &moderator, Method::GET, "/api/plugin/players", Value::Null).await.expect(200);
        let large = json!({"playerUuid": uuid(1), "type": "BAN", "reason": "x".repeat(2 << 20)});
        send(&hub, &moderator, Method::POST, CREATE, large).await.expect_error(413, "body_too_large");
        // Changes by keys are logged elsewhere, or would fill the log.
        owner.post(CREATE, ban.clone()).await.expect(200);
        assert_eq!(calls(&owner).await.len(), 1);
        // A repeat is no other change.
        for _ in 0..2 {
            let keyed = |request: RequestBuilder| request.header("Idempotency-Key", "k-1").json(&ban);
            send_with(&hub, &moderator, Method::POST, CREATE, keyed).await.expect(200);
        }
        assert_eq!(calls(&owner).await.len(), 2);
        let history = owner.get(&format!("/api/plugin/punishments/player/{}/history", uuid(1))).await.expect(200).clone();
        assert_eq!(history.as_array().unwrap().len(), 3);
    }

    async fn every_kind_of_change_by_a_person_is_logged(hub: Hub) {
        let owner = hub.network().await;
        let boss = member(&hub, &owner, "boss@example.org", "OWNER").await;
        register(&owner, "lobby-1", json!({})).await;
        let data = format!("/api/plugin/players/{}/data/global/home", uuid(1));
        let auth = json!({"serverId": "vm-1", "verifyUrl": "https://example.org/", "userCode": "SESAME"});
        let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": "hi", "serverId": "lobby-1"});
        for (method, path, body, status) in [
            (Method::PUT, "/api/plugin/permissions/groups/vip", json!({"displayName": "VIP"}), 204),
            (Method::DELETE, "/api/plugin/permissions/groups/vip", Value::Null, 204),
            (Method::PUT, &*data, json!({"data": "{}"}), 200),
            (Method::DELETE, &*data, Value::Null, 204),
            (Method::PUT, "/api/plugin/localization/players/00000000-0000-0000-0000-000000000001/locale",
                json!({"locale": "de", "source": "PLAYER"}), 200),
            (Method::POST, "/api/plugin/economy/player/00000000-0000-0000-0000-000000000001/currencies/modify",
                json!({"currency": "coins", "amount": 1}), 200),
            (Method::POST, "/api/plugin/config/publish", json!({"group": "g", "namespace": "n", "doc": {"a": 1}}), 200),
            // Changes outside the database, or not there alone.
            (Method::POST, "/api/plugin/chat", line, 204),
            (Method::POST, "/api/plugin/provisioning/auth-code", auth, 201),
        ] {
            let before = calls(&owner).await.len();
            send(&hub, &boss, method.clone(), path, body).await.expect(status);
            let calls = calls(&owner).await;
            assert_eq!((calls.len(), &calls[0]["target"]), (before + 1, &json!(format!("{method} {path}"))));
            assert_eq!(calls[0]["actor"]["id"], boss.id);
        }
        // The code signs a server in.
        assert!(!json!(entries(&owner).await).to_string().contains("SESAME"));
    }

    async fn no_change_is_made_without_its_entry(hub: Hub) {
        let owner = hub.network().await;
        let boss = member(&hub, &owner, "boss@example.org", "OWNER").await;
        let db = &hub.app.db;
        db.write("ALTER TABLE audit_log RENAME TO audit_log_away").execute().await.unwrap();
        let group = json!({"displayName": "VIP"});
        let path = "/api/plugin/permissions/groups/vip";
        assert!(send(&hub, &boss, Method::PUT, path, group.clone()).await.status.is_server_error());
        let keyed = |request: RequestBuilder| request.header("Idempotency-Key", "k-1").json(&json!({
            "playerUuid": uuid(1), "type": "BAN",
        }));
        assert!(send_with(&hub, &boss, Method::POST, CREATE, keyed).await.status.is_server_error());
        db.write("ALTER TABLE audit_log_away RENAME TO audit_log").execute().await.unwrap();
        owner.get(path).await.expect_error(404, "unknown_group");
        let history = format!("/api/plugin/punishments/player/{}/history", uuid(1));
        assert_eq!(owner.get(&history).await.expect(200), &json!([]));
        send(&hub, &boss, Method::PUT, path, group).await.expect(204);
        assert_eq!(calls(&owner).await.len(), 1);
    }

    async fn a_forgotten_player_is_removed_from_these_entries(hub: Hub) {
        let owner = hub.network().await;
        let boss = member(&hub, &owner, "boss@example.org", "OWNER").await;
        for player in [1, 2] {
            let path = format!("/api/plugin/players/{}/data/global/diary", uuid(player));
            let data = json!({"data": json!({"secret": format!("of {player}")}).to_string()});
            send(&hub, &boss, Method::PUT, &path, data).await.expect(200);
        }
        owner.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
        let calls = calls(&owner).await;
        let text = json!(calls).to_string();
        assert!(!text.contains("of 1") && !text.contains(&uuid(1)) && text.contains("of 2"), "{text}");
        assert_eq!((calls.len(), &calls[1]["after"]), (2, &Value::Null));
    }
}

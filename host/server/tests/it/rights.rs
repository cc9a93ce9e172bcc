//! Rights end where they should: streams, installations, names, idempotency keys, bound keys.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::people::{member, send};
use crate::servers::{register, uuid};
use crate::support::{Client, Hub, on_both};

/// A key bound to a server.
async fn bound(owner: &Client, scopes: &[&str], server: &str) -> Client {
    let body = json!({"name": "bound", "scopes": scopes, "servers": [server]});
    owner.with_key(owner.post("/api/manage/keys", body).await.expect(201)["apiKey"].as_str().unwrap())
}

on_both! {
    async fn a_stream_of_a_server_needs_its_key(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        let reader = owner.key_with(&["events:read"]).await;
        reader.expect_no_stream("serverId=lobby-1", 403, "forbidden_scope").await;
        let mut all = reader.events(None, None).await;
        let mut own = bound(&owner, &["events:read"], "lobby-1").await.events(Some("lobby-1"), None).await;
        for role in ["MODERATOR", "ADMIN"] {
            let email = format!("{}@example.org", role.to_lowercase());
            let person = member(&hub, &owner, &email, role).await;
            let path = "/api/plugin/events?serverId=lobby-1";
            send(&hub, &person.token, Method::GET, path, Value::Null).await.expect_error(403, "forbidden_scope");
        }
        // An owner may, until they are none.
        let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
        let open = hub.anonymous().request(Method::GET, "/api/plugin/events?serverId=lobby-1").bearer_auth(&alex.token);
        let mut of_person = crate::support::Events::open(open).await;
        own.until_end().await;
        let change = json!({"role": "MODERATOR"});
        owner.patch(&format!("/api/manage/people/{}", alex.id), change).await.expect(200);
        tokio::time::timeout(Duration::from_secs(5), of_person.until_end()).await.unwrap();
        owner.post("/api/plugin/servers/unregister", json!({"serverId": "lobby-1"})).await.expect(204);
        all.next_named("SERVER_STATUS").await;
    }

    async fn installing_code_needs_control_of_servers(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        let settings = owner.key_with(&["network:manage"]).await;
        let upload = settings.request(Method::POST, "/api/manage/artifacts?name=a&version=1").body("bytes");
        let id = settings.send(upload).await.expect(201)["artifactId"].as_str().unwrap().to_owned();
        let path = format!("/api/manage/artifacts/{id}/install");
        let install = async |key: &Client| key.post(&path, json!({"serverId": "lobby-1"})).await;
        install(&settings).await.expect_error(403, "forbidden_scope");
        let bundle = async |key: &Client| {
            key.send(key.request(Method::PUT, "/api/manage/provisioning/bundles/lobby").body("bytes")).await
        };
        bundle(&settings).await.expect_error(403, "forbidden_scope");
        let both = owner.key_with(&["network:manage", "servers:control"]).await;
        install(&both).await.expect(201);
        bundle(&both).await.expect(200);
    }

    async fn names_for_punishments_need_the_right_to_punish(hub: Hub) {
        let owner = hub.network().await;
        let players = owner.key_with(&["players:write"]).await;
        let ban = json!({"playerName": "Cheater", "type": "BAN", "reason": "x"});
        owner.post("/api/plugin/punishments/create-by-name", ban).await.expect(200);
        let banned = async |player: u64| {
            let path = format!("/api/plugin/punishments/player/{}", uuid(player));
            !owner.get(&path).await.expect(200).as_array().unwrap().is_empty()
        };
        players.post(&format!("/api/plugin/players/{}/load?username=Cheater", uuid(1)), json!({})).await.expect(200);
        let ip = json!({"playerUuid": uuid(2), "playerName": "Cheater", "ipAddress": "198.51.100.7"});
        players.post("/api/plugin/punishments/ip", ip.clone()).await.expect(204);
        let path = format!("/api/plugin/localization/players/{}/locale?username=Cheater", uuid(3));
        players.put(&path, json!({"locale": "de"})).await.expect(200);
        for player in 1..=3 {
            assert!(!banned(player).await, "{player}");
        }
        // A connector's report counts.
        owner.post(&format!("/api/plugin/players/{}/load?username=Cheater", uuid(1)), json!({})).await.expect(200);
        owner.key_with(&["punishments:write"]).await.post("/api/plugin/punishments/ip", ip).await.expect(204);
        assert!(banned(1).await && banned(2).await && !banned(3).await);
    }

    async fn idempotency_keys_of_other_rights_do_not_meet(hub: Hub) {
        let owner = hub.network().await;
        let narrow = owner.key_with(&["players:write"]).await;
        let with = async |client: &Client, path: &str, body: Value| {
            client.send(client.request(Method::POST, path).header("Idempotency-Key", "order-1001").json(&body)).await
        };
        with(&narrow, &format!("/api/plugin/players/{}/load", uuid(1)), json!({})).await.expect(200);
        let pay = async |client: &Client| {
            let path = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
            with(client, &path, json!({"currency": "coins", "amount": 5})).await
        };
        pay(&owner.key_with(&["economy:write"]).await).await.expect(200);
        // A key that replaces another has the same rights, so that a retry with it is no second payment.
        pay(&owner.key_with(&["economy:write"]).await).await.expect(200);
        let balance = owner.get(&format!("/api/plugin/economy/player/{}/currencies", uuid(1))).await;
        assert!(balance.expect(200).to_string().contains('5'), "{balance:?}");
        assert!(!balance.body.to_string().contains("10"), "{balance:?}");
        pay(&bound(&owner, &["economy:write"], "mini-1").await).await.expect(200);
        let balance = owner.get(&format!("/api/plugin/economy/player/{}/currencies", uuid(1))).await;
        assert!(balance.body.to_string().contains("10"), "{balance:?}");
    }

    async fn bound_keys_act_on_their_own_where_no_server_is_named(hub: Hub) {
        let owner = hub.network().await;
        for server in ["mini-1", "lobby", "isl"] {
            register(&owner, server, json!({"serverType": server})).await;
        }
        let mini = bound(&owner, &["plugin"], "mini-1").await;
        let joined = json!({"serverId": "lobby", "playerUuid": uuid(1), "playerName": "p"});
        owner.post("/api/plugin/servers/players", joined).await.expect(204);
        let leave = format!("/api/plugin/servers/players/{}", uuid(1));
        mini.delete(&leave).await.expect(204);
        let online = async || owner.get("/api/plugin/servers/players").await.expect(200).as_array().unwrap().len();
        assert_eq!(online().await, 1);
        let joined = json!({"serverId": "mini-1", "playerUuid": uuid(1), "playerName": "p"});
        mini.post("/api/plugin/servers/players", joined).await.expect(204);
        mini.delete(&leave).await.expect(204);
        assert_eq!(online().await, 0);

        let mut isl = owner.events(Some("isl"), None).await;
        let open = json!({"ownerScope": "player", "ownerId": uuid(1), "gameId": "isl", "worldKey": "main"});
        let opened = owner.post("/api/plugin/worlds/open", open).await.expect(200).clone();
        let id = opened["worldInstanceId"].as_i64().unwrap();
        isl.next_named("WORLD_OPEN").await;
        for action in ["release", "snapshot"] {
            let path = format!("/api/plugin/worlds/{id}/{action}");
            mini.post(&path, json!({})).await.expect_error(403, "forbidden_origin");
        }
        bound(&owner, &["plugin"], "isl").await.post(&format!("/api/plugin/worlds/{id}/release"), json!({})).await.expect(200);
    }

    async fn replaced_secrets_end(hub: Hub) {
        let owner = hub.network().await;
        let webhook = json!({"url": "https://hook.invalid/x", "events": ["CHAT"]});
        let id = owner.post("/api/manage/webhooks", webhook).await.expect(201)["webhookId"].as_str().unwrap().to_owned();
        let key = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await.expect(201).clone();
        let key = key["keyId"].as_str().unwrap();
        for path in [
            "/api/manage/signing-secret/rotate".to_owned(),
            format!("/api/manage/webhooks/{id}/rotate-secret"),
            format!("/api/manage/keys/{key}/roll"),
        ] {
            for overlap in [-1, 2_592_000_001, i64::MAX] {
                owner.post(&path, json!({"overlapMs": overlap})).await.expect_error(400, "invalid_request");
            }
            assert!(owner.post(&path, json!({"overlapMs": 2_592_000_000_i64})).await.status.is_success());
        }
    }
}

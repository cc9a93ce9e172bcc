//! Rights end where they should: streams, installations, names, idempotency keys, bound keys.

mod ended;
mod lasting;
mod under_way;

use std::time::Duration;

use hub::limits::Limit;
use reqwest::Method;
use serde_json::{Value, json};

use crate::people::{member, send};
use crate::servers::{register, uuid};
use crate::support::{Backend, Client, Hub, on_both, on_each};

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
        let _all = reader.events(None, None).await;
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
        hub.advance_ms(500);
        tokio::time::timeout(Duration::from_mins(1), of_person.until_end()).await.unwrap();
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
        let first = pay(&owner.key_with(&["economy:write"]).await).await.expect(200).clone();
        // A retry with a key that replaces another is no second payment.
        assert_eq!(*pay(&owner.key_with(&["economy:write"]).await).await.expect(200), first);
        assert_eq!(*pay(&owner).await.expect(200), first);
        // One caller has one space of keys.
        with(&owner, &format!("/api/plugin/players/{}/load", uuid(2)), json!({})).await.expect(200);
        let other = format!("/api/plugin/players/{}/load", uuid(3));
        with(&owner, &other, json!({})).await.expect_error(400, "idempotency_mismatch");
        assert_eq!(*pay(&owner).await.expect(200), first);
    }

    async fn bound_keys_act_on_their_own_where_no_server_is_named(hub: Hub) {
        let owner = hub.network().await;
        for server in ["mini-1", "lobby", "isl"] {
            register(&owner, server, json!({"serverType": server})).await;
        }
        let mini = bound(&owner, &["plugin"], "mini-1").await;
        let joined = json!({"serverId": "lobby", "playerUuid": uuid(1), "playerName": "p"});
        assert!(owner.post("/api/plugin/servers/players", joined).await.status.is_success());
        let leave = format!("/api/plugin/servers/players/{}", uuid(1));
        mini.delete(&leave).await.expect(204);
        let online = async || owner.get("/api/plugin/servers/players").await.expect(200).as_array().unwrap().len();
        assert_eq!(online().await, 1);
        let joined = json!({"serverId": "mini-1", "playerUuid": uuid(1), "playerName": "p"});
        assert!(mini.post("/api/plugin/servers/players", joined).await.status.is_success());
        mini.delete(&leave).await.expect(204);
        assert_eq!(online().await, 0);

        let mut isl = owner.events(Some("isl"), None).await;
        let open = json!({"ownerScope": "player", "ownerId": uuid(1), "gameId": "isl", "worldKey": "main"});
        let opened = owner.post("/api/plugin/worlds/open", open).await.expect(200).clone();
        let id = opened["worldInstanceId"].as_str().unwrap();
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

    async fn a_removed_person_leaves_no_right(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        let left = leave_things(&hub, &owner, &alex.token).await;
        let removed = owner.delete(&format!("/api/manage/people/{}", alex.id)).await.expect(200).clone();
        let kinds = |answer: &Value| {
            let all = answer["left"].as_array().unwrap().iter();
            let mut kinds: Vec<_> = all.map(|it| format!("{} {}", it["type"].as_str().unwrap(), it["ended"])).collect();
            kinds.sort();
            kinds.join(", ")
        };
        let all = "INVITATION true, KEY true, KEY true, WEBHOOK true, WEBHOOK true";
        assert_eq!(kinds(&removed), all, "{removed}");
        left.expect(&owner, false).await;
        assert!(owner.get("/api/manage/people/invitations").await.expect(200)["items"].as_array().unwrap().is_empty());
        let audit = owner.get("/api/manage/audit").await.expect(200).to_string();
        assert!(audit.contains("key.revoked") && audit.contains("webhook.disabled"), "{audit}");

        // Kept on request, except for invitations.
        let kim = member(&hub, &owner, "kim@example.org", "ADMIN").await;
        let left = leave_things(&hub, &owner, &kim.token).await;
        let path = format!("/api/manage/people/{}?revoke=false", kim.id);
        let kept = "INVITATION true, KEY false, KEY false, WEBHOOK false, WEBHOOK false";
        assert_eq!(kinds(&owner.delete(&path).await.expect(200).clone()), kept);
        left.expect(&owner, true).await;
        // The operator's deletion of an account reaches all its networks.
        let lee = member(&hub, &owner, "lee@example.org", "ADMIN").await;
        let left = leave_things(&hub, &owner, &lee.token).await;
        let deleted = hub.operator().await.delete(&format!("/api/admin/people/{}", lee.id)).await.expect(200).clone();
        assert_eq!(kinds(&deleted), all);
        left.expect(&owner, false).await;
    }

    async fn a_demoted_person_keeps_what_the_new_role_allows(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        let left = leave_things(&hub, &owner, &alex.token).await;
        let body = json!({"name": "seen", "scopes": ["servers:read"]});
        let post = send(&hub, &alex.token, Method::POST, "/api/manage/keys", body).await;
        let reader = owner.with_key(post.expect(201)["apiKey"].as_str().unwrap());
        let path = format!("/api/manage/people/{}", alex.id);
        let same = owner.patch(&path, json!({"role": "ADMIN"})).await.expect(200).clone();
        assert_eq!(same["left"], json!([]));
        left.expect(&owner, true).await;
        let changed = owner.patch(&path, json!({"role": "MODERATOR"})).await.expect(200).clone();
        assert_eq!((changed["left"].as_array().unwrap().len(), &changed["role"]), (5, &json!("MODERATOR")), "{changed}");
        left.expect(&owner, false).await;
        reader.get("/api/manage/servers").await.expect(200);
    }

    async fn a_revoked_key_ends_with_what_it_made(hub: Hub) {
        let owner = hub.network().await;
        let make = async |client: &Client| {
            let body = json!({"name": "made", "scopes": ["network:manage", "events:read"]});
            client.post("/api/manage/keys", body).await.expect(201).clone()
        };
        for revoke in [false, true] {
            let first = make(&owner).await;
            let second = make(&owner.with_key(first["apiKey"].as_str().unwrap())).await;
            let second_client = owner.with_key(second["apiKey"].as_str().unwrap());
            let third = make(&second_client).await;
            let listed = owner.get("/api/manage/keys?limit=200").await.expect(200).clone();
            let of_second = |it: &&Value| it["keyId"] == second["keyId"];
            let listed = listed["items"].as_array().unwrap().iter().find(of_second).unwrap().clone();
            assert_eq!(listed["createdBy"], first["keyId"]);
            let path = format!("/api/manage/keys/{}?revoke={revoke}", first["keyId"].as_str().unwrap());
            let left = owner.delete(&path).await.expect(200).clone();
            assert_eq!((left["left"][0]["id"].clone(), left["left"][1]["id"].clone()), (second["keyId"].clone(), third["keyId"].clone()));
            let status = if revoke { 401 } else { 200 };
            assert_eq!(second_client.get("/api/manage/keys").await.status, status);
            assert_eq!(owner.with_key(third["apiKey"].as_str().unwrap()).get("/api/manage/keys").await.status, status);
        }
        let none = make(&owner).await;
        owner.delete(&format!("/api/manage/keys/{}", none["keyId"].as_str().unwrap())).await.expect(204);
    }

    async fn who_knows_a_secret_or_gets_the_events_is_found(hub: Hub) {
        let owner = hub.network().await;
        let webhook = json!({"url": "https://hook.invalid/x", "events": ["CHAT"]});
        let webhook = owner.post("/api/manage/webhooks", webhook).await.expect(201)["webhookId"].as_str().unwrap().to_owned();
        let webhook = format!("/api/manage/webhooks/{webhook}");
        let key = json!({"name": "k", "scopes": ["network:manage"]});
        let key = owner.post("/api/manage/keys", key).await.expect(201)["keyId"].as_str().unwrap().to_owned();
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        let change = async |method: Method, path: &str, body: Value| send(&hub, &alex.token, method, path, body).await;
        // Other changes give nobody anything.
        change(Method::PATCH, &webhook, json!({"name": "renamed"})).await.expect(200);
        change(Method::PATCH, &format!("/api/manage/people/{}", alex.id), json!({"role": "ADMIN"})).await.expect(200);
        owner.delete(&format!("/api/manage/people/{}", alex.id)).await;
        assert_eq!(owner.get(&webhook).await.expect(200)["enabled"], true);

        let kim = member(&hub, &owner, "kim@example.org", "ADMIN").await;
        let change = async |method: Method, path: &str, body: Value| send(&hub, &kim.token, method, path, body).await;
        change(Method::PATCH, &webhook, json!({"url": "https://kim.invalid/x"})).await.expect(200);
        let rolled = change(Method::POST, &format!("/api/manage/keys/{key}/roll"), json!({})).await.expect(201).clone();
        let rolled = owner.with_key(rolled["apiKey"].as_str().unwrap());
        rolled.get("/api/manage/keys").await.expect(200);
        let removed = owner.delete(&format!("/api/manage/people/{}", kim.id)).await.expect(200).clone();
        assert_eq!(removed["left"].as_array().unwrap().len(), 2, "{removed}");
        rolled.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        let disabled = owner.get(&webhook).await.expect(200).clone();
        assert_eq!((&disabled["enabled"], &disabled["disabledReason"]), (&json!(false), &json!("CREATOR_LEFT")));
    }

    async fn a_replaced_secret_ends_with_whoever_knows_it(hub: Hub) {
        let owner = hub.network().await;
        let key = json!({"name": "k", "scopes": ["network:manage"]});
        let key = owner.post("/api/manage/keys", key).await.expect(201)["keyId"].as_str().unwrap().to_owned();
        let roll = format!("/api/manage/keys/{key}/roll");
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        let known = send(&hub, &alex.token, Method::POST, &roll, json!({})).await.expect(201).clone();
        let known = owner.with_key(known["apiKey"].as_str().unwrap());
        let newest = owner.post(&roll, json!({"overlapMs": 86_400_000})).await.expect(201).clone();
        let newest = owner.with_key(newest["apiKey"].as_str().unwrap());
        known.get("/api/manage/keys").await.expect(200);
        owner.delete(&format!("/api/manage/people/{}", alex.id)).await;
        known.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        newest.get("/api/manage/keys").await.expect(200);
    }

    async fn webhooks_need_the_scope_of_their_events(hub: Hub) {
        let owner = hub.network().await;
        let settings = owner.key_with(&["network:manage"]).await;
        let webhook = json!({"url": "https://hook.invalid/x", "events": ["CHAT"]});
        settings.post("/api/manage/webhooks", webhook.clone()).await.expect_error(403, "forbidden_scope");
        let made = owner.post("/api/manage/webhooks", webhook).await.expect(201).clone();
        let path = format!("/api/manage/webhooks/{}", made["webhookId"].as_str().unwrap());
        let elsewhere = json!({"url": "https://other.invalid/x"});
        settings.patch(&path, elsewhere).await.expect_error(403, "forbidden_scope");
        settings.patch(&path, json!({"enabled": false})).await.expect(200);
        settings.patch(&path, json!({"enabled": true})).await.expect_error(403, "forbidden_scope");
    }

    async fn answers_stay_out_of_caches_and_refusals_tell_nothing(hub: Hub) {
        let owner = hub.network().await;
        for path in ["/api/manage/keys", "/api/manage/people", "/api/manage/none", "/healthz"] {
            let answer = owner.get(path).await;
            assert_eq!(answer.headers["cache-control"], "no-store", "{path}");
            assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
        }
        let key = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["network:manage"]})).await.expect(201).clone();
        let of_key = owner.with_key(key["apiKey"].as_str().unwrap());
        owner.delete(&format!("/api/manage/keys/{}", key["keyId"].as_str().unwrap())).await.expect(204);
        let revoked = of_key.get("/api/manage/keys").await.expect(401)["error"].clone();
        let ids = hub::ids::Ids::System;
        for id in [key["keyId"].as_str().unwrap().to_owned(), "0123456789ab".to_owned()] {
            let (text, _) = hub::auth::key::mint(&ids, &hub::auth::KeyId(id));
            let other = owner.with_key(text.expose()).get("/api/manage/keys").await;
            assert_eq!(other.expect(401)["error"], revoked);
        }
    }
}

/// Leftovers of a person: a key, one that this key made, webhooks of both, and an invitation.
struct LeftThings {
    keys: [Client; 2],
    webhooks: [String; 2],
}

async fn leave_things(hub: &Hub, owner: &Client, token: &str) -> LeftThings {
    let post = async |path: &str, body: Value| send(hub, token, Method::POST, path, body).await.expect(201).clone();
    let webhook = json!({"url": "https://hook.invalid/x", "events": ["CHAT"]});
    let key = json!({"name": "left", "scopes": ["network:manage", "events:read"]});
    let first = post("/api/manage/keys", key.clone()).await;
    let first = owner.with_key(first["apiKey"].as_str().unwrap());
    let second = first.post("/api/manage/keys", key).await.expect(201)["apiKey"].as_str().unwrap().to_owned();
    let id = |made: &Value| made["webhookId"].as_str().unwrap().to_owned();
    let email = format!("friend-{}@example.org", hub.app.ids.token(8));
    post("/api/manage/people", json!({"email": email, "role": "ADMIN"})).await;
    let webhooks = [
        id(&post("/api/manage/webhooks", webhook.clone()).await),
        id(first.post("/api/manage/webhooks", webhook).await.expect(201)),
    ];
    LeftThings { keys: [first, owner.with_key(&second)], webhooks }
}

impl LeftThings {
    async fn expect(&self, owner: &Client, works: bool) {
        for key in &self.keys {
            assert_eq!(key.get("/api/manage/keys").await.status, if works { 200 } else { 401 });
        }
        for id in &self.webhooks {
            let webhook = owner.get(&format!("/api/manage/webhooks/{id}")).await.expect(200).clone();
            let reason = if works { Value::Null } else { json!("CREATOR_LEFT") };
            assert_eq!((&webhook["enabled"], &webhook["disabledReason"]), (&json!(works), &reason));
            assert!(webhook["createdBy"].is_string());
        }
    }
}

async fn what_a_revoked_key_made_ends_with_its_creator(backend: Backend) {
    // The row of the first key is deleted, too.
    let hub = Hub::start_with(backend, |settings| {
        settings.limits = settings.limits.clone().with(Limit::EndedKeys, 1);
    })
    .await;
    let hub = &hub;
    let owner = hub.network().await;
    let alex = member(hub, &owner, "alex@example.org", "ADMIN").await;
    let key = json!({"name": "k", "scopes": ["network:manage", "events:read"]});
    let first = send(hub, &alex.token, Method::POST, "/api/manage/keys", key.clone()).await.expect(201).clone();
    let of_first = owner.with_key(first["apiKey"].as_str().unwrap());
    let second = of_first.post("/api/manage/keys", key.clone()).await.expect(201).clone();
    let webhook = json!({"url": "https://hook.invalid/x", "events": ["CHAT"]});
    let webhook = of_first.post("/api/manage/webhooks", webhook).await.expect(201)["webhookId"].clone();
    let role = json!({"scopes": ["reports:manage"]});
    of_first.put("/api/manage/roles/helper", role).await.expect(200);
    // It goes, and what it made stays.
    let path = format!("/api/manage/keys/{}", first["keyId"].as_str().unwrap());
    let left = send(hub, &alex.token, Method::DELETE, &path, Value::Null).await.expect(200).clone();
    assert!(left["left"].as_array().unwrap().iter().all(|it| it["ended"] == false), "{left}");
    let of_second = owner.with_key(second["apiKey"].as_str().unwrap());
    of_second.get("/api/manage/keys").await.expect(200);
    // Nobody else could find them, wherever the row of the key is.
    for _ in 0..2 {
        let made = owner.post("/api/manage/keys", key.clone()).await.expect(201)["keyId"].clone();
        owner.delete(&format!("/api/manage/keys/{}", made.as_str().unwrap())).await.expect(204);
    }
    owner.post("/api/manage/keys", key).await.expect(201);
    let removed = owner.delete(&format!("/api/manage/people/{}", alex.id)).await.expect(200).clone();
    let left = removed["left"].as_array().unwrap();
    let of = |kind: &str, id: &Value, ended: bool| {
        left.iter().any(|it| it["type"] == kind && it["id"] == *id && it["ended"] == ended)
    };
    assert!(of("KEY", &second["keyId"], true) && of("WEBHOOK", &webhook, true), "{removed}");
    assert!(of("ROLE", &json!("helper"), false), "{removed}");
    of_second.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
}

on_each! { what_a_revoked_key_made_ends_with_its_creator }

//! Roles of a network's own, and fine scopes.

use reqwest::Method;
use serde_json::{Value, json};

use crate::people::{member, send};
use crate::servers::uuid;
use crate::support::on_both;

on_both! {
    async fn a_role_of_ones_own_gives_its_scopes(hub: Hub) {
        let owner = hub.network().await;
        let put = owner.put("/api/manage/roles/helper", json!({"scopes": ["reports:manage", "players:read"]})).await;
        let put_by = put.expect(200)["createdBy"].clone();
        assert!(put_by.is_string(), "{}", put.body);
        assert_eq!(put.body, json!({"name": "helper", "scopes": ["players:read", "reports:manage"], "createdBy": put_by}));
        assert_eq!(owner.get("/api/manage/roles/helper").await.expect(200), &put.body);
        let alex = member(&hub, &owner, "alex@example.org", "helper").await;
        let get = async |path: &str| send(&hub, &alex.token, Method::GET, path, Value::Null).await;
        let me = get("/api/people/me").await.expect(200).clone();
        assert_eq!(me["networks"][0]["scopes"], json!(["players:read", "reports:manage"]));
        get("/api/manage/reports").await.expect(200);
        get(&format!("/api/manage/players/{}/notes", uuid(1))).await.expect(200);
        get("/api/plugin/players").await.expect(200);
        get("/api/manage/punishments").await.expect_error(403, "forbidden_scope");
        get("/api/manage/audit").await.expect_error(403, "forbidden_scope");
        let members = owner.get("/api/manage/people").await.expect(200).clone();
        assert_eq!(members["items"][0]["role"], "helper");
        // Replaced, in effect within a second.
        owner.put("/api/manage/roles/helper", json!({"scopes": ["audit:read"]})).await.expect(200);
        get("/api/manage/audit").await.expect(200);
        get("/api/manage/reports").await.expect_error(403, "forbidden_scope");
        let list = owner.get("/api/manage/roles").await.expect(200).clone();
        assert_eq!((&list["total"], &list["items"]), (&json!(1), &json!([{"name": "helper", "scopes": ["audit:read"], "createdBy": put_by}])));
        let log = owner.get("/api/manage/audit?action=role.put").await.expect(200).clone();
        assert_eq!(log["items"][0]["before"], json!({"scopes": ["players:read", "reports:manage"]}));
        // Another network has none of it.
        let other = hub.network().await;
        other.get("/api/manage/roles/helper").await.expect_error(404, "unknown_role");
        let invite = json!({"email": "x@example.org", "role": "helper"});
        other.post("/api/manage/people", invite).await.expect_error(400, "unknown_role");
    }

    async fn nobody_makes_a_role_beyond_their_own(hub: Hub) {
        let owner = hub.network().await;
        let admin = member(&hub, &owner, "a@example.org", "ADMIN").await;
        let put = async |name: &str, scopes: Value| {
            let path = format!("/api/manage/roles/{name}");
            send(&hub, &admin.token, Method::PUT, &path, json!({"scopes": scopes})).await
        };
        put("bots", json!(["plugin"])).await.expect_error(403, "forbidden_scope");
        put("bots", json!(["operator"])).await.expect_error(403, "forbidden_scope");
        put("staff", json!(["reports:manage"])).await.expect(200);
        owner.put("/api/manage/roles/bots", json!({"scopes": ["plugin"]})).await.expect(200);
        put("bots", json!(["reports:manage"])).await.expect_error(403, "forbidden_scope");
        send(&hub, &admin.token, Method::DELETE, "/api/manage/roles/bots", json!({})).await
            .expect_error(403, "forbidden_scope");
        let invite = json!({"email": "x@example.org", "role": "bots"});
        send(&hub, &admin.token, Method::POST, "/api/manage/people", invite).await.expect_error(403, "forbidden_scope");
        for given in ["OWNER", "admin", "Moderator", "viewer"] {
            put(given, json!(["reports:manage"])).await.expect_error(400, "role_reserved");
        }
        for wrong in ["a%20b", "x.y", &"x".repeat(33)] {
            put(wrong, json!([])).await.expect_error(400, "invalid_request");
        }
        put("staff", json!(["everything"])).await.expect_error(400, "invalid_request");
        let soon = json!({"name": "k", "scopes": ["network:manage"], "expiresAt": hub.app.clock.now() + 60_000});
        let bound = owner.post("/api/manage/keys", soon).await.expect(201)["apiKey"].as_str().unwrap().to_owned();
        let bound = owner.with_key(&bound);
        bound.put("/api/manage/roles/mine", json!({"scopes": []})).await.expect_error(403, "forbidden_origin");
    }

    async fn a_role_in_use_is_not_deleted(hub: Hub) {
        let owner = hub.network().await;
        owner.put("/api/manage/roles/helper", json!({"scopes": ["reports:manage"]})).await.expect(200);
        let invite = json!({"email": "kim@example.org", "role": "helper"});
        let made = owner.post("/api/manage/people", invite).await.expect(201).clone();
        owner.delete("/api/manage/roles/helper").await.expect_error(409, "in_use");
        let path = format!("/api/manage/people/invitations/{}", made["invitationId"].as_str().unwrap());
        owner.delete(&path).await.expect(204);
        let alex = member(&hub, &owner, "alex@example.org", "helper").await;
        owner.delete("/api/manage/roles/helper").await.expect_error(409, "in_use");
        owner.patch(&format!("/api/manage/people/{}", alex.id), json!({"role": "VIEWER"})).await.expect(200);
        owner.delete("/api/manage/roles/helper").await.expect(204);
        owner.delete("/api/manage/roles/helper").await.expect_error(404, "unknown_role");
        let path = format!("/api/manage/people/{}", alex.id);
        owner.patch(&path, json!({"role": "helper"})).await.expect_error(400, "unknown_role");
    }

    async fn a_network_has_50_roles(hub: Hub) {
        let owner = hub.network().await;
        for at in 0..50 {
            owner.put(&format!("/api/manage/roles/r{at}"), json!({"scopes": []})).await.expect(200);
        }
        owner.put("/api/manage/roles/more", json!({"scopes": []})).await.expect_quota("roles", 50);
        owner.put("/api/manage/roles/r7", json!({"scopes": ["audit:read"]})).await.expect(200);
        owner.delete("/api/manage/roles/r7").await.expect(204);
    }

    async fn a_smaller_role_ends_what_its_members_made(hub: Hub) {
        let owner = hub.network().await;
        owner.put("/api/manage/roles/boss", json!({"scopes": ["network:manage", "servers:read"]})).await.expect(200);
        let alex = member(&hub, &owner, "alex@example.org", "boss").await;
        let body = json!({"name": "k", "scopes": ["servers:read"]});
        let key = send(&hub, &alex.token, Method::POST, "/api/manage/keys", body).await.expect(201).clone();
        let key = owner.with_key(key["apiKey"].as_str().unwrap());
        owner.put("/api/manage/roles/boss", json!({"scopes": ["servers:read"]})).await.expect(200);
        key.get("/api/manage/servers").await.expect(200);
        owner.put("/api/manage/roles/boss", json!({"scopes": ["audit:read"]})).await.expect(200);
        key.get("/api/manage/servers").await.expect_error(401, "unauthenticated");
    }

    async fn fine_scopes_open_their_routes_alone(hub: Hub) {
        let owner = hub.network().await;
        let reader = owner.key_with(&["players:read"]).await;
        let player = uuid(1);
        owner.post(&format!("/api/plugin/players/{player}/load?username=p1"), json!({})).await.expect(200);
        for path in [
            "/api/plugin/players".to_owned(),
            format!("/api/plugin/players/{player}"),
            format!("/api/plugin/players/{player}/ips"),
            format!("/api/plugin/players/{player}/statistics"),
            "/api/plugin/servers/players".to_owned(),
            format!("/api/plugin/punishments/player/{player}"),
            format!("/api/manage/players/{player}/notes"),
        ] {
            reader.get(&path).await.expect(200);
        }
        reader.post(&format!("/api/plugin/players/{player}/load"), json!({})).await.expect_error(403, "forbidden_scope");
        reader.get("/api/manage/punishments").await.expect_error(403, "forbidden_scope");
        // The routes of connectors stay closed to settings.
        let settings = owner.key_with(&["network:manage"]).await;
        settings.get("/api/plugin/players").await.expect_error(403, "forbidden_scope");
        settings.get(&format!("/api/manage/players/{player}/notes")).await.expect(200);
        settings.get("/api/manage/punishments").await.expect(200);
        let lines = json!({"lines": [{"at": 1, "stream": "stdout", "text": "x"}]});
        owner.post("/api/plugin/servers/lobby-1/logs", lines).await.expect(200);
        let console = owner.key_with(&["console:read"]).await;
        console.get("/api/manage/servers/lobby-1/logs/recent").await.expect(200);
        console.get("/api/manage/servers").await.expect_error(403, "forbidden_scope");
        owner.key_with(&["audit:read"]).await.get("/api/manage/audit").await.expect(200);
    }
}

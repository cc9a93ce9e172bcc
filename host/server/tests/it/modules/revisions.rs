//! Revisions of chains: changes from a stale one, lists and restoration.

use reqwest::Method;
use serde_json::{Value, json};

use super::{chain, point, refused, say, upload, wasm};
use crate::people::{get, member, send};
use crate::support::{Answer, Client, on_both};

const CHAT: &str = "/api/manage/extension-points/chat";

async fn put_from(client: &Client, revision: &str, modules: Value) -> Answer {
    let request = client.request(Method::PUT, CHAT).header("If-Match", revision);
    client.send(request.json(&json!({"modules": modules}))).await
}

fn guard(version: i64) -> Value {
    json!([{"name": "guard", "version": version, "config": {"made": version}}])
}

on_both! {
    async fn a_change_from_a_stale_revision_is_refused_with_both_chains(hub: Hub) {
        let owner = hub.network().await;
        for version in 1..=2 {
            upload(&owner, "guard", wasm::moody(version)).await.expect(201);
        }
        assert_eq!(put_from(&owner, "0", guard(1)).await.expect(200)["revision"], 1);
        // Quoted as an entity tag, too.
        assert_eq!(put_from(&owner, "\"1\"", guard(2)).await.expect(200)["revision"], 2);
        let stale = put_from(&owner, "1", json!([])).await;
        assert_eq!(stale.expect(409)["code"], "revision_changed");
        let changed = &stale.body["changed"];
        assert_eq!((&changed["expected"], &changed["revision"]), (&json!(1), &json!(2)));
        assert_eq!(changed["before"]["modules"][0]["config"], json!({"made": 1}));
        assert_eq!(changed["now"]["modules"][0]["config"], json!({"made": 2}));
        let first = put_from(&owner, "0", json!([])).await;
        assert_eq!(first.expect(409)["code"], "revision_changed");
        assert_eq!(first.body["changed"]["before"], json!({"modules": []}));
        let unknown = put_from(&owner, "4711", json!([])).await;
        assert_eq!(unknown.expect(409)["code"], "revision_changed");
        assert_eq!(unknown.body["changed"]["before"], Value::Null);
        // Not even if it would change nothing, and no rollback either.
        assert_eq!(put_from(&owner, "1", guard(2)).await.expect(409)["code"], "revision_changed");
        let back = owner.request(Method::POST, &format!("{CHAT}/rollback")).header("If-Match", "1");
        assert_eq!(owner.send(back.json(&json!({}))).await.expect(409)["code"], "revision_changed");
        assert_eq!(point(&owner, "chat").await["revision"], 2);
        for wrong in ["x", "", "-1", "1, 2", "W/\"1\""] {
            put_from(&owner, wrong, json!([])).await.expect_error(400, "invalid_request");
        }
        // Without it, or with any, the chain is replaced whichever it is.
        assert_eq!(put_from(&owner, "*", guard(1)).await.expect(200)["revision"], 3);
        assert_eq!(chain(&owner, "chat", json!([])).await.expect(200)["revision"], 4);
    }

    async fn of_two_changes_from_one_revision_one_is_made(hub: Hub) {
        let owner = hub.network().await;
        for version in 1..=2 {
            upload(&owner, "guard", wasm::moody(version)).await.expect(201);
        }
        let (one, two) = tokio::join!(put_from(&owner, "0", guard(1)), put_from(&owner, "0", guard(2)));
        let mut statuses = [one.status.as_u16(), two.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{} {}", one.body, two.body);
        assert_eq!(point(&owner, "chat").await["revision"], 1);
    }

    async fn revisions_are_listed_and_restored(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        upload(&owner, "guard", wasm::moody(1)).await.expect(201);
        upload(&owner, "guard", wasm::moody(2)).await.expect(201);
        let list = async |client: &Client| client.get(&format!("{CHAT}/revisions")).await.expect(200).clone();
        assert_eq!(list(&owner).await["items"], json!([]));
        chain(&owner, "chat", guard(1)).await.expect(200);
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        send(&hub, &alex.token, Method::PUT, CHAT, json!({"modules": []})).await.expect(200);
        let page = list(&owner).await;
        assert_eq!(page["total"], 2);
        let newest = &page["items"][0];
        assert_eq!((&newest["revision"], &newest["actor"]["name"], &newest["modules"]), (&json!(2), &json!("alex@example.org"), &json!([])));
        let short = json!([{"name": "guard", "version": 1, "mode": "ACTIVE", "percent": 100}]);
        assert_eq!(page["items"][1]["modules"], short);
        let one = owner.get(&format!("{CHAT}/revisions/1")).await.expect(200).clone();
        assert_eq!((&one["point"], &one["modules"][0]["config"]), (&json!("chat"), &json!({"made": 1})));
        owner.get(&format!("{CHAT}/revisions/9")).await.expect_error(404, "unknown_revision");
        owner.get("/api/manage/extension-points/weather/revisions").await.expect_error(404, "unknown_point");
        // Another network has its own.
        assert_eq!(list(&other).await["total"], 0);
        other.get(&format!("{CHAT}/revisions/1")).await.expect_error(404, "unknown_revision");
        other.post(&format!("{CHAT}/revisions/1/restore"), json!({})).await.expect_error(404, "unknown_revision");

        let restore = format!("{CHAT}/revisions/1/restore");
        let stale = owner.request(Method::POST, &restore).header("If-Match", "1").json(&json!({}));
        assert_eq!(owner.send(stale).await.expect(409)["code"], "revision_changed");
        let restored = owner.post(&restore, json!({})).await.expect(200).clone();
        assert_eq!((&restored["revision"], &restored["modules"][0]["config"]), (&json!(3), &json!({"made": 1})));
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
        let log = owner.get("/api/manage/audit?limit=1").await.expect(200).clone();
        assert_eq!((&log["items"][0]["action"], &log["items"][0]["target"]), (&json!("chain.restored"), &json!("chat")));
        // A viewer reads them; only those who change modules restore.
        let vera = member(&hub, &owner, "vera@example.org", "VIEWER").await;
        get(&hub, &vera.token, &format!("{CHAT}/revisions")).await.expect(200);
        send(&hub, &vera.token, Method::POST, &restore, json!({})).await.expect_error(403, "forbidden_scope");
        // A version that is gone cannot be restored.
        chain(&owner, "chat", json!([])).await.expect(200);
        owner.delete("/api/manage/modules/guard/1").await.expect(204);
        owner.post(&restore, json!({})).await.expect_error(400, "unknown_module");
        assert_eq!(point(&owner, "chat").await["modules"], json!([]));
    }

    async fn the_newest_revisions_are_kept(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "guard", wasm::moody(1)).await.expect(201);
        for _ in 0..26 {
            chain(&owner, "chat", guard(1)).await.expect(200);
            chain(&owner, "chat", json!([])).await.expect(200);
        }
        let page = owner.get(&format!("{CHAT}/revisions?limit=200")).await.expect(200).clone();
        let revisions: Vec<_> = page["items"].as_array().unwrap().iter().map(|it| it["revision"].as_i64().unwrap()).collect();
        assert_eq!((page["total"].as_i64(), revisions.first(), revisions.last()), (Some(50), Some(&52), Some(&3)));
    }
}

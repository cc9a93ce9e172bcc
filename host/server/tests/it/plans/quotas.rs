//! Quotas of plans: each is refused at its limit and served below it, and a change of the plan is in effect at once.

use reqwest::Method;
use serde_json::{Value, json};

use super::{exceeded, json_text, put_data};
use crate::modules::wasm;
use crate::servers::{register, server, uuid};
use crate::support::{Answer, Client, Events, Hub, on_both};

/// A network on a plan of its own, which has one limit.
struct Limited {
    operator: Client,
    owner: Client,
    other: Client,
    plan: String,
    limit: &'static str,
}

impl Limited {
    async fn start(hub: &Hub, limit: &'static str) -> Self {
        let (operator, owner, other) = (hub.operator().await, hub.network().await, hub.network().await);
        let name = format!("plan-{}", hub.app.ids.token(8));
        operator.post("/api/admin/plans", json!({"name": name})).await.expect(201);
        let path = format!("/api/admin/networks/{}", owner.network.unwrap());
        operator.send(operator.request(Method::PATCH, &path).json(&json!({"plan": name}))).await.expect(200);
        Self { operator, owner, other, plan: format!("/api/admin/plans/{name}"), limit }
    }

    async fn set(&self, value: Option<i64>) {
        self.operator.put(&self.plan, json!({"limits": {self.limit: value}})).await.expect(200);
    }

    /// Adds `unit` at a time to the existing `base`. Each number that `add` gets is another one.
    async fn check(&self, base: i64, unit: i64, mut add: impl AsyncFnMut(&Client, u64) -> Answer) {
        for (limit, value, numbers) in [(2, 2 * unit, 1..3), (3, 3 * unit, 3..4)] {
            self.set(Some(base + value)).await;
            for number in numbers {
                let added = add(&self.owner, number).await;
                assert!(added.status.is_success(), "{} {limit}: {}", self.limit, added.body);
            }
            let refused = add(&self.owner, 9).await;
            assert_eq!(exceeded(&refused, self.limit, base + value), base + value, "{}", refused.body);
            assert_eq!(refused.body.as_object().unwrap().len(), 6, "{}", refused.body);
        }
        // The plan is the network's alone; and without a limit there is none.
        for (client, number) in [(&self.other, 1), (&self.other, 2), (&self.other, 3), (&self.other, 4)] {
            let added = add(client, number).await;
            assert!(added.status.is_success(), "{}: {}", self.limit, added.body);
        }
        self.set(None).await;
        let added = add(&self.owner, 4).await;
        assert!(added.status.is_success(), "{}: {}", self.limit, added.body);
        // Existing data stays when a limit is lowered, and additions are refused.
        self.set(Some(base + unit)).await;
        let refused = add(&self.owner, 9).await;
        assert_eq!(exceeded(&refused, self.limit, base + unit), base + 4 * unit, "{}", refused.body);
    }
}

on_both! {
    async fn servers(hub: Hub) {
        let limited = Limited::start(&hub, "servers").await;
        limited.check(0, 1, async |client, number| {
            client.post("/api/plugin/servers/register", server(&format!("s{number}"), json!({}))).await
        }).await;
        // An existing one registers again.
        register(&limited.owner, "s1", json!({})).await;
    }

    async fn players(hub: Hub) {
        let limited = Limited::start(&hub, "players").await;
        for client in [&limited.owner, &limited.other] {
            register(client, "lobby-1", json!({})).await;
        }
        limited.check(0, 1, async |client, number| {
            let body = json!({"serverId": "lobby-1", "playerUuid": uuid(number)});
            client.post("/api/plugin/servers/players", body).await
        }).await;
    }

    async fn streams(hub: Hub) {
        let limited = Limited::start(&hub, "streams").await;
        let mut open = vec![];
        limited.check(0, 1, async |client, number| {
            let path = format!("/api/plugin/events?serverId=s{number}");
            let response = client.request(Method::GET, &path).send().await.unwrap();
            let (status, headers) = (response.status(), response.headers().clone());
            if status.is_success() {
                open.push(Events::of(response));
                return Answer { status, headers, body: Value::Null };
            }
            Answer { status, headers, body: response.json().await.unwrap() }
        }).await;
        // The same server's stream replaces the previous one.
        limited.owner.events(Some("s1"), None).await;
    }

    async fn keys(hub: Hub) {
        let limited = Limited::start(&hub, "keys").await;
        let body = json!({"name": "k", "scopes": ["plugin"]});
        // The owner's first key counts.
        limited.check(1, 1, async |client, _| client.post("/api/manage/keys", body.clone()).await).await;
    }

    async fn keys_that_the_operator_creates(hub: Hub) {
        let limited = Limited::start(&hub, "keys").await;
        let body = json!({"name": "k", "scopes": ["plugin"]});
        let operator = limited.operator.clone();
        limited.check(1, 1, async |client, _| {
            operator.post(&format!("/api/admin/networks/{}/keys", client.network.unwrap()), body.clone()).await
        }).await;
    }

    async fn documents(hub: Hub) {
        let limited = Limited::start(&hub, "documents").await;
        for client in [&limited.owner, &limited.other] {
            let collections = json!({"collections": [{"name": "guilds"}, {"name": "clans"}]});
            client.post("/api/plugin/collections/register", collections).await.expect(200);
        }
        limited.check(0, 1, async |client, number| {
            // Those of all collections count.
            let collection = if number == 2 { "clans" } else { "guilds" };
            client.put(&format!("/api/plugin/collections/{collection}/{number}"), json!({})).await
        }).await;
        limited.owner.put("/api/plugin/collections/guilds/1", json!({"n": 1})).await.expect(200);
        // Deleting makes room.
        limited.set(Some(4)).await;
        limited.owner.delete("/api/plugin/collections/guilds/1").await.expect(200);
        limited.owner.put("/api/plugin/collections/guilds/9", json!({})).await.expect(200);
    }

    async fn storage_bytes(hub: Hub) {
        let limited = Limited::start(&hub, "storageBytes").await;
        // 64 for the row, 8 for its key.
        let unit = 64 + 8 + 128;
        limited.check(0, unit, async |client, number| put_data(client, &format!("n{number}"), &json_text(128)).await).await;
    }

    async fn file_bytes(hub: Hub) {
        let limited = Limited::start(&hub, "fileBytes").await;
        limited.check(0, 1_000, async |client, number| {
            let path = if number == 2 {
                "/api/manage/provisioning/bundles/lobby".to_owned()
            } else {
                format!("/api/manage/artifacts?name=p&version={number}")
            };
            let method = if number == 2 { Method::PUT } else { Method::POST };
            client.send(client.request(method, &path).body(vec![u8::try_from(number).unwrap(); 1_000])).await
        }).await;
    }

    async fn modules(hub: Hub) {
        let limited = Limited::start(&hub, "modules").await;
        limited.check(0, 1, async |client, number| {
            let request = client.request(Method::POST, "/api/manage/modules?name=moody");
            let bytes = wasm::moody(u32::try_from(number).unwrap());
            client.send(request.header("Content-Type", "application/wasm").body(bytes)).await
        }).await;
        // An existing one is not added.
        let request = limited.owner.request(Method::POST, "/api/manage/modules?name=moody");
        let again = request.header("Content-Type", "application/wasm").body(wasm::moody(1));
        limited.owner.send(again).await.expect(200);
    }
}

//! Plans: limits of networks, effective at once.

mod quotas;

use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};

use crate::servers::uuid;
use crate::support::{Answer, Backend, Client, Hub, NOW, on_both, on_each};

/// Puts a network on a plan of its own with these limits.
async fn limit(hub: &Hub, owner: &Client, limits: Value) {
    let operator = hub.operator().await;
    let name = format!("plan-{}", hub.app.ids.token(8));
    operator.post("/api/admin/plans", json!({"name": name, "limits": limits})).await.expect(201);
    let path = format!("/api/admin/networks/{}", owner.network.unwrap());
    operator.send(operator.request(Method::PATCH, &path).json(&json!({"plan": name}))).await.expect(200);
}

#[track_caller]
fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
}

#[track_caller]
fn exceeded(answer: &Answer, limit: &str, value: i64) -> i64 {
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (403, &json!("quota_exceeded")), "{}", answer.body);
    assert_eq!((&answer.body["limit"], &answer.body["value"]), (&json!(limit), &json!(value)), "{}", answer.body);
    answer.body["used"].as_i64().unwrap()
}

async fn put_data(owner: &Client, namespace: &str, data: &str) -> Answer {
    let path = format!("/api/plugin/players/{}/data/global/{namespace}", uuid(1));
    owner.put(&path, json!({"data": data})).await
}

async fn put_document(owner: &Client, id: &str, doc: Value) -> Answer {
    owner.put(&format!("/api/plugin/collections/guilds/{id}"), doc).await
}

async fn chat(owner: &Client) -> Answer {
    let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": "hello", "serverId": "lobby-1"});
    owner.post("/api/plugin/chat", line).await
}

/// A JSON text of that many bytes.
fn json_text(bytes: usize) -> String {
    format!("\"{}\"", "x".repeat(bytes - 2))
}

on_both! {
    async fn a_plan_is_created_listed_changed_and_deleted(hub: Hub) {
        let operator = hub.operator().await;
        let list = operator.get("/api/admin/plans").await.expect(200).clone();
        assert_eq!((&list["total"], &list["items"][0]["name"]), (&json!(1), &json!("default")));
        assert!(list["items"][0]["limits"].as_object().unwrap().values().all(Value::is_null), "{list}");

        let body = json!({"name": "small", "limits": {"requestsPerSecond": 10, "servers": 3, "unknown": 1},
            "moduleLimits": {"chat": {"computeMillis": 5, "hostCalls": 2}}});
        let created = operator.post("/api/admin/plans", body).await.expect(201).clone();
        assert_eq!((&created["limits"]["servers"], &created["limits"]["keys"]), (&json!(3), &Value::Null));
        assert_eq!(created["moduleLimits"]["chat"]["computeMillis"], 5);
        assert_eq!(created["createdAt"], NOW);
        assert_eq!(*operator.get("/api/admin/plans/small").await.expect(200), created);
        let page = operator.get("/api/admin/plans?limit=1&page=1").await.expect(200).clone();
        assert_eq!(page, json!({"items": [created], "page": 1, "limit": 1, "total": 2}));

        hub.advance_ms(7);
        let replaced = operator.put("/api/admin/plans/small", json!({"limits": {"keys": 2}})).await.expect(200).clone();
        assert_eq!((&replaced["limits"]["keys"], &replaced["limits"]["servers"]), (&json!(2), &Value::Null));
        assert_eq!(replaced["moduleLimits"]["chat"]["computeMillis"], Value::Null);
        assert_eq!((&replaced["createdAt"], &replaced["updatedAt"]), (&json!(NOW), &json!(NOW + 7)));
        assert_eq!(*operator.get("/api/admin/plans/small").await.expect(200), replaced);

        let network = operator.post("/api/admin/networks", json!({"name": "n", "plan": "small"})).await;
        let path = format!("/api/admin/networks/{}", network.expect(201)["networkId"].as_str().unwrap());
        operator.delete("/api/admin/plans/small").await.expect_error(400, "plan_in_use");
        operator.send(operator.request(Method::PATCH, &path).json(&json!({"plan": "default"}))).await.expect(200);
        operator.delete("/api/admin/plans/small").await.expect(204);
        operator.get("/api/admin/plans/small").await.expect_error(404, "unknown_plan");
    }

    /// Everybody's, the operator's own network included.
    async fn a_change_of_the_default_plan_is_in_the_log_of_each_network_on_it(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        operator.put("/api/admin/plans/default", json!({"limits": {"keys": 9}})).await.expect(200);
        for (caller, path) in [(&owner, "/api/manage/audit"), (&operator, "/api/admin/audit")] {
            let log = caller.get(&format!("{path}?action=plan.changed")).await.expect(200).clone();
            assert_eq!((&log["total"], &log["items"][0]["target"]), (&json!(1), &json!("default")), "{log}");
        }
    }

    async fn wrong_requests_about_plans_are_refused(hub: Hub) {
        let operator = hub.operator().await;
        operator.post("/api/admin/plans", json!({"name": "default"})).await.expect_error(400, "name_taken");
        operator.post("/api/admin/plans", json!({"name": "a b"})).await.expect_error(400, "invalid_request");
        operator.delete("/api/admin/plans/default").await.expect_error(400, "plan_in_use");
        operator.delete("/api/admin/plans/none").await.expect_error(404, "unknown_plan");
        operator.put("/api/admin/plans/none", json!({"limits": {}})).await.expect_error(404, "unknown_plan");
        operator.put("/api/admin/plans/default", json!({})).await.expect_error(400, "invalid_request");
        for limits in [
            json!({"requestsPerSecond": 0}),
            json!({"requestsPerSecond": 1.5}),
            json!({"eventsPerSecond": "many"}),
            json!({"servers": -1}),
            json!({"requestBurst": 5}),
            json!([]),
        ] {
            let body = json!({"name": "wrong", "limits": limits});
            operator.post("/api/admin/plans", body).await.expect_error(400, "invalid_request");
            let body = json!({"limits": limits});
            operator.put("/api/admin/plans/default", body).await.expect_error(400, "invalid_request");
        }
        let body = json!({"limits": {}, "moduleLimits": {"chat": {"memoryBytes": 1}}});
        let refused = operator.put("/api/admin/plans/default", body).await;
        refused.expect_error(400, "invalid_request");
        assert!(refused.body["error"].as_str().unwrap().contains("memoryBytes"), "{}", refused.body);
        assert_eq!(operator.get("/api/admin/plans").await.expect(200)["total"], 1);
    }

    async fn a_network_is_held_to_its_rate(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let unlimited = owner.get("/api/manage/keys").await;
        assert!(!unlimited.headers.contains_key("ratelimit"), "a network without rates");
        limit(&hub, &owner, json!({"requestsPerSecond": 10, "requestBurst": 3})).await;
        limit(&hub, &other, json!({})).await;
        for left in [2, 1, 0] {
            let served = owner.get("/api/manage/keys").await;
            served.expect(200);
            assert_eq!(header(&served, "ratelimit-policy"), r#""network";q=3;w=1"#);
            assert_eq!(header(&served, "ratelimit"), format!(r#""network";r={left};t=1"#));
        }
        let refused = owner.get("/api/manage/keys").await;
        refused.expect_error(429, "rate_limited");
        assert_eq!((header(&refused, "retry-after"), header(&refused, "ratelimit")), ("1", r#""network";r=0;t=1"#));
        // The key and the scope come first, the values later.
        hub.with_key("hub_wrong").get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        owner.get("/api/admin/plans").await.expect_error(403, "forbidden_scope");
        owner.post("/api/manage/keys", json!({})).await.expect_error(429, "rate_limited");
        owner.get("/api/none").await.expect_error(404, "unknown_route");
        let big = owner.request(Method::POST, "/api/manage/keys").header("Idempotency-Key", "k").body("x".repeat(2 << 20));
        owner.send(big).await.expect_error(429, "rate_limited");
        other.get("/api/manage/keys").await.expect(200);
        hub.advance_ms(99);
        owner.get("/api/manage/keys").await.expect_error(429, "rate_limited");
        hub.advance_ms(1);
        owner.get("/api/manage/keys").await.expect(200);
        owner.get("/api/manage/keys").await.expect_error(429, "rate_limited");
    }

    async fn a_request_under_an_idempotency_key_counts_once(hub: Hub) {
        let owner = hub.network().await;
        limit(&hub, &owner, json!({"requestsPerSecond": 2})).await;
        let request = owner.request(Method::POST, "/api/manage/keys").header("Idempotency-Key", "once");
        let created = owner.send(request.json(&json!({"name": "k", "scopes": ["plugin"]}))).await;
        created.expect(201);
        assert_eq!(header(&created, "ratelimit"), r#""network";r=1;t=1"#);
    }

    async fn each_key_is_held_to_its_rate(hub: Hub) {
        let owner = hub.network().await;
        let second = owner.key_with(&["network:manage"]).await;
        limit(&hub, &owner, json!({"requestsPerSecond": 100, "keyRequestsPerSecond": 2})).await;
        owner.get("/api/manage/keys").await.expect(200);
        let served = owner.get("/api/manage/keys").await;
        assert_eq!(header(&served, "ratelimit-policy"), r#""key";q=2;w=1, "network";q=100;w=1"#);
        assert_eq!(header(&served, "ratelimit"), r#""key";r=0;t=1, "network";r=98;t=1"#);
        owner.get("/api/manage/keys").await.expect_error(429, "rate_limited");
        // Refused requests use nothing of the network's limit.
        let served = second.get("/api/manage/keys").await;
        assert_eq!(header(&served, "ratelimit"), r#""key";r=1;t=1, "network";r=97;t=1"#);
        hub.advance_ms(500);
        owner.get("/api/manage/keys").await.expect(200);
    }

    async fn a_network_is_held_to_its_rate_of_events(hub: Hub) {
        let owner = hub.network().await;
        limit(&hub, &owner, json!({"eventsPerSecond": 2})).await;
        chat(&owner).await.expect(204);
        let served = chat(&owner).await;
        served.expect(204);
        assert_eq!(header(&served, "ratelimit"), r#""events";r=0;t=1"#);
        chat(&owner).await.expect_error(429, "rate_limited");
        let doc = json!({"group": "g", "namespace": "n", "doc": 1});
        owner.post("/api/plugin/config/publish", doc.clone()).await.expect_error(429, "rate_limited");
        owner.get("/api/plugin/config/g/n").await.expect_error(404, "unknown_config");
        put_data(&owner, "kit", "1").await.expect(200);
        hub.advance_ms(500);
        owner.post("/api/plugin/config/publish", doc).await.expect(200);
        chat(&owner).await.expect_error(429, "rate_limited");
    }

    async fn a_change_is_in_effect_within_a_second(hub: Hub) {
        let owner = hub.network().await;
        limit(&hub, &owner, json!({"requestsPerSecond": 1})).await;
        owner.get("/api/manage/keys").await.expect(200);
        owner.get("/api/manage/keys").await.expect_error(429, "rate_limited");
        let path = format!("/api/admin/networks/{}", owner.network.unwrap());
        let operator = hub.operator().await;
        let plan = operator.get(&path).await.expect(200)["plan"].as_str().unwrap().to_owned();
        let plan = format!("/api/admin/plans/{plan}");
        operator.put(&plan, json!({"limits": {}})).await.expect(200);
        for _ in 0..3 {
            owner.get("/api/manage/keys").await.expect(200);
        }
        // Like another process on the same database would.
        let sql = "UPDATE plans SET limits = $1";
        hub.app.db.write(sql).bind(r#"{"requestsPerSecond": 1}"#).execute().await.unwrap();
        owner.get("/api/manage/keys").await.expect(200);
        hub.advance_ms(1_000);
        owner.get("/api/manage/keys").await.expect(200);
        owner.get("/api/manage/keys").await.expect_error(429, "rate_limited");
        let hub = hub.restart(std::time::Duration::from_secs(1)).await;
        let owner = hub.with_key(owner.key.as_deref().unwrap());
        assert_eq!(header(&owner.get("/api/manage/keys").await, "ratelimit"), r#""network";r=0;t=1"#);
        owner.get("/api/manage/keys").await.expect_error(429, "rate_limited");
    }

    async fn rows_are_counted_against_the_plan(hub: Hub) {
        let owner = hub.network().await;
        // 64 for the row, 9 for its key.
        let size = |data: i64| 64 + 9 + data;
        limit(&hub, &owner, json!({"storageBytes": 1_000})).await;
        put_data(&owner, "kit", &json_text(500)).await.expect(200);
        let refused = put_data(&owner, "two", &json_text(500)).await;
        assert_eq!(exceeded(&refused, "storageBytes", 1_000), size(500));
        // A value not larger than the one it replaces is never refused.
        put_data(&owner, "kit", &json_text(900)).await.expect(200);
        put_data(&owner, "kit", &json_text(900)).await.expect(200);
        put_data(&owner, "kit", &json_text(800)).await.expect(200);
        exceeded(&put_data(&owner, "kit", &json_text(1_000)).await, "storageBytes", 1_000);
        let guilds = json!({"collections": [{"name": "guilds"}]});
        owner.post("/api/plugin/collections/register", guilds).await.expect(200);
        assert_eq!(exceeded(&put_document(&owner, "a", json!({"x": "y".repeat(100)})).await, "storageBytes", 1_000), size(800));
        let doc = json!({"group": "g", "namespace": "n", "doc": "x".repeat(100)});
        exceeded(&owner.post("/api/plugin/config/publish", doc.clone()).await, "storageBytes", 1_000);
        let message = format!("/api/manage/localization/messages/en/core/{}", "k".repeat(60));
        exceeded(&owner.put(&message, json!({"value": "x".repeat(50)})).await, "storageBytes", 1_000);
        let path = format!("/api/plugin/players/{}/data/global/kit", uuid(1));
        owner.delete(&path).await.expect(204);
        put_document(&owner, "a", json!({"x": "y".repeat(100)})).await.expect(200);
        owner.post("/api/plugin/config/publish", doc).await.expect(200);
        owner.put(&message, json!({"value": "x".repeat(50)})).await.expect(200);
        // Another network has its own.
        put_data(&hub.network().await, "kit", &json_text(2_000)).await.expect(200);
    }

    async fn what_is_stored_is_counted(hub: Hub) {
        let owner = hub.network().await;
        put_data(&owner, "kit", &json_text(500)).await.expect(200);
        let guilds = json!({"collections": [{"name": "guilds"}]});
        owner.post("/api/plugin/collections/register", guilds).await.expect(200);
        put_document(&owner, "a", json!(1)).await.expect(200);
        let sums = "SELECT CAST(SUM(documents) AS BIGINT), CAST(SUM(storage_bytes) AS BIGINT) FROM network_usage
                    WHERE network_id = $1";
        let counted = hub.app.db.query(sums).bind(owner.network.unwrap()).one::<(i64, i64)>().await.unwrap();
        assert_eq!(counted, (1, 64 + 9 + 500 + 64 + 6 + 1 + 1));
    }

    async fn modules_over_their_time_leave_the_decision_to_the_hub(hub: Hub) {
        let owner = hub.network().await;
        let wasm = format!("{}/../../plugins/chat-guard/chat-guard.wasm", env!("CARGO_MANIFEST_DIR"));
        let upload = owner.request(Method::POST, "/api/manage/modules?name=chat-guard");
        let wasm = std::fs::read(wasm).unwrap();
        owner.send(upload.header("Content-Type", "application/wasm").body(wasm)).await.expect(201);
        let chain = json!({"modules": [{"name": "chat-guard", "version": 1, "config": {"words": ["hello"], "action": "REFUSE"},
            "onFailure": "REFUSE"}]});
        owner.put("/api/manage/extension-points/chat", chain).await.expect(200);
        chat(&owner).await.expect_error(400, "chat_rejected");
        limit(&hub, &owner, json!({"moduleMillisPerSecond": 0})).await;
        chat(&owner).await.expect(204);
        let point = owner.get("/api/manage/extension-points/chat").await.expect(200).clone();
        assert_eq!(point["modules"][0]["failures"], 0);
        limit(&hub, &owner, json!({"moduleMillisPerSecond": 1_000})).await;
        chat(&owner).await.expect_error(400, "chat_rejected");
    }

    async fn wrong_keys_of_an_address_are_limited_and_valid_ones_pass(hub: Hub) {
        let owner = hub.network().await;
        // Well-formed, but no existing key.
        let gone = owner.key_with(&["network:manage"]).await;
        let id = &gone.key.as_deref().unwrap()[4..16];
        owner.delete(&format!("/api/manage/keys/{id}")).await.expect(204);
        let malformed = hub.with_key("hub_nonsense");
        let mut refused = 0;
        for attempt in 0..210 {
            let wrong = if attempt % 2 == 0 { &gone } else { &malformed };
            let answer = wrong.get("/api/manage/keys").await;
            if answer.status.as_u16() == 401 {
                answer.expect_error(401, "unauthenticated");
                continue;
            }
            answer.expect_error(429, "rate_limited");
            assert_eq!(header(&answer, "retry-after"), "1");
            assert_eq!(header(&answer, "ratelimit-policy"), r#""wrong-keys";q=200;w=10"#);
            refused += 1;
        }
        assert_eq!(refused, 10);
        owner.get("/api/manage/keys").await.expect(200);
        // Also one that was not used before.
        owner.key_with(&["network:manage"]).await.get("/api/manage/keys").await.expect(200);
        hub.anonymous().get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        hub.advance_ms(50);
        gone.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
        gone.get("/api/manage/keys").await.expect_error(429, "rate_limited");
    }

    async fn public_routes_are_limited_by_address(hub: Hub) {
        let anonymous = hub.anonymous();
        for _ in 0..500 {
            anonymous.get("/api/artifacts/nothing").await.expect_error(403, "invalid_link");
        }
        anonymous.get("/api/artifacts/nothing").await.expect_error(429, "rate_limited");
        anonymous.get("/api/openapi.json").await.expect_error(429, "rate_limited");
        anonymous.get("/healthz").await.expect(200);
        anonymous.get("/readyz").await.expect(200);
        hub.network().await.get("/api/manage/keys").await.expect(200);
        hub.advance_ms(20);
        anonymous.get("/api/openapi.json").await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_proxy_each_client_has_its_own_wrong_keys() {
    let trust = |settings: &mut hub::config::Settings| settings.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let hub = Hub::start_with(Backend::sqlite(), trust).await;
    let wrong = hub.with_key("hub_nonsense");
    let from = async |address: &str| {
        let request = wrong.request(Method::GET, "/api/manage/keys").header("X-Forwarded-For", address);
        wrong.send(request).await.status.as_u16()
    };
    for _ in 0..200 {
        assert_eq!(from("203.0.113.1").await, 401);
    }
    assert_eq!(from("203.0.113.1").await, 429);
    assert_eq!(from("203.0.113.2").await, 401);
}

/// Output of `hub …` on this database.
fn run(backend: &Backend, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_hub")).args(arguments).args(backend.options()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

async fn the_commands_work_on_the_database_of_a_serving_hub(backend: Backend) {
    let hub = Hub::start(backend.clone()).await;
    let (owner, operator) = (hub.network().await, hub.operator().await);
    let id = owner.network.unwrap().to_string();
    let json = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    let limits = ["--limit", "requestsPerSecond=1", "--limit", "servers=5", "--module-limit", "chat.computeMillis=4"];
    let created =
        run(&backend, &[["admin", "plan", "create", "small", "--json"].as_slice(), &limits].concat()).unwrap();
    assert_eq!(json(created)["limits"]["servers"], 5);
    let shown = operator.get("/api/admin/plans/small").await.expect(200).clone();
    assert_eq!((&shown["limits"]["servers"], &shown["moduleLimits"]["chat"]["computeMillis"]), (&json!(5), &json!(4)));
    run(&backend, &["admin", "network", "set", &id, "--plan", "small", "--name", "renamed"]).unwrap();
    hub.advance_ms(1_000);
    owner.get("/api/manage/keys").await.expect(200);
    owner.get("/api/manage/keys").await.expect_error(429, "rate_limited");
    run(&backend, &["admin", "plan", "set", "small", "--limit", "requestsPerSecond=none", "--limit", "keys=2"])
        .unwrap();
    hub.advance_ms(1_000);
    for _ in 0..3 {
        owner.get("/api/manage/keys").await.expect(200);
    }
    let plans = json(run(&backend, &["admin", "plan", "list", "--json"]).unwrap());
    let small = plans.as_array().unwrap().iter().find(|plan| plan["name"] == "small").unwrap();
    assert_eq!((&small["limits"]["keys"], &small["limits"]["servers"]), (&json!(2), &json!(5)));
    let shown = run(&backend, &["admin", "plan", "list"]).unwrap();
    assert!(["servers=5", "keys=2", "chat.computeMillis=4"].iter().all(|limit| shown.contains(limit)), "{shown}");
    assert!(run(&backend, &["admin", "plan", "delete", "small"]).unwrap_err().contains("`renamed`"));
    let wrong = run(&backend, &["admin", "plan", "set", "small", "--limit", "cats=1"]).unwrap_err();
    assert!(wrong.contains("unknown limit `cats`"), "{wrong}");
    let wrong = run(&backend, &["admin", "plan", "set", "small", "--limit", "servers=-1"]).unwrap_err();
    assert!(wrong.contains("`servers`"), "{wrong}");
    let networks = json(run(&backend, &["admin", "network", "list", "--json"]).unwrap());
    let listed = networks.as_array().unwrap().iter().find(|network| network["networkId"] == id.as_str()).unwrap();
    assert_eq!(
        (&listed["name"], &listed["plan"], &listed["suspended"]),
        (&json!("renamed"), &json!("small"), &json!(false))
    );
    assert!(run(&backend, &["admin", "network", "list"]).unwrap().contains("renamed"));
    run(&backend, &["admin", "network", "set", "renamed", "--plan", "default"]).unwrap();
    run(&backend, &["admin", "plan", "delete", "small"]).unwrap();
    assert!(run(&backend, &["admin", "plan", "delete", "default"]).is_err());
}

on_each! { the_commands_work_on_the_database_of_a_serving_hub }

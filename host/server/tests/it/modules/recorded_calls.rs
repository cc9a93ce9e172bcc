//! Recorded calls.

use serde_json::{Value, json};

use super::{chain, refused, say, upload, wasm};
use crate::servers::{register, uuid};
use crate::support::{Backend, Client, Hub, NOW, on_both};

pub(super) async fn calls(owner: &Client, point: &str, query: &str) -> Value {
    owner.get(&format!("/api/manage/extension-points/{point}/calls{query}")).await.expect(200).clone()
}

pub(super) async fn call(owner: &Client, point: &str, listed: &Value) -> Value {
    let id = listed["callId"].as_str().unwrap();
    owner.get(&format!("/api/manage/extension-points/{point}/calls/{id}")).await.expect(200).clone()
}

on_both! {
    async fn calls_are_recorded_with_all_that_a_replay_needs(hub: Hub) {
        let owner = hub.network().await;
        assert_eq!(calls(&owner, "chat", "").await, json!({"items": [], "offset": 0, "limit": 50, "total": 0}));
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        upload(&owner, "counting", wasm::counting()).await.expect(201);
        let links = json!([
            {"name": "moody", "version": 1, "config": {"a": 1}}, {"name": "counting", "version": 1},
        ]);
        chain(&owner, "chat", links).await.expect(200);
        say(&hub, &owner, "W").await;
        hub.advance_ms(7);
        say(&hub, &owner, "R").await;
        say(&hub, &owner, "T").await;
        say(&hub, &owner, "G").await;

        let all = calls(&owner, "chat", "?limit=2&offset=1").await;
        assert_eq!((&all["total"], all["items"].as_array().unwrap().len()), (&json!(4), 2));
        let all = calls(&owner, "chat", "").await;
        let outcomes = |at: usize| -> Vec<_> {
            let modules = all["items"][at]["modules"].as_array().unwrap();
            modules.iter().map(|it| (it["name"].as_str().unwrap(), it["outcome"].as_str().unwrap())).collect()
        };
        assert_eq!(outcomes(3), [("moody", "ok"), ("counting", "ok")]);
        assert_eq!(outcomes(2), [("moody", "ok")]);
        assert_eq!(outcomes(1), [("moody", "trap"), ("counting", "ok")]);
        assert_eq!((&all["items"][3]["at"], &all["items"][0]["at"]), (&json!(NOW), &json!(NOW + 7)));
        for (query, total) in [
            ("?failed=true", 1), ("?failed=false", 3), ("?module=counting", 3), ("?module=nobody", 0),
            ("?failed=true&module=counting", 0), ("?failed=true&module=moody", 1), ("?failed=false&module=counting", 3),
            ("?failed=true&module=nobody", 0), ("?failed=false&module=nobody", 0), ("?offset=9", 4),
        ] {
            assert_eq!(calls(&owner, "chat", query).await["total"], total, "{query}");
        }

        // The rewritten line is the second module's input.
        let whole = call(&owner, "chat", &all["items"][3]).await;
        assert_eq!((&whole["input"]["message"], &whole["point"]), (&json!("W"), &json!("chat")));
        assert_eq!(whole["ruling"], json!({"decision": {"rewrite": "polite"}, "mute": null}));
        let (moody, counting) = (&whole["modules"][0], &whole["modules"][1]);
        assert_eq!((&moody["config"], &moody["version"]), (&json!({"a": 1}), &json!(1)));
        assert_eq!(moody["output"], whole["ruling"]);
        assert_eq!(counting["input"]["message"], "polite");
        assert_eq!(counting["hostCalls"][0]["call"], "storeIncrement");
        assert_eq!(counting["hostCalls"][0]["answer"]["Ok"]["number"], 1, "{counting}");
        assert!(moody["fuel"].as_u64().unwrap() > 0 && whole["seed"].is_string());
        let trapped = call(&owner, "chat", &all["items"][1]).await;
        assert_eq!((&trapped["modules"][0]["output"], &trapped["modules"][0]["failure"]["code"]), (&Value::Null, &json!("trap")));
        let logged = call(&owner, "chat", &all["items"][0]).await;
        assert_eq!(logged["modules"][0]["logs"], json!([{"level": "INFO", "message": "G"}]));

        // Visible to its own network only, at its own point.
        let id = whole["callId"].as_str().unwrap();
        let other = hub.network().await;
        assert_eq!(calls(&other, "chat", "").await["total"], 0);
        let path = format!("/api/manage/extension-points/chat/calls/{id}");
        other.get(&path).await.expect_error(404, "unknown_call");
        owner.get(&path.replace("chat", "punishment")).await.expect_error(404, "unknown_call");
        owner.get("/api/manage/extension-points/weather/calls").await.expect_error(404, "unknown_point");
        owner.get("/api/manage/extension-points/chat/calls?limit=0").await.expect_error(400, "invalid_request");
        owner.get("/api/manage/extension-points/chat/calls?failed=maybe").await.expect_error(400, "invalid_request");
        owner.key_with(&["plugin"]).await.get(&path).await.expect_error(403, "forbidden_scope");
    }

    async fn nothing_is_recorded_where_no_module_is_active(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "a", json!({})).await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        for player in 1..=2 {
            let find = json!({"playerUuid": uuid(player), "playerName": "p", "serverType": "lobby"});
            owner.post("/api/plugin/matchmaking/find", find).await.expect(200);
            say(&hub, &owner, "hello").await;
            let warn = json!({"playerUuid": uuid(player), "playerName": "p", "type": "WARN", "reason": "spam"});
            owner.post("/api/plugin/punishments/create", warn).await.expect(200);
        }
        for point in ["matchmaking", "chat", "punishment"] {
            assert_eq!(calls(&owner, point, "").await["total"], 0, "{point}");
        }
        chain(&owner, "chat", json!([{"name": "moody", "version": 1, "mode": "SHADOW"}])).await.expect(200);
        say(&hub, &owner, "hello").await;
        assert_eq!(calls(&owner, "chat", "").await["total"], 1);
        // Calls and logs have players' texts.
        let reader = owner.key_with(&["modules:read"]).await;
        let path = "/api/manage/extension-points/chat/calls";
        reader.get(path).await.expect_error(403, "forbidden_scope");
        let id = calls(&owner, "chat", "").await["items"][0]["callId"].as_str().unwrap().to_owned();
        reader.get(&format!("{path}/{id}")).await.expect_error(403, "forbidden_scope");
        reader.get("/api/manage/modules/moody/logs").await.expect_error(403, "forbidden_scope");
        reader.get("/api/manage/modules").await.expect(200);
    }

    async fn failed_calls_are_kept_longer(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        say(&hub, &owner, "T").await;
        for _ in 0..1001 {
            say(&hub, &owner, "hello").await;
        }
        assert_eq!(calls(&owner, "chat", "").await["total"], 1001);
        let failed = calls(&owner, "chat", "?failed=true").await;
        assert_eq!(failed["total"], 1);
        assert_eq!(call(&owner, "chat", &failed["items"][0]).await["input"]["message"], "T");
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    }

    async fn of_many_calls_some_are_recorded_and_all_that_fail(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        let newest = async || {
            let listed = calls(&owner, "chat", "?limit=1").await;
            call(&owner, "chat", &listed["items"][0]).await["input"]["message"].clone()
        };
        for _ in 0..1000 {
            say(&hub, &owner, "first").await;
        }
        say(&hub, &owner, "one too many").await;
        assert_eq!(newest().await, "first");
        say(&hub, &owner, "T").await;
        assert_eq!(newest().await, "T");
        hub.advance_ms(20);
        say(&hub, &owner, "later").await;
        say(&hub, &owner, "at the same time").await;
        assert_eq!(newest().await, "later");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recording_can_be_turned_off() {
    let hub = Hub::start_with(Backend::sqlite(), |settings| settings.record_memory = 0).await;
    let owner = hub.network().await;
    say(&hub, &owner, "hello").await;
    assert_eq!(calls(&owner, "chat", "").await["total"], 0);
}

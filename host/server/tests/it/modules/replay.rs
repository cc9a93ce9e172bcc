//! Replays.

use serde_json::{Value, json};

use super::recorded_calls::calls;
use super::{chain, point, say, upload, wasm};
use crate::support::{Answer, Client, on_both};

async fn replay(owner: &Client, module: &str, body: Value) -> Answer {
    owner.post(&format!("/api/manage/modules/{module}/replay"), body).await
}

fn counts(summary: &Value) -> [u64; 4] {
    ["calls", "same", "different", "failed"].map(|field| summary[field].as_u64().unwrap())
}

on_both! {
    async fn a_version_is_replayed_on_recorded_calls(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "guard", wasm::moody(1)).await.expect(201);
        upload(&owner, "guard", wasm::rude()).await.expect(201);
        chain(&owner, "chat", json!([{"name": "guard", "version": 1}])).await.expect(200);
        for message in ["hello", "W", "T", "R"] {
            say(&hub, &owner, message).await;
        }
        let kept = calls(&owner, "chat", "").await;
        // The version that ran answers and fails the same.
        let same = replay(&owner, "guard/1", json!({"point": "chat"})).await.expect(200).clone();
        assert_eq!((counts(&same), &same["unrecorded"]), ([4, 3, 0, 1], &json!(0)));
        let failed = &same["examples"][0];
        assert_eq!((&failed["recorded"], &failed["failure"]["code"]), (&json!({"failure": "trap"}), &json!("trap")));
        assert_eq!((&failed["callId"], &failed["input"]["message"]), (&kept["items"][1]["callId"], &json!("T")));
        // The next one refuses all.
        let next = replay(&owner, "guard/2", json!({"point": "chat", "last": 3})).await.expect(200).clone();
        assert_eq!(counts(&next), [3, 0, 2, 1]);
        let newest = &next["examples"][0];
        assert_eq!((&newest["recorded"]["decision"], &newest["replayed"]["decision"]),
            (&json!({"refuse": "rude"}), &json!({"refuse": "no"})));
        assert!(newest["fuel"].as_u64().unwrap() > 0);
        // Replays are deterministic.
        assert_eq!(replay(&owner, "guard/2", json!({"point": "chat", "last": 3})).await.expect(200), &next);
        // A replay is not recorded, counted or logged.
        assert_eq!(calls(&owner, "chat", "").await, kept);
        assert_eq!(point(&owner, "chat").await["modules"][0]["calls"], 4);
        assert_eq!(owner.get("/api/manage/modules/guard/logs").await.expect(200)["total"], 1);

        for (module, body, code, status) in [
            ("guard/1", json!({"point": "weather"}), "unknown_point", 404),
            ("guard/1", json!({"point": "punishment"}), "point_not_offered", 400),
            ("guard/9", json!({"point": "chat"}), "unknown_module", 404),
            ("nobody/1", json!({"point": "chat"}), "unknown_module", 404),
            ("guard/1", json!({"point": "chat", "last": 0}), "invalid_request", 400),
            ("guard/1", json!({"point": "chat", "last": 1001}), "invalid_request", 400),
            ("guard/1", json!({"point": "chat", "last": 1, "callId": "x"}), "invalid_request", 400),
            ("guard/1", json!({"point": "chat", "callId": "x"}), "unknown_call", 404),
            ("guard/1", json!({}), "invalid_request", 400),
        ] {
            replay(&owner, module, body).await.expect_error(status, code);
        }
        let reader = owner.key_with(&["modules:read"]).await;
        replay(&reader, "guard/1", json!({"point": "chat"})).await.expect_error(403, "forbidden_scope");
    }

    async fn a_replay_gets_the_recorded_host_answers(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "counting", wasm::counting()).await.expect(201);
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "counting", "version": 1}])).await.expect(200);
        for _ in 0..4 {
            say(&hub, &owner, "hello").await;
        }
        // Long after, when every counter has expired.
        hub.advance_ms(3_600_000);
        let again = replay(&owner, "counting/1", json!({"point": "chat"})).await.expect(200).clone();
        assert_eq!((counts(&again), &again["unrecorded"]), ([4, 4, 0, 0], &json!(0)), "{again}");
        // Host calls that were not recorded are answered like by an empty hub.
        chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        say(&hub, &owner, "hello").await;
        let new = replay(&owner, "counting/1", json!({"point": "chat", "last": 1})).await.expect(200).clone();
        assert_eq!((counts(&new), &new["unrecorded"]), ([1, 1, 0, 0], &json!(1)), "{new}");
        assert_eq!(replay(&owner, "counting/1", json!({"point": "chat", "last": 1})).await.expect(200), &new);
        // The store itself is unchanged.
        chain(&owner, "chat", json!([{"name": "counting", "version": 1}])).await.expect(200);
        for allowed in [true, true, false] {
            let decision = say(&hub, &owner, "hello").await.decision;
            assert_eq!(decision == hub_sandbox::contract::chat::Decision::Allow, allowed);
        }
    }

    async fn one_call_is_replayed_in_detail(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        upload(&owner, "picky", wasm::picky()).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1, "config": {"k": 1}}])).await.expect(200);
        say(&hub, &owner, "D").await;
        let failed = calls(&owner, "chat", "?failed=true").await["items"][0].clone();
        let one = |config: Value| json!({"point": "chat", "callId": failed["callId"], "config": config});
        let report = replay(&owner, "moody/1", one(Value::Null)).await.expect(200).clone();
        assert_eq!((&report["failure"]["code"], &report["recorded"]), (&json!("trap"), &json!({"failure": "trap"})));
        let message = report["failure"]["message"].as_str().unwrap();
        assert!(message.contains("recurse"), "the functions' names: {message}");
        assert_eq!((&report["config"], &report["output"]), (&json!({"k": 1}), &Value::Null));
        assert_eq!((&report["callId"], &report["input"]["message"]), (&failed["callId"], &json!("D")));
        assert_eq!(replay(&owner, "moody/1", one(Value::Null)).await.expect(200), &report);
        // Another module is compared with the call's ruling, with the given configuration or none.
        let other = replay(&owner, "picky/1", one(Value::Null)).await.expect(200).clone();
        assert_eq!((&other["recorded"]["decision"], &other["output"]["decision"]), (&json!("allow"), &json!("allow")));
        assert_eq!(other["config"], json!({}));
        let other = replay(&owner, "picky/1", one(json!({"a": 1}))).await.expect(200).clone();
        assert_eq!((&other["failure"]["code"], &other["logs"][0]["message"]), (&json!("trap"), &json!("no thanks")));
    }
}

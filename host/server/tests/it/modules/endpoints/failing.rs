//! Modules that fail, and effects that the hub refuses: nothing of the request is kept.

use std::time::Duration;

use hub_sandbox::manifest::embed;
use reqwest::Method;
use serde_json::{Value, json};

use super::{by_voter, coins, configure, install, vote};
use crate::modules::wasm::{component, module_of};
use crate::modules::{chain, upload};
use crate::support::{Answer, Client, Hub, on_both};

/// A module that traps for a body of 1 byte, loops for ever for one of 3, has an answer with a cookie for one of 4, takes
/// a while for one of 5, and answers 200 otherwise.
fn fragile() -> Vec<u8> {
    let text = r#"(module
        (memory (export "memory") 4)
        (global $free (mut i32) (i32.const 65536))
        (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32)
            (result i32)
            (local $at i32)
            (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
            (global.set $free (i32.add (local.get $at) (local.get $size)))
            (local.get $at))
        (data (i32.const 1024) "set-cookiea=b")
        (func (export "network-hub:module/endpoints@1.1.0#answer") (param $in i32) (result i32)
            (local $length i32) (local $count i32)
            (local.set $length (i32.load offset=148 (local.get $in)))
            (if (i32.eq (local.get $length) (i32.const 1)) (then unreachable))
            (if (i32.eq (local.get $length) (i32.const 3)) (then (loop $again (br $again))))
            (if (i32.eq (local.get $length) (i32.const 5)) (then
                (loop $again
                    (local.set $count (i32.add (local.get $count) (i32.const 1)))
                    (br_if $again (i32.lt_u (local.get $count) (i32.const 20000000))))))
            (i32.store16 (i32.const 20) (i32.const 200))
            (if (i32.eq (local.get $length) (i32.const 4)) (then
                (i32.store (i32.const 512) (i32.const 1024)) (i32.store (i32.const 516) (i32.const 10))
                (i32.store (i32.const 520) (i32.const 1034)) (i32.store (i32.const 524) (i32.const 3))
                (i32.store (i32.const 24) (i32.const 512)) (i32.store (i32.const 28) (i32.const 1))))
            (i32.const 16)))"#;
    let manifest = json!({"manifest": 1, "contract": "1.1.0", "name": "fragile", "endpoints": [
        {"name": "open", "method": "POST", "path": "open/{id}", "public": true},
    ]});
    let module = component(&module_of("1.1", "endpoints-module", text));
    embed(module, manifest.to_string().as_bytes())
}

async fn sent(owner: &Client, body: &'static str) -> Answer {
    let request = owner.request(Method::POST, "/api/plugin/x/fragile/open/1");
    owner.send(request.header("Idempotency-Key", format!("k{body}")).body(body)).await
}

on_both! {
    async fn a_module_that_fails_is_told_from_the_hub(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "fragile", fragile()).await.expect(201);
        chain(&owner, "endpoints", json!([{"name": "fragile", "version": 1}])).await.expect(200);
        sent(&owner, "ok").await.expect(200);
        for body in ["a", "abc", "abcd"] {
            sent(&owner, body).await.expect_error(502, "module_failed");
        }
        // Failures are not kept, answers are.
        let kept: (i64,) = hub.app.db.query("SELECT COUNT(*) FROM endpoint_answers").one().await.unwrap();
        assert_eq!(kept, (1,));
        let calls = owner.get("/api/manage/extension-points/endpoints/calls").await;
        assert!(calls.body.to_string().contains("trap"), "{}", calls.body);
        let point = owner.get("/api/manage/extension-points/endpoints").await.expect(200)["modules"][0].clone();
        assert_eq!(point["failures"], 3, "{point}");
        let request = owner.request(Method::POST, "/api/plugin/x/fragile/open/2");
        let reused = owner.send(request.header("Idempotency-Key", "kok").body("ok")).await;
        reused.expect_error(400, "idempotency_mismatch");
    }

    async fn a_refused_effect_keeps_nothing(hub: Hub) {
        let owner = hub.network().await;
        // Deliveries take no control characters.
        install(&owner, json!({"delivery": "a\u{7}b"})).await;
        let refused = vote(&owner, &by_voter("1")).await;
        assert_eq!((refused.status.as_u16(), &refused.body["code"]), (502, &json!("refused_effect")));
        assert_eq!((&refused.body["effect"], refused.body["reason"].is_string()), (&json!(1), true), "{}", refused.body);
        assert_eq!(coins(&owner).await, 0, "the effect before it");
        configure(&owner, json!({"delivery": "crate"})).await.expect(200);
        assert_eq!(vote(&owner, &by_voter("1")).await.expect(200), &json!({"votes": 1}), "nor the count");
        assert_eq!(coins(&owner).await, 25);
    }

    async fn a_call_under_way_keeps_nothing_by_rights_of_before(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "fragile", fragile()).await.expect(201);
        let grant = async |scope: &str| {
            let link = json!({"name": "fragile", "version": 1, "grants": {"scopes": [scope]}});
            chain(&owner, "endpoints", json!([link])).await.expect(200);
        };
        grant("economy:write").await;
        // Until one of several is under way while its rights change.
        let mut committed = 0;
        for round in 0.. {
            assert!(round < 200, "all were committed");
            let slow = (0..4).map(|call| {
                let request = owner.request(Method::POST, "/api/plugin/x/fragile/open/1");
                owner.send(request.header("Idempotency-Key", format!("k{round}-{call}")).body("ababa"))
            });
            let scope = if round % 2 == 0 { "events:read" } else { "economy:write" };
            let (answers, ()) = tokio::join!(futures_util::future::join_all(slow), grant(scope));
            let (refused, good): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 503);
            for answer in &good {
                answer.expect(200);
            }
            committed += good.len() as i64;
            let kept = "SELECT COUNT(*) FROM endpoint_answers WHERE network_id = $1";
            let kept: (i64,) = hub.app.db.query(kept).bind(owner.network.unwrap()).one().await.unwrap();
            assert_eq!(kept, (committed,));
            if let Some(answer) = refused.first() {
                answer.expect_error(503, "try_again");
                break;
            }
        }
    }

    async fn a_module_that_cannot_be_loaded_is_tried_again_after_a_pause(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "fragile", fragile()).await.expect(201);
        chain(&owner, "endpoints", json!([{"name": "fragile", "version": 1}])).await.expect(200);
        let set = async |hub: &Hub, state: &'static str| {
            let changed = "UPDATE modules SET state = $2 WHERE network_id = $1 AND name = 'fragile'";
            hub.app.db.write(changed).bind(owner.network.unwrap()).bind(state).execute().await.unwrap();
        };
        set(&hub, "REJECTED").await;
        let hub = hub.restart(Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap());
        sent(&owner, "ok").await.expect_error(503, "module_unavailable");
        // Requests within the pause find it where it was.
        set(&hub, "READY").await;
        hub.advance_ms(999);
        for _ in 0..3 {
            sent(&owner, "ok").await.expect_error(503, "module_unavailable");
        }
        hub.advance_ms(1);
        sent(&owner, "ok").await.expect(200);
        // Neither is a loaded one looked for again.
        set(&hub, "REJECTED").await;
        hub.advance_ms(10_000);
        sent(&owner, "ab").await.expect(200);
    }

    async fn a_stranger_cannot_take_up_keys(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "fragile", fragile()).await.expect(201);
        chain(&owner, "endpoints", json!([{"name": "fragile", "version": 1}])).await.expect(200);
        let stranger = owner.without_key();
        let path = super::public(&owner, "fragile/open/1");
        let request = stranger.request(Method::POST, &path).header("Idempotency-Key", "k").body("ok");
        assert_eq!(stranger.send(request).await.expect(200), &Value::Null);
        let kept: (i64,) = hub.app.db.query("SELECT COUNT(*) FROM endpoint_answers").one().await.unwrap();
        assert_eq!(kept, (0,));
    }
}

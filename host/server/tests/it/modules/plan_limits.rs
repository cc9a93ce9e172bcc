//! Limits of a network's plan for its modules, effective from the next call on.

use std::sync::Arc;
use std::time::Duration;

use hub_sandbox::contract::chat::Decision;
use hub_sandbox::{CallClock, ManualCallClock};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{chain, chain_by_force, point, refused, say, upload, wasm};
use crate::support::{Backend, Client, Hub, on_each};

/// Puts a network on a plan of its own with these limits.
async fn plan(hub: &Hub, owner: &Client, plan: Value) {
    let operator = hub.operator().await;
    let mut plan = plan;
    plan["name"] = json!(format!("plan-{}", hub.app.ids.token(8)));
    operator.post("/api/admin/plans", plan.clone()).await.expect(201);
    let path = format!("/api/admin/networks/{}", owner.network.unwrap());
    operator.send(operator.request(Method::PATCH, &path).json(&json!({"plan": plan["name"]}))).await.expect(200);
}

/// A hub whose clock only advances by a millisecond of computing at each tick of a module.
async fn start(backend: Backend) -> Hub {
    let clock = ManualCallClock::default();
    clock.set_tick(Duration::ZERO, Duration::from_millis(1));
    Hub::start_with(backend, |settings| {
        settings.modules.compute = None;
        // A loop gets to its next tick on a busy machine, too.
        settings.modules.fuel = Some(1_000_000_000);
        settings.modules.clock = CallClock::Manual(clock);
    })
    .await
}

async fn newest_line(owner: &Client, module: &str) -> Value {
    let logs = owner.get(&format!("/api/manage/modules/{module}/logs?limit=1")).await.expect(200).clone();
    logs["items"][0].clone()
}

async fn each_limit_of_a_plan_holds(backend: Backend) {
    let hub = start(backend).await;
    let (owner, other) = (hub.network().await, hub.network().await);
    for owner in [&owner, &other] {
        upload(owner, "moody", wasm::moody(1)).await.expect(201);
        upload(owner, "counting", wasm::counting()).await.expect(201);
    }
    for (module, limits, message, failure) in [
        ("moody", json!({"computeMillis": 3}), "L", "timed_out"),
        ("moody", json!({"fuel": 5}), "hello", "out_of_fuel"),
        ("moody", json!({"memoryBytes": 65_536}), "hello", "out_of_memory"),
        ("counting", json!({"hostCalls": 0}), "hello", "host_call_limit"),
    ] {
        for owner in [&owner, &other] {
            chain(owner, "chat", json!([])).await.expect(200);
            chain_by_force(owner, "chat", json!([{"name": module, "version": 1}])).await.expect(200);
        }
        // Limits of another point have no effect.
        plan(&hub, &owner, json!({"moduleLimits": {"matchmaking": limits}})).await;
        if failure != "timed_out" {
            say(&hub, &owner, message).await;
            assert_eq!(point(&owner, "chat").await["modules"][0]["failures"], 0, "{limits}");
        }
        plan(&hub, &owner, json!({"moduleLimits": {"chat": limits}})).await;
        assert_eq!(say(&hub, &owner, message).await.decision, Decision::Allow);
        let line = newest_line(&owner, module).await;
        assert_eq!(line["failure"], failure, "{limits}: {line}");
        if failure == "timed_out" {
            let said = line["message"].as_str().unwrap();
            assert!(said.contains("3 ms of computing allowed, 3 used"), "{said}");
        } else {
            say(&hub, &other, message).await;
            assert_eq!(point(&other, "chat").await["modules"][0]["failures"], 0, "{limits}");
        }
    }
    chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
    plan(&hub, &owner, json!({"moduleLimits": {"chat": {"logLines": 0}}})).await;
    say(&hub, &owner, "G").await;
    assert_eq!(newest_line(&owner, "moody").await["message"], "1 more lines of this call were dropped.");
}

async fn a_plan_may_allow_more_than_usual(backend: Backend) {
    let hub = start(backend).await;
    let owner = hub.network().await;
    upload(&owner, "moody", wasm::moody(1)).await.expect(201);
    let longer = json!([{"name": "moody", "version": 1, "limits": {"computeMillis": 20}}]);
    chain(&owner, "chat", longer.clone()).await.expect_error(400, "invalid_request");
    plan(&hub, &owner, json!({"moduleLimits": {"chat": {"computeMillis": 30}}})).await;
    chain(&owner, "chat", longer).await.expect(200);
    let used = async || newest_line(&owner, "moody").await["message"].as_str().unwrap().to_owned();
    say(&hub, &owner, "L").await;
    assert!(used().await.contains("20 ms of computing allowed, 20 used"), "{}", used().await);
    // A link has no more than its plan, even if it was stored with more.
    plan(&hub, &owner, json!({"moduleLimits": {"chat": {"computeMillis": 4}}})).await;
    say(&hub, &owner, "L").await;
    assert!(used().await.contains("4 ms of computing allowed, 4 used"), "{}", used().await);
    plan(&hub, &owner, json!({})).await;
    say(&hub, &owner, "L").await;
    assert!(used().await.contains("10 ms of computing allowed, 10 used"), "{}", used().await);
}

async fn modules_compute_as_long_as_the_plan_lets_them(backend: Backend) {
    let hub = start(backend).await;
    let (owner, other) = (hub.network().await, hub.network().await);
    for owner in [&owner, &other] {
        upload(owner, "moody", wasm::moody(1)).await.expect(201);
        chain(owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        plan(&hub, owner, json!({"limits": {"moduleMillisPerSecond": 4}})).await;
        assert_eq!(refused(&say(&hub, owner, "R").await), "rude");
    }
    // Ten milliseconds or a little more are taken from the available four: nothing is left for a second and a half.
    say(&hub, &owner, "L").await;
    for _ in 0..3 {
        assert_eq!(say(&hub, &owner, "R").await.decision, Decision::Allow);
        assert_eq!(refused(&say(&hub, &other, "R").await), "rude");
        hub.advance_ms(499);
    }
    let counted = point(&owner, "chat").await["modules"][0].clone();
    assert_eq!((&counted["calls"], &counted["failures"]), (&json!(2), &json!(1)), "{counted}");
    hub.advance_ms(504);
    assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    // More time is in effect at once.
    say(&hub, &owner, "L").await;
    assert_eq!(say(&hub, &owner, "R").await.decision, Decision::Allow);
    plan(&hub, &owner, json!({"limits": {"moduleMillisPerSecond": null}})).await;
    assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
}

async fn concurrent_calls_follow_the_plan(backend: Backend) {
    let hub = Arc::new(Hub::start(backend).await);
    let owner = hub.network().await;
    upload(&owner, "moody", wasm::moody(1)).await.expect(201);
    upload(&owner, "counting", wasm::counting()).await.expect(201);
    let both = json!([{"name": "moody", "version": 1}, {"name": "counting", "version": 1}]);
    chain(&owner, "chat", both).await.expect(200);
    plan(&hub, &owner, json!({"moduleLimits": {"chat": {"concurrency": 2}}})).await;
    say(&hub, &owner, "hello").await;

    // The rows of the store are locked, so that calls that reach them block there.
    let (held, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (store, network) = (hub.app.module_store.clone(), owner.network.unwrap());
    let holding = tokio::spawn({
        let (held, release) = (Arc::clone(&held), Arc::clone(&release));
        async move {
            let work = store.transaction(async |mut tx| {
                let hold = "UPDATE module_store SET size = size WHERE network_id = $1";
                tx.query(hold).bind(network).execute().await?;
                held.notify_one();
                release.notified().await;
                Ok::<_, hub_db::Error>(())
            });
            work.await.unwrap();
        }
    });
    held.notified().await;
    let begin = || {
        let (hub, owner) = (Arc::clone(&hub), owner.clone());
        tokio::spawn(async move { say(&hub, &owner, "hello").await })
    };
    // The first module refuses it, so that it waits for a permit only.
    let is_refused = async || tokio::time::timeout(Duration::from_millis(200), say(&hub, &owner, "R")).await.is_ok();
    assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    let mut calls = vec![begin(), begin()];
    Hub::eventually("two calls run, and no third", async || !is_refused().await).await;
    plan(&hub, &owner, json!({"moduleLimits": {"chat": {"concurrency": 32}}})).await;
    assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    plan(&hub, &owner, json!({"moduleLimits": {"chat": {"concurrency": 1}}})).await;
    assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    calls.push(begin());
    Hub::eventually("one call runs, and no second", async || !is_refused().await).await;
    release.notify_one();
    holding.await.unwrap();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    for wrong in [0, 33] {
        let body = json!({"name": "wrong", "moduleLimits": {"chat": {"concurrency": wrong}}});
        hub.operator().await.post("/api/admin/plans", body).await.expect_error(400, "invalid_request");
    }
}

on_each! {
    each_limit_of_a_plan_holds
    a_plan_may_allow_more_than_usual
    modules_compute_as_long_as_the_plan_lets_them
    concurrent_calls_follow_the_plan
}

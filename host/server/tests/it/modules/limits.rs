//! Limits of a module's calls in a chain, and late calls.

use std::time::Duration;

use hub_sandbox::contract::chat::Decision;
use hub_sandbox::{CallClock, ManualCallClock};
use serde_json::{Value, json};

use super::{chain, chain_by_force, point, refused, say, upload, wasm};
use crate::support::{Backend, Client, Hub, on_each};

const FUEL: u64 = 1_000_000_000;

/// A hub with the default limits except for fuel, whose clock only advances by a time and a computing time at each tick
/// of a module.
async fn start(backend: Backend, passed: Duration, computed: Duration) -> Hub {
    let clock = ManualCallClock::default();
    clock.set_tick(passed, computed);
    Hub::start_with(backend, |settings| {
        settings.modules.compute = None;
        // A loop gets to its next tick on a busy machine, too.
        settings.modules.fuel = Some(FUEL);
        settings.modules.clock = CallClock::Manual(clock);
    })
    .await
}

async fn newest_line(owner: &Client, module: &str) -> Value {
    let logs = owner.get(&format!("/api/manage/modules/{module}/logs?limit=1")).await.expect(200).clone();
    logs["items"][0].clone()
}

/// A chain of the module with these limits.
#[allow(clippy::needless_pass_by_value, reason = "so that calls read like the body they make")]
fn limited(module: &str, limits: Value) -> Value {
    json!([{"name": module, "version": 1, "limits": limits}])
}

async fn each_limit_holds_for_its_link(backend: Backend) {
    let hub = start(backend, Duration::ZERO, Duration::from_millis(1)).await;
    let owner = hub.network().await;
    upload(&owner, "moody", wasm::moody(1)).await.expect(201);
    upload(&owner, "counting", wasm::counting()).await.expect(201);
    for (module, limits, message, failure) in [
        ("moody", json!({"computeMillis": 3}), "L", "timed_out"),
        ("moody", json!({"fuel": 5}), "hello", "out_of_fuel"),
        ("moody", json!({"memoryBytes": 65_536}), "hello", "out_of_memory"),
        ("counting", json!({"hostCalls": 0}), "hello", "host_call_limit"),
    ] {
        let put = chain_by_force(&owner, "chat", limited(module, limits.clone())).await.expect(200).clone();
        assert_eq!(put["modules"][0]["limits"], limits);
        // Failures that also end a trial cause a warning.
        assert_eq!(put["warnings"].as_array().unwrap().len(), usize::from(failure != "timed_out"), "{put}");
        assert_eq!(say(&hub, &owner, message).await.decision, Decision::Allow);
        let line = newest_line(&owner, module).await;
        assert_eq!(line["failure"], failure, "{limits}: {line}");
        if failure == "timed_out" {
            let said = line["message"].as_str().unwrap();
            assert!(said.ends_with("3 ms of computing allowed, 3 used; waited 0 ms"), "{said}");
        }
        // Without the limits the same call does not fail.
        if failure != "timed_out" {
            chain(&owner, "chat", json!([{"name": module, "version": 1}])).await.expect(200);
            say(&hub, &owner, message).await;
            let counted = point(&owner, "chat").await["modules"][0].clone();
            assert_eq!((&counted["calls"], &counted["failures"]), (&json!(1), &json!(0)), "{counted}");
            assert_eq!(counted.get("limits"), None);
        }
    }
    chain(&owner, "chat", limited("moody", json!({"logLines": 0, "fuel": null}))).await.expect(200);
    say(&hub, &owner, "G").await;
    assert_eq!(newest_line(&owner, "moody").await["message"], "1 more lines of this call were dropped.");

    // They are stored with the chain.
    let hub = hub.restart(Duration::from_secs(1)).await;
    let owner = hub.with_key(owner.key.as_deref().unwrap());
    assert_eq!(point(&owner, "chat").await["modules"][0]["limits"], json!({"logLines": 0}));
}

async fn limits_above_the_plans_are_refused(backend: Backend) {
    let hub = start(backend, Duration::ZERO, Duration::ZERO).await;
    let owner = hub.network().await;
    upload(&owner, "moody", wasm::moody(1)).await.expect(201);
    for (field, most, above, below) in [
        ("computeMillis", 10, json!(11), json!(0)),
        ("fuel", FUEL, json!(FUEL + 1), json!(0)),
        ("memoryBytes", 64 << 20, json!((64 << 20) + 1), json!(65_535)),
        ("hostCalls", 8, json!(9), json!(-1)),
        ("logLines", 64, json!(65), json!(1.5)),
    ] {
        for wrong in [above, below, json!("1"), json!(u64::MAX), json!([])] {
            let refused = chain(&owner, "chat", limited("moody", json!({field: wrong}))).await;
            refused.expect_error(400, "invalid_request");
            let said = refused.body["error"].as_str().unwrap();
            assert!(said.contains(&format!("modules[0].limits.{field}")), "{wrong}: {said}");
        }
        chain(&owner, "chat", limited("moody", json!({field: most}))).await.expect(200);
    }
    chain(&owner, "chat", limited("moody", json!(7))).await.expect_error(400, "invalid_request");
    // Empty limits are not stored.
    for nothing in [json!({}), Value::Null] {
        let put = chain(&owner, "chat", limited("moody", nothing)).await.expect(200).clone();
        assert_eq!(put["modules"][0].get("limits"), None);
    }
}

async fn limits_hold_in_shadows_and_replays(backend: Backend) {
    let hub = start(backend, Duration::ZERO, Duration::from_millis(1)).await;
    let owner = hub.network().await;
    upload(&owner, "moody", wasm::moody(1)).await.expect(201);
    let shadow = json!([
        {"name": "moody", "version": 1},
        {"name": "moody", "version": 1, "mode": "SHADOW", "limits": {"fuel": 5}},
    ]);
    chain_by_force(&owner, "chat", shadow).await.expect(200);
    assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    Hub::eventually("the shadow has failed", async || {
        let shown = point(&owner, "chat").await;
        shown["modules"][1]["shadow"]["failed"] == 1 && shown["modules"][1]["outcomes"]["out_of_fuel"] == 1
    })
    .await;

    chain(&owner, "chat", limited("moody", json!({"fuel": 5}))).await.expect(200);
    assert_eq!(say(&hub, &owner, "R").await.decision, Decision::Allow);
    let replay = json!({"point": "chat", "last": 1});
    let path = "/api/manage/modules/moody/1/replay";
    let first = owner.post(path, replay.clone()).await.expect(200).clone();
    assert_eq!(first["examples"][0]["failure"]["code"], "out_of_fuel", "{first}");
    // A call that ended in its computing time is replayed without one, to its end or to the end of its fuel.
    chain(&owner, "chat", limited("moody", json!({"computeMillis": 1, "fuel": 500_000_000}))).await.expect(200);
    assert_eq!(owner.post(path, replay.clone()).await.expect(200), &first);
    say(&hub, &owner, "L").await;
    assert_eq!(newest_line(&owner, "moody").await["failure"], "timed_out");
    let replayed = owner.post(path, replay.clone()).await.expect(200).clone();
    assert_eq!(replayed["examples"][0]["failure"]["code"], "out_of_fuel", "{replayed}");
    assert_eq!(replayed["examples"][0]["fuel"], 500_000_000);
    assert_eq!(owner.post(path, replay).await.expect(200), &replayed);
}

/// Ticks of a module that gets no processor come 30 ms apart: after four the caller of chat has left.
async fn a_late_call_is_counted_apart_and_fails_nothing(backend: Backend) {
    let hub = start(backend, Duration::from_millis(30), Duration::ZERO).await;
    let owner = hub.network().await;
    upload(&owner, "moody", wasm::moody(1)).await.expect(201);
    let refusing = json!([{"name": "moody", "version": 1, "onFailure": "REFUSE"}]);
    chain(&owner, "chat", refusing).await.expect(200);
    for _ in 0..25 {
        assert_eq!(say(&hub, &owner, "L").await.decision, Decision::Allow);
    }
    let shown = point(&owner, "chat").await["modules"][0].clone();
    assert_eq!((&shown["calls"], &shown["failures"], &shown["late"]), (&json!(25), &json!(0), &json!(25)), "{shown}");
    assert_eq!((&shown["outcomes"], &shown["breaker"]), (&json!({"late": 25}), &json!("CLOSED")), "{shown}");
    assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");

    let line = owner.get("/api/manage/modules/moody/logs?limit=1").await.expect(200)["items"][0].clone();
    assert_eq!((&line["failure"], &line["level"]), (&json!("late"), &json!("WARN")), "{line}");
    let said = line["message"].as_str().unwrap();
    assert!(said.contains("the call was late: 10 ms of computing allowed, 0 used; waited 1"), "{said}");
    // Among the calls it is shown, and not as a failed one.
    let calls = owner.get("/api/manage/extension-points/chat/calls?limit=2").await.expect(200).clone();
    assert_eq!(calls["items"][1]["modules"][0]["outcome"], "late", "{calls}");
    let id = calls["items"][1]["callId"].as_str().unwrap();
    let call = owner.get(&format!("/api/manage/extension-points/chat/calls/{id}")).await.expect(200).clone();
    let module = &call["modules"][0];
    assert_eq!((&module["failure"]["code"], &module["computeMicros"]), (&json!("late"), &json!(0)), "{call}");
    assert!(module["waitedMicros"].as_u64().unwrap() >= 93_000, "{call}");
    let failed = owner.get("/api/manage/extension-points/chat/calls?failed=true").await.expect(200).clone();
    assert_eq!(failed["items"], json!([]));
}

/// All files below a folder.
fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

async fn a_refused_module_leaves_nothing(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    let compiler = super::compiling::waiting_compiler(folder.path());
    std::fs::write(folder.path().join("go"), "").unwrap();
    let hub = Hub::start_with(backend, |settings| settings.modules.compiler = Some(compiler)).await;
    let owner = hub.network().await;
    let cached = || files(&hub.data().join("modules-cache"));
    // Large enough for the store of blobs.
    let large = wasm::padded(wasm::trapping(), 400 << 10);
    upload(&owner, "bad", large.clone()).await.expect_error(400, "invalid_module");
    upload(&owner, "bad", b"no module".to_vec()).await.expect_error(400, "invalid_module");
    assert_eq!((cached(), hub.blobs()), (vec![], vec![]));
    owner.get("/api/manage/modules/bad").await.expect_error(404, "unknown_module");

    // An upload that turns out to be invalid after it was answered.
    std::fs::remove_file(folder.path().join("go")).unwrap();
    let uploading = tokio::spawn({
        let owner = owner.clone();
        async move { upload(&owner, "bad", large).await }
    });
    while !uploading.is_finished() {
        // In small steps, so that blobs being stored do not count as abandoned.
        hub.advance_ms(20_000);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    uploading.await.unwrap().expect(202);
    assert_eq!(hub.blobs().len(), 1);
    std::fs::write(folder.path().join("go"), "").unwrap();
    let settled = super::compiling::until_settled(&owner, "/api/manage/modules/bad/1").await;
    assert_eq!(settled["state"], "REJECTED");
    Hub::eventually("its bytes are gone", async || hub.blobs().is_empty()).await;
    assert_eq!(cached(), Vec::<std::path::PathBuf>::new());
    owner.get("/api/manage/modules/bad/1/wasm").await.expect_error(404, "unknown_module");
    // Accepted modules stay.
    upload(&owner, "good", wasm::padded(wasm::moody(1), 400 << 10)).await.expect(201);
    assert_eq!(cached().len(), 1);
    assert!(!hub.blobs().is_empty());
    owner.delete("/api/manage/modules/bad/1").await.expect(204);
}

on_each! {
    each_limit_holds_for_its_link
    limits_above_the_plans_are_refused
    limits_hold_in_shadows_and_replays
    a_late_call_is_counted_apart_and_fails_nothing
    a_refused_module_leaves_nothing
}

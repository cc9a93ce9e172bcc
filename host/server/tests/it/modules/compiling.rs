//! Uploads that take long to compile, several at once, and calls of a module that loops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hub::modules::service;
use hub_sandbox::FilterChat;
use hub_sandbox::contract::PlayerRef;
use hub_sandbox::contract::chat::{Decision, Line};
use serde_json::{Value, json};

use super::{chain, cli, point, refused, say, upload, wasm};
use crate::support::{Answer, Backend, Client, Hub, on_each};

/// A compiler that waits until the file `go` is there.
pub(super) fn waiting_compiler(folder: &std::path::Path) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let (script, go) = (folder.join("compiler"), folder.join("go"));
    let hub = env!("CARGO_BIN_EXE_hub");
    let text = format!("#!/bin/sh\nwhile [ ! -e '{}' ]; do /bin/sleep 0.02; done\nexec '{hub}' \"$@\"\n", go.display());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    script
}

/// Advances the hub's clock by 20 s until the upload, which waits for that, is answered.
async fn slow_upload(hub: &Hub, owner: &Client, name: &str, bytes: Vec<u8>) -> Answer {
    let (owner, name) = (owner.clone(), name.to_owned());
    let upload = tokio::spawn(async move { upload(&owner, &name, bytes).await });
    while !upload.is_finished() {
        hub.advance_ms(20_000);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    upload.await.unwrap()
}

pub(super) async fn until_settled(owner: &Client, path: &str) -> Value {
    loop {
        let module = owner.get(path).await.expect(200).clone();
        if module["state"] != "COMPILING" {
            return module;
        }
    }
}

/// Uploads that stall hold their permits.
async fn a_network_has_four_uploads_at_once(backend: Backend) {
    let hub = Hub::start(backend).await;
    let (owner, other) = (hub.network().await, hub.network().await);
    let request = format!(
        "POST /api/manage/modules?name=stalled HTTP/1.1\r\nHost: hub\r\nX-Service-Api-Key: {}\r\nContent-Length: 1000\r\n\r\nhalf",
        owner.key.as_ref().unwrap(),
    );
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let mut stream = tokio::net::TcpStream::connect(hub.address()).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
        stalled.push(stream);
    }
    // The first ones may come before the last of these.
    let mut tries = 0..100;
    let refused = loop {
        tries.next().expect("it is refused");
        let answer = slow_upload(&hub, &owner, "moody", wasm::moody(1)).await;
        if answer.status == 429 {
            break answer;
        }
    };
    refused.expect_error(429, "rate_limited");
    assert!(refused.headers.contains_key("retry-after"));
    upload(&other, "moody", wasm::moody(1)).await.expect(201);
    stalled.pop();
    upload(&owner, "moody", wasm::moody(2)).await.expect(201);
}

async fn a_slow_upload_is_answered_before_it_is_ready(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    let compiler = waiting_compiler(folder.path());
    let hub = Hub::start_with(backend, |settings| settings.modules.compiler = Some(compiler)).await;
    let owner = hub.network().await;
    let slow = slow_upload(&hub, &owner, "slow", wasm::moody(1)).await.expect(202).clone();
    assert_eq!((&slow["state"], &slow["version"], &slow["points"]), (&json!("COMPILING"), &json!(1), &json!([])));
    let bad = slow_upload(&hub, &owner, "bad", wasm::trapping()).await.expect(202).clone();
    assert_eq!(bad["state"], "COMPILING");
    assert_eq!(upload(&owner, "slow", wasm::moody(1)).await.expect(202)["version"], 1);
    chain(&owner, "chat", json!([{"name": "slow", "version": 1}])).await.expect_error(400, "module_not_ready");

    std::fs::write(folder.path().join("go"), "").unwrap();
    let slow = until_settled(&owner, "/api/manage/modules/slow/1").await;
    assert_eq!((&slow["state"], &slow["points"]), (&json!("READY"), &json!(["chat"])));
    let bad = until_settled(&owner, "/api/manage/modules/bad/1").await;
    assert_eq!(bad["state"], "REJECTED");
    assert!(bad["reason"].as_str().unwrap().contains("trial call"), "{bad}");
    upload(&owner, "bad", wasm::trapping()).await.expect_error(400, "invalid_module");
    chain(&owner, "chat", json!([{"name": "bad", "version": 1}])).await.expect_error(400, "module_not_ready");
    chain(&owner, "chat", json!([{"name": "slow", "version": 1}])).await.expect(200);
    assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
}

async fn a_push_waits_until_the_module_is_ready(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    let compiler = waiting_compiler(folder.path());
    let hub = Hub::start_with(backend, |settings| settings.modules.compiler = Some(compiler)).await;
    let owner = hub.network().await;
    let file = folder.path().join("slow.wasm");
    std::fs::write(&file, wasm::moody(1)).unwrap();
    let arguments = ["push", file.to_str().unwrap(), "--activate", "chat"];
    let compile = async {
        while owner.get("/api/manage/modules/slow/1").await.status != 200 {
            hub.advance_ms(20_000);
        }
        std::fs::write(folder.path().join("go"), "").unwrap();
    };
    let (pushed, ()) = tokio::join!(cli::succeed(&hub, &owner, &arguments), compile);
    assert_eq!(pushed, "slow version 1 is READY\nchat: slow 1\n");
}

async fn a_compilation_interrupted_by_a_stop_is_resumed(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    let compiler = waiting_compiler(folder.path());
    let hub = Hub::start_with(backend, |settings| settings.modules.compiler = Some(compiler)).await;
    let owner = hub.network().await;
    slow_upload(&hub, &owner, "slow", wasm::moody(1)).await.expect(202);
    let hub = hub.restart(Duration::from_secs(90)).await;
    std::fs::write(folder.path().join("go"), "").unwrap();
    let owner = hub.with_key(owner.key.as_deref().unwrap());
    assert_eq!(until_settled(&owner, "/api/manage/modules/slow/1").await["state"], "READY");
}

/// While a module loops the hub answers all other requests, and the loop ends at its deadline.
async fn a_looping_module_is_stopped_and_blocks_no_other(backend: Backend) {
    let hub = Hub::start_with(backend, |settings| {
        settings.modules.compute = Some(Duration::from_millis(200));
        // Each loop ends soon, also on a busy machine.
        settings.modules.fuel = Some(5_000_000);
    })
    .await;
    let owner = hub.network().await;
    upload(&owner, "moody", wasm::moody(1)).await.expect(201);
    chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
    let (app, network) = (hub.app.clone(), owner.network.unwrap());
    let open = Arc::new(AtomicBool::new(false));
    let loops: Vec<_> = (0..16)
        .map(|_| {
            let (app, open, line) = (
                app.clone(),
                open.clone(),
                Line {
                    player: PlayerRef { uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5".into(), name: "Notch".into() },
                    message: "L".into(),
                    server_id: "lobby-1".into(),
                    server_type: "lobby".into(),
                    world: None,
                    rank: None,
                },
            );
            // A network's calls compute a few at a time, and the others are late. Those do not count as the module's
            // failures, so on a busy machine it takes many calls until the breaker opens.
            tokio::spawn(async move {
                for _ in 0..200 {
                    if open.load(Ordering::Relaxed) {
                        return;
                    }
                    let decision = service::call::<FilterChat>(&app, network, line.clone()).await;
                    assert_eq!(decision.decision, Decision::Allow);
                }
            })
        })
        .collect();
    // More loops than threads of the test's runtime, and requests are answered nevertheless.
    while !loops.iter().all(tokio::task::JoinHandle::is_finished) {
        let shown = point(&owner, "chat").await;
        open.fetch_or(shown["modules"][0]["breaker"] == "OPEN", Ordering::Relaxed);
    }
    for decision in loops {
        decision.await.unwrap();
    }
    let shown = point(&owner, "chat").await;
    assert!(shown["modules"][0]["failures"].as_u64().unwrap() >= 20, "{shown}");
    assert_eq!(shown["modules"][0]["breaker"], "OPEN");
    let logs = owner.get("/api/manage/modules/moody/logs").await.expect(200).clone();
    let failures: Vec<_> = logs["items"].as_array().unwrap().iter().map(|line| line["failure"].clone()).collect();
    assert!(failures.iter().any(|code| code == "timed_out" || code == "out_of_fuel"), "{failures:?}");
}

on_each! {
    a_slow_upload_is_answered_before_it_is_ready
    a_network_has_four_uploads_at_once
    a_push_waits_until_the_module_is_ready
    a_compilation_interrupted_by_a_stop_is_resumed
    a_looping_module_is_stopped_and_blocks_no_other
}

//! Instances that serve several calls.

use crate::support::{NOW, TestSandbox, call, chain, config, line, link_as, starter};
use crate::wat::{chat_module, verdict};
use hub_sandbox::contract::chat::{Decision, Verdict};
use hub_sandbox::{Chain, FilterChat, Instances, Mode, ModuleHandle, Outcome, Sandbox, SandboxConfig};
use std::time::Duration;

/// A chat module that refuses each line with a reason of as many letters as calls in its memory, including this one. It
/// traps on lines of more than sixteen bytes. `body` runs before.
fn remembering(body: &str) -> Vec<u8> {
    let body = format!(
        "{body}
        (if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16)) (then (unreachable)))
        (global.set $count (i32.add (global.get $count) (i32.const 1)))
        (i32.store (i32.const 72) (global.get $count))"
    );
    chat_module(&body, &format!("(global $count (mut i32) (i32.const 0)) {}", verdict(2, 1, None)))
}

const LONG: &str = "a line of more than sixteen bytes";

fn reused(module: &ModuleHandle) -> Chain {
    chain(&[link_as(Mode::Active, Instances::Reused, module.clone(), "m", "{}")])
}

async fn say(sandbox: &Sandbox, chain: &Chain, message: &str) -> Outcome<Verdict, Verdict> {
    sandbox.run_chain::<FilterChat>(chain, &call(NOW), line(message)).await
}

/// Number of calls that the instance of each call has had; 0 for a failed one.
async fn remembered(sandbox: &Sandbox, chain: &Chain, messages: &[&str]) -> Vec<usize> {
    let mut counts = vec![];
    for message in messages {
        counts.push(match say(sandbox, chain, message).await.ruling.decision {
            Decision::Refuse(reason) => reason.len(),
            _ => 0,
        });
    }
    counts
}

#[tokio::test]
async fn memory_survives_only_in_reused_instances_of_the_same_link() {
    let test = TestSandbox::new();
    let module = test.module(remembering("")).await;
    let fresh = chain(&[link_as(Mode::Active, Instances::Fresh, module.clone(), "m", "{}")]);
    let (one, other) = (reused(&module), reused(&module));
    assert_eq!(remembered(&test.sandbox, &one, &["a"; 4]).await, [1, 2, 3, 4]);
    // Another link, even of the same module, has its own.
    assert_eq!(remembered(&test.sandbox, &other, &["a"; 2]).await, [1, 2]);
    assert_eq!(remembered(&test.sandbox, &fresh, &["a"; 2]).await, [1, 1]);
    assert_eq!(remembered(&test.sandbox, &one, &["a"; 2]).await, [5, 6]);
}

#[tokio::test]
async fn an_instance_that_failed_is_not_used_again() {
    let test = TestSandbox::new();
    let chain = reused(&test.module(remembering("")).await);
    assert_eq!(remembered(&test.sandbox, &chain, &["a", "a", LONG, "a", "a"]).await, [1, 2, 0, 1, 2]);
    // Nor is an instance with an invalid answer reused: more than 256 letters.
    let counts = remembered(&test.sandbox, &chain, &["a"; 260]).await;
    assert_eq!((counts[253], counts[254], counts[255]), (256, 0, 1), "{counts:?}");
}

#[tokio::test]
async fn an_instance_that_grew_past_half_of_its_limit_is_not_used_again() {
    let test = TestSandbox::new();
    let grows = |pages: u32| remembering(&format!("(drop (memory.grow (i32.const {pages})))"));
    // 64 MiB are 1,024 pages: ten more each time exceed half of that with the 52nd call.
    let chain = reused(&test.module(grows(10)).await);
    let counts = remembered(&test.sandbox, &chain, &["a"; 60]).await;
    assert_eq!((counts[51], counts[52]), (52, 1), "{counts:?}");
}

#[tokio::test]
async fn limits_logs_and_counters_are_each_calls_own() {
    let test = TestSandbox::new();
    let guard = test.module(starter("chat-guard")).await;
    let flood = r#"{"flood": {"messages": 20, "perMs": 60000}}"#;
    let chain = chain(&[link_as(Mode::Active, Instances::Reused, guard, "guard", flood)]);
    let mut fuel = vec![];
    for _ in 0..12 {
        let outcome = say(&test.sandbox, &chain, "hi").await;
        let report = outcome.steps[0].report.as_ref().unwrap();
        assert_eq!((report.result.is_ok(), report.host_calls.len()), (true, 1));
        fuel.push(report.fuel);
    }
    // Each has all of the fuel, and reports its own use.
    assert!(fuel.iter().all(|used| used.abs_diff(fuel[0]) < fuel[0] / 2), "{fuel:?}");
    let logs = chat_module("(call $log (i32.const 1) (i32.const 512) (i32.const 2))", r#"(data (i32.const 512) "hi")"#);
    let chain = reused(&test.module(logs).await);
    for _ in 0..3 {
        let outcome = say(&test.sandbox, &chain, "hi").await;
        assert_eq!(outcome.steps[0].report.as_ref().unwrap().logs.len(), 1);
    }
}

fn sandbox_with(change: impl FnOnce(&mut SandboxConfig)) -> (Sandbox, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    change(&mut config);
    (Sandbox::new(config).unwrap(), folder)
}

#[tokio::test]
async fn an_instance_that_was_idle_for_too_long_is_not_used_again() {
    let (sandbox, _folder) = sandbox_with(|config| config.reused_idle_timeout = Duration::ZERO);
    let prepared = sandbox.prepare(remembering("")).await.unwrap();
    let chain = reused(&crate::support::load(&sandbox, prepared).await);
    assert_eq!(remembered(&sandbox, &chain, &["a"; 3]).await, [1, 1, 1]);
}

#[tokio::test]
async fn a_full_pool_keeps_no_instance() {
    for (instances, bytes, expected) in [(0, 1 << 30, [1, 1, 1]), (8, 0, [1, 1, 1]), (8, 1 << 30, [1, 2, 3])] {
        let (sandbox, _folder) = sandbox_with(|config| {
            config.reused_instances = instances;
            config.reused_bytes = bytes;
        });
        let prepared = sandbox.prepare(remembering("")).await.unwrap();
        let chain = reused(&crate::support::load(&sandbox, prepared).await);
        assert_eq!(remembered(&sandbox, &chain, &["a"; 3]).await, expected, "{instances} {bytes}");
    }
}

#[tokio::test]
async fn an_instance_outlives_the_cached_code() {
    // The cache holds nothing: each call loads the code from disk.
    let (sandbox, _folder) = sandbox_with(|config| config.cache_bytes = 0);
    let prepared = sandbox.prepare(remembering("")).await.unwrap();
    let chain = reused(&crate::support::load(&sandbox, prepared).await);
    assert_eq!(remembered(&sandbox, &chain, &["a"; 4]).await, [1, 2, 3, 4]);
}

/// The engine's pool has room for four calls and two idle instances.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_instances_take_no_room_from_calls() {
    let (sandbox, _folder) = sandbox_with(|config| config.reused_instances = 2);
    let prepared = sandbox.prepare(remembering("")).await.unwrap();
    let module = crate::support::load(&sandbox, prepared).await;
    let calls = (0..8).map(|_| {
        let (sandbox, chain) = (sandbox.clone(), reused(&module));
        tokio::spawn(async move {
            for _ in 0..40 {
                let outcome = say(&sandbox, &chain, "a").await;
                assert!(outcome.steps[0].report.as_ref().unwrap().result.is_ok(), "{outcome:?}");
            }
        })
    });
    for calls in calls.collect::<Vec<_>>() {
        calls.await.unwrap();
    }
}

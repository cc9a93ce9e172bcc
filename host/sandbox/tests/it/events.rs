//! Modules that handle events.

use crate::support::{StoreHost, TestSandbox, event, line, load, relaxed_limits, starter};
use crate::wat::later_module;
use hub_sandbox::contract::effects::{Action, ChatTarget};
use hub_sandbox::contract::events::Failure;
use hub_sandbox::contract::schedules::{Tick, Timer};
use hub_sandbox::contract::state::{StateEntry, StateRead, StateWrite};
use hub_sandbox::contract::{HostError, Point};
use hub_sandbox::manifest::{Manifest, embed};
use hub_sandbox::{
    BoxFuture, CallFailure, CallReport, EmptyHost, FilterChat, FireTimer, HandleEvent, Handled, Host, HostAnswer,
    HostCall, Limits, RunTick,
};
use std::sync::Arc;

const MANIFEST: &str = r#"{"manifest": 1, "events": {"types": ["FIRST_JOIN"]}}"#;

/// A module that handles events, with this body and manifest.
fn handler_with(manifest: &str, body: &str, more: &str) -> Vec<u8> {
    embed(later_module("events-module", "events@1.1.0#handle", body, more), manifest.as_bytes())
}

fn handler(body: &str, more: &str) -> Vec<u8> {
    handler_with(MANIFEST, body, more)
}

/// Every key of its state has the value `5`; lists have `a` to `c`.
struct StateHost;

impl Host for StateHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        let entry = |key: &str| StateEntry { key: key.into(), value: "5".into() };
        Box::pin(std::future::ready(match call {
            HostCall::StateGet { keys } => Ok(HostAnswer::Values(vec![Some("5".into()); keys.len()])),
            HostCall::StateList { limit, .. } => {
                Ok(HostAnswer::Entries(["a", "b", "c"].map(entry).into_iter().take(*limit as usize).collect()))
            }
            _ => Err(HostError::Unavailable),
        }))
    }
}

async fn handle(upload: Vec<u8>) -> CallReport<Handled> {
    let test = TestSandbox::new();
    let module = test.module(upload).await;
    test.call_with::<HandleEvent>(
        &module,
        relaxed_limits(Point::Events),
        Arc::new(StateHost),
        "{}",
        event("FIRST_JOIN"),
    )
    .await
}

#[tokio::test]
async fn a_handler_is_recognised_by_its_export() {
    let test = TestSandbox::new();
    let prepared = test.sandbox.prepare(handler("", "")).await.unwrap();
    assert_eq!((prepared.points.as_slice(), prepared.world_version.as_str()), (&[Point::Events][..], "1.1.0"));
    assert_eq!(prepared.manifest, Some(Manifest::parse(MANIFEST.as_bytes()).unwrap()));
    let module = load(&test.sandbox, prepared).await;
    assert_eq!(module.points(), [Point::Events]);
    let host = Arc::new(EmptyHost);
    let report = test.call_with::<HandleEvent>(&module, relaxed_limits(Point::Events), host, "{}", event("X")).await;
    assert_eq!(report.result, Ok(Handled::default()));
}

#[test]
fn handlers_have_their_own_limits() {
    let limits = Limits::of(Point::Events);
    assert_eq!((limits.compute.as_millis(), limits.fuel, limits.host_calls), (100, 400_000_000, 32));
    assert_eq!((limits.wait.as_secs(), limits.with_compute(limits.compute / 2).wait.as_secs()), (30, 30));
}

#[tokio::test]
async fn a_manifest_declares_what_is_exported() {
    let test = TestSandbox::new();
    let bare = later_module("events-module", "events@1.1.0#handle", "", "");
    let why = test.refusal(bare.clone()).await;
    assert!(why.contains("exports events and has no manifest"), "{why}");
    for (manifest, reason) in [
        (r#"{"manifest": 1}"#, "`/events`: the module exports `events`"),
        (r#"{"manifest": 1, "events": {"types": ["TRANSFER"]}}"#, "`/events/types/0`: TRANSFER is never handed"),
        (r#"{"manifest": 1, "timers": true, "events": {"types": ["CHAT"]}}"#, "`/timers`: the module does not export"),
        ("{", "its manifest is invalid: EOF"),
    ] {
        let why = test.refusal(embed(bare.clone(), manifest.as_bytes())).await;
        assert!(why.contains(reason), "{why}");
    }
    let why = test.refusal(embed(handler("", ""), MANIFEST.as_bytes())).await;
    assert!(why.contains("two custom sections"), "{why}");
    let chat = later_module("chat-module", "chat@1.1.0#filter", "", "");
    assert_eq!(test.sandbox.prepare(chat.clone()).await.unwrap().manifest, None);
    let why = test.refusal(embed(chat, MANIFEST.as_bytes())).await;
    assert!(why.contains("`/events`: the module does not export `events`"), "{why}");
}

/// Keys at 512: `a`, and `n`; a value at 520: `bb`.
const TEXTS: &str = r#"(data (i32.const 512) "an") (data (i32.const 520) "bb")"#;
const GET_A: &str = "(call $get (i32.const 512) (i32.const 1) (i32.const 128))";
const SET_A: &str = "(call $set (i32.const 512) (i32.const 1) (i32.const 520) (i32.const 2) (i32.const 0) (i64.const 0) (i32.const 128))";
const ADD_N: &str =
    "(call $increment (i32.const 513) (i32.const 1) (i64.const 3) (i32.const 1) (i64.const 9) (i32.const 128))";

#[tokio::test]
async fn reads_and_writes_of_the_state_end_with_the_call() {
    let body = [GET_A, SET_A, GET_A, ADD_N, ADD_N].concat();
    let report = handle(handler(&body, TEXTS)).await;
    let state = report.result.unwrap().state;
    assert_eq!(state.reads, [StateRead::Key { key: "a".into(), value: Some("5".into()) }]);
    let expected = [
        StateWrite::Set { key: "a".into(), value: "bb".into(), ttl_ms: None },
        StateWrite::Increment { key: "n".into(), by: 6, ttl_ms: Some(9) },
    ];
    assert_eq!(state.writes, expected);
    assert_eq!(report.host_calls.len(), 1);
}

#[tokio::test]
async fn a_call_that_only_counts_reads_nothing() {
    let report = handle(handler(ADD_N, TEXTS)).await;
    assert_eq!(report.result.unwrap().state.reads, []);
    assert!(report.host_calls.is_empty());
}

#[tokio::test]
async fn a_list_is_read_as_a_whole() {
    let body = format!(
        "{SET_A} (call $list (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2) (i32.const 128))"
    );
    let state = handle(handler(&body, TEXTS)).await.result.unwrap().state;
    let [StateRead::List { prefix, after, limit, entries }] = &state.reads[..] else { panic!("{state:?}") };
    assert_eq!((prefix.as_str(), after.as_ref(), *limit, entries.len()), ("", None, 2, 2));
}

#[tokio::test]
async fn every_call_of_the_state_counts() {
    let loops = |times: u32| {
        let again = format!("(br_if $again (i32.lt_u (local.get $count) (i32.const {times})))");
        handler(
            &format!("(loop $again {ADD_N} (local.set $count (i32.add (local.get $count) (i32.const 1))) {again})"),
            TEXTS,
        )
    };
    assert!(handle(loops(32)).await.result.is_ok());
    let why = TestSandbox::new().refusal(loops(33)).await;
    assert!(why.contains("more host calls than its limit"), "{why}");
}

#[tokio::test]
async fn a_handler_has_no_store() {
    // The tag of the error follows that of the result: `unavailable` is the third.
    let body = "(call $store_get (i32.const 512) (i32.const 1) (i32.const 128))
        (if (i32.ne (i32.load8_u (i32.const 132)) (i32.const 2)) (then unreachable))";
    let report = handle(handler(body, TEXTS)).await;
    assert!(report.result.is_ok() && report.host_calls.is_empty(), "{report:?}");
}

#[tokio::test]
async fn an_override_reads_the_state_and_does_not_write_it() {
    let refused = "(if (i32.ne (i32.load8_u (i32.const 128)) (i32.const 1)) (then unreachable))";
    let chat = later_module("chat-module", "chat@1.1.0#filter", &[GET_A, SET_A, refused].concat(), TEXTS);
    let test = TestSandbox::new();
    let module = test.module(chat).await;
    let limits = relaxed_limits(Point::Chat);
    let report = test.call_with::<FilterChat>(&module, limits, Arc::new(StateHost), "{}", line("hello")).await;
    assert!(report.result.is_ok(), "{report:?}");
    assert_eq!(report.host_calls.len(), 1);
}

#[tokio::test]
async fn too_many_effects_are_an_invalid_answer() {
    // 65 effects of zeros: they change the currency "" by 0.
    let why = TestSandbox::new().refusal(handler("", r#"(data (i32.const 64) "\00\00\00\00\00\40\00\00\41")"#)).await;
    assert!(why.contains("65 effects are more than 64"), "{why}");
    let report = handle(handler("", r#"(data (i32.const 64) "\00\00\00\00\00\40\00\00\40")"#)).await;
    assert_eq!(report.result.unwrap().answer.unwrap().len(), 64);
}

#[tokio::test]
async fn a_failure_of_its_own_passes_the_trial() {
    for (tag, failure) in [(0, Failure::Retry("no".into())), (1, Failure::Reject("no".into()))] {
        let answer = format!(
            r#"(data (i32.const 64) "\01\00\00\00\{tag:02x}\00\00\00\00\02\00\00\02") (data (i32.const 512) "no")"#
        );
        assert_eq!(handle(handler("", &answer)).await.result.unwrap().answer, Err(failure));
    }
}

#[tokio::test]
async fn a_trap_and_an_endless_loop_fail_the_trial() {
    let why = TestSandbox::new().refusal(handler("unreachable", "")).await;
    assert!(why.contains("its trial call of events.handle failed: the module trapped"), "{why}");
    let why = TestSandbox::new().refusal(handler("(loop $again (br $again))", "")).await;
    assert!(why.contains("used up its fuel"), "{why}");
}

#[tokio::test]
async fn daily_reward_pays_once_a_day() {
    let test = TestSandbox::new();
    let module = test.module(starter("daily-reward")).await;
    let limits = relaxed_limits(Point::Events);
    let handle = async |host: Arc<dyn Host>| {
        test.call_with::<HandleEvent>(&module, limits, host, "{}", event("PLAYER_JOINED")).await
    };
    let handled = handle(Arc::new(EmptyHost)).await.result.unwrap();
    let effects = handled.answer.unwrap();
    let Action::ModifyCurrency(paid) = &effects[0].action else { panic!("{effects:?}") };
    assert_eq!((paid.amount, paid.currency.as_str(), effects[0].optional), (2_000_000, "coins", false));
    let Action::SendChat(told) = &effects[1].action else { panic!("{effects:?}") };
    assert!(effects[1].optional && matches!(told.target, ChatTarget::Player(_)));
    assert_eq!((effects.len(), handled.state.reads.len()), (4, 2));
    let writes = &handled.state.writes[..];
    assert!(
        matches!(writes, [StateWrite::Set { .. }, StateWrite::Set { ttl_ms: Some(172_800_000), .. }]),
        "{writes:?}"
    );
    // Without the hub's data the module asks to be called again.
    let handled = handle(Arc::new(StoreHost::default())).await.result.unwrap();
    assert!(matches!(handled.answer, Err(Failure::Retry(_))), "{handled:?}");
}

#[tokio::test]
async fn a_panic_is_a_trap_with_its_reason_in_the_log() {
    let test = TestSandbox::new();
    let module = test.module(starter("daily-reward")).await;
    let (limits, host) = (relaxed_limits(Point::Events), Arc::new(EmptyHost));
    let wrong = r#"{"dayly": 1}"#;
    let report = test.call_with::<HandleEvent>(&module, limits, host, wrong, event("PLAYER_JOINED")).await;
    assert!(matches!(report.result, Err(CallFailure::Trap { .. })), "{report:?}");
    assert!(report.logs[0].message.contains("unknown field `dayly`"), "{:?}", report.logs);
}

/// A module with schedules, whose ticks have no effects; those of schedules with a `T` trap.
fn scheduled(manifest: &str) -> Vec<u8> {
    let body = "(if (i32.eq (i32.load8_u (i32.load offset=96 (local.get 0))) (i32.const 84)) (then unreachable))";
    embed(later_module("schedules-module", "schedules@1.1.0#tick", body, ""), manifest.as_bytes())
}

#[tokio::test]
async fn a_module_with_schedules_declares_them_and_is_called_with_a_tick() {
    let test = TestSandbox::new();
    let declared = r#"{"manifest": 1, "schedules": [{"name": "nightly", "cron": "0 3 * * *"}]}"#;
    let module = test.module(scheduled(declared)).await;
    assert_eq!(module.points(), [Point::Schedules]);
    let limits = relaxed_limits(Point::Schedules);
    let tick = |schedule: &str| Tick { schedule: schedule.into(), due_at_ms: 5, missed: 0, manual: false };
    let run = async |schedule: &str| {
        test.call_with::<RunTick>(&module, limits, Arc::new(EmptyHost), "{}", tick(schedule)).await.result
    };
    assert_eq!(run("nightly").await, Ok(Handled::default()));
    assert!(matches!(run("T").await, Err(CallFailure::Trap { .. })));
    // It has no timers.
    let timer = Timer { key: "k".into(), at_ms: 5, payload: "{}".into() };
    let fired = test.call_with::<FireTimer>(&module, limits, Arc::new(EmptyHost), "{}", timer).await;
    assert!(matches!(fired.result, Err(CallFailure::Unavailable { .. })));
    for (manifest, reason) in [
        (r#"{"manifest": 1}"#, "`/schedules`: the module exports `schedules`, but declares none"),
        (
            r#"{"manifest": 1, "timers": true, "schedules": [{"name": "n", "cron": "0 3 * * *"}]}"#,
            "does not export `timers`",
        ),
        // Its trial is the tick of the first schedule.
        (r#"{"manifest": 1, "schedules": [{"name": "Trap", "cron": "0 3 * * *"}]}"#, "schedules.tick failed"),
    ] {
        let why = test.refusal(scheduled(manifest)).await;
        assert!(why.contains(reason), "{why}");
    }
}

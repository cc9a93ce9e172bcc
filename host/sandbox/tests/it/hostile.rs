//! Modules that misbehave while they run. Each costs its own call, and fails it for the stated reason.

use crate::support::{StoreHost, TestSandbox, line, relaxed_limits};
use crate::wat::chat_module;
use hub_sandbox::contract::Point;
use hub_sandbox::{CallFailure, CallReport, FilterChat, Limits};
use std::sync::Arc;
use std::time::Duration;

const FOREVER: &str = "(loop $again (br $again))";

/// Runs a module whose body misbehaves only after the trial call, which has less than 16 characters to filter: the
/// message's length is the sixth pair of words of the arguments.
async fn failure(body: &str, more: &str, limits: Limits) -> CallReport<hub_sandbox::contract::chat::Verdict> {
    let test = TestSandbox::new();
    let body =
        format!("(if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16)) (then {body}))");
    let module = test.module(chat_module(&body, more)).await;
    let host = Arc::new(StoreHost::default());
    test.call_with::<FilterChat>(&module, limits, host, "{}", line("a line to misbehave upon")).await
}

fn limits() -> Limits {
    relaxed_limits(Point::Chat)
}

#[tokio::test]
async fn an_infinite_loop_ends_when_it_has_computed_for_as_long_as_it_may() {
    let limits = Limits { compute: Duration::from_millis(30), fuel: u64::MAX / 2, ..limits() };
    let report = failure(FOREVER, "", limits).await;
    let Err(failure @ CallFailure::TimedOut(_)) = &report.result else { panic!("{report:?}") };
    assert!(failure.to_string().contains("30 ms of computing allowed, 3"), "{failure}");
    assert!((30_000..500_000).contains(&report.compute_micros), "{}", report.compute_micros);
}

#[tokio::test]
async fn an_infinite_loop_ends_when_its_fuel_is_used_up() {
    let limits = Limits { fuel: 1_000_000, ..limits() };
    let report = failure(FOREVER, "", limits).await;
    assert_eq!(report.result, Err(CallFailure::OutOfFuel));
    assert_eq!(report.fuel, 1_000_000);
}

#[tokio::test]
async fn a_trap_names_its_reason_and_its_place() {
    let report =
        failure("(call $divide)", "(func $divide (drop (i32.div_u (i32.const 1) (i32.const 0))))", limits()).await;
    let Err(CallFailure::Trap { message, backtrace }) = report.result else { panic!("{report:?}") };
    assert!(message.contains("integer divide by zero"), "{message}");
    assert!(backtrace.contains("divide"), "{backtrace}");
}

#[tokio::test]
async fn deep_recursion_is_a_trap() {
    let report = failure("(call $deeper)", "(func $deeper (call $deeper) (call $deeper))", limits()).await;
    assert!(
        matches!(&report.result, Err(CallFailure::Trap { message, .. }) if message.contains("stack")),
        "{report:?}"
    );
}

#[tokio::test]
async fn memory_growth_without_end_is_out_of_memory() {
    let body = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (unreachable)";
    let report = failure(body, "", limits()).await;
    assert_eq!(report.result, Err(CallFailure::OutOfMemory));
    assert!(report.memory_bytes <= 64 << 20);
    assert!(report.memory_bytes > 60 << 20);
}

#[tokio::test]
async fn limits_can_allow_less_memory() {
    let body = "(if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then (unreachable)))";
    let less = Limits { memory_bytes: 1 << 20, ..limits() };
    assert_eq!(failure(body, "", less).await.result, Err(CallFailure::OutOfMemory));
    assert!(failure(body, "", limits()).await.result.is_ok());
}

#[tokio::test]
async fn a_log_flood_is_cut_and_counted_but_fails_nothing() {
    let body = "(local $i i32) (loop $again
        (call $log (i32.const 1) (i32.const 0) (i32.const 3000))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $again (i32.lt_u (local.get $i) (i32.const 100))))";
    let test = TestSandbox::new();
    let report = test.call::<FilterChat>(chat_module(body, ""), line("hello")).await;
    assert!(report.result.is_ok(), "{report:?}");
    assert_eq!(report.logs.len(), 64);
    assert_eq!(report.logs_dropped, 36);
    assert!(report.logs.iter().all(|line| line.message.len() == 2048));
}

/// Increments the key "k" (at address 600) `times` times.
fn increments(times: u32) -> String {
    format!(
        "(local $i i32) (loop $again
            (call $increment (i32.const 600) (i32.const 1) (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 256))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $i) (i32.const {times}))))"
    )
}

#[tokio::test]
async fn the_ninth_data_call_ends_the_call() {
    let test = TestSandbox::new();
    let data = r#"(data (i32.const 600) "k")"#;
    let fine = test.call::<FilterChat>(chat_module(&increments(8), data), line("hello")).await;
    assert!(fine.result.is_ok(), "{fine:?}");
    assert_eq!(fine.host_calls.len(), 8);

    let nine = test.refusal(chat_module(&increments(9), data)).await;
    assert!(nine.contains("more host calls than its limit"), "{nine}");
}

#[tokio::test]
async fn arguments_outside_of_the_contracts_bounds_never_reach_the_host() {
    // A key of 300 bytes: the answer at address 256 is an error, and the record says why.
    let body =
        "(call $increment (i32.const 600) (i32.const 300) (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 256))
        (if (i32.ne (i32.load8_u (i32.const 256)) (i32.const 1)) (then (unreachable)))";
    let test = TestSandbox::new();
    let report = test.call::<FilterChat>(chat_module(body, ""), line("hello")).await;
    assert!(report.result.is_ok(), "{report:?}");
    let answer = format!("{:?}", report.host_calls[0].answer);
    assert!(answer.contains("a key must have 1 to 256 bytes"), "{answer}");
}

#[tokio::test]
async fn text_outside_of_memory_or_not_utf8_fails_the_call() {
    let outside = "(call $log (i32.const 1) (i32.const 65000) (i32.const 65000))";
    let report = failure(outside, "", limits()).await;
    assert!(matches!(report.result, Err(CallFailure::InvalidAnswer { .. })), "{report:?}");
    let report =
        failure("(call $log (i32.const 1) (i32.const 600) (i32.const 1))", r#"(data (i32.const 600) "\ff")"#, limits())
            .await;
    assert!(matches!(report.result, Err(CallFailure::InvalidAnswer { .. })), "{report:?}");
    let report = failure("(call $log (i32.const 9) (i32.const 600) (i32.const 1))", "", limits()).await;
    assert!(matches!(report.result, Err(CallFailure::InvalidAnswer { .. })), "{report:?}");
}

#[tokio::test]
async fn more_text_than_the_host_takes_at_once_fails_the_call() {
    let body = "(drop (memory.grow (i32.const 16))) (call $log (i32.const 1) (i32.const 0) (i32.const 500000))";
    let report = failure(body, "", limits()).await;
    let Err(CallFailure::InvalidAnswer { reason }) = report.result else { panic!("{report:?}") };
    assert!(reason.contains("too much data"), "{reason}");
}

#[tokio::test]
async fn each_call_has_a_fresh_instance() {
    // Traps if the word at address 700 was written by an earlier call.
    let body = "(if (i32.load (i32.const 700)) (then (unreachable))) (i32.store (i32.const 700) (i32.const 1))";
    let test = TestSandbox::new();
    let module = test.module(chat_module(body, "")).await;
    for _ in 0..20 {
        let host = Arc::new(StoreHost::default());
        let report = test.call_with::<FilterChat>(&module, limits(), host, "{}", line("hello")).await;
        assert!(report.result.is_ok(), "{report:?}");
    }
}

//! Computing time of modules, and the waiting time of their callers. The clock of these tests only moves when they
//! advance it.

use crate::hostile_set::FOREVER;
use crate::support::{NOW, SilentHost, TestSandbox, call, chain, line, link_with};
use crate::wat::{allowing, chat_module};
use hub_sandbox::contract::Point;
use hub_sandbox::contract::chat::Decision;
use hub_sandbox::{
    BreakerState, CallClock, CallFailure, CallReport, EmptyHost, FilterChat, Host, Limits, Link, ManualCallClock,
    ModuleHandle, OnFailure,
};
use std::sync::Arc;
use std::time::Duration;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn sandbox() -> (TestSandbox, ManualCallClock) {
    let clock = ManualCallClock::default();
    (TestSandbox::with(|config| config.clock = CallClock::Manual(clock.clone())), clock)
}

/// A chat module that computes for some ticks on lines of more than sixteen bytes; the trial's line is shorter.
fn computing(body: &str) -> Vec<u8> {
    let long = "(i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16))";
    chat_module(&format!("(local $i i64) (if {long} (then {body}))"), "")
}

const SOME_TICKS: &str = "(loop $again
    (local.set $i (i64.add (local.get $i) (i64.const 1)))
    (br_if $again (i64.lt_u (local.get $i) (i64.const 50000000))))";

const LONG: &str = "a line of more than sixteen bytes";

/// The limits of chat, with fuel enough.
fn limits() -> Limits {
    Limits { fuel: u64::MAX / 2, ..Limits::of(Point::Chat) }
}

fn link(module: ModuleHandle, limits: Limits, host: Arc<dyn Host>) -> Arc<Link> {
    link_with(module, "m", "{}", OnFailure::Refuse, limits, host)
}

/// Runs the link's filter on a long line; returns the decision, and the call's report.
async fn filter(test: &TestSandbox, link: &Arc<Link>) -> (Decision, CallReport<hub_sandbox::contract::chat::Verdict>) {
    let chain = chain(&[Arc::clone(link)]);
    let mut outcome = test.sandbox.run_chain::<FilterChat>(&chain, &call(NOW), line(LONG)).await;
    (outcome.ruling.decision, outcome.steps.remove(0).report.unwrap())
}

async fn until_all_threads_are_done(test: &TestSandbox) {
    while test.sandbox.running() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_stalls_fails_no_module_and_opens_no_breaker() {
    let (test, clock) = sandbox();
    let module = test.module(computing(SOME_TICKS)).await;
    // Each tick comes far after the module's computing limit, in which its thread had no processor.
    clock.set_tick(MS(25), Duration::ZERO);
    let link = link(module, Limits { wait: Duration::from_hours(1), ..limits() }, Arc::new(EmptyHost));
    for _ in 0..25 {
        let (decision, report) = filter(&test, &link).await;
        assert_eq!(decision, Decision::Allow, "{report:?}");
        assert!(report.result.is_ok() && report.waited_micros >= 25_000, "{report:?}");
        assert_eq!(report.compute_micros, 0);
    }
    let stats = link.stats();
    assert_eq!((stats.calls, stats.failures, stats.late), (25, 0, 0));
    assert_eq!(link.breaker(NOW), BreakerState::Closed);
}

#[tokio::test(flavor = "multi_thread")]
async fn computing_for_longer_than_it_may_fails_a_module_however_little_time_passes() {
    let (test, clock) = sandbox();
    let module = test.module(computing(FOREVER)).await;
    clock.set_tick(Duration::ZERO, MS(4));
    let link = link(module, limits(), Arc::new(EmptyHost));
    let (decision, report) = filter(&test, &link).await;
    assert!(matches!(decision, Decision::Refuse(_)), "{decision:?}");
    let failure = report.result.unwrap_err();
    assert_eq!(failure.code(), "timed_out");
    assert!(failure.to_string().ends_with("10 ms of computing allowed, 12 used; waited 0 ms"), "{failure}");
    // It is the module's failure, like each of these.
    for _ in 1..20 {
        filter(&test, &link).await;
    }
    assert_eq!(link.breaker(NOW), BreakerState::Open);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_the_hub_is_no_computing_and_ends_when_the_caller_leaves() {
    let (test, clock) = sandbox();
    let asks = "(call $increment
        (i32.const 600) (i32.const 1) (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 256))";
    let module = test.module(chat_module(asks, "")).await;
    let link = link(module, limits(), Arc::new(SilentHost));
    let waiting = async {
        while test.sandbox.running() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(MS(90));
        tokio::time::sleep(MS(20)).await;
        assert_eq!(test.sandbox.running(), 1, "its caller still waits");
        clock.advance(MS(10));
    };
    let ((decision, report), ()) = tokio::join!(filter(&test, &link), waiting);
    // The built-in behaviour applies, whatever the module's failures mean.
    assert_eq!(decision, Decision::Allow);
    let Err(failure @ CallFailure::Late(_)) = &report.result else { panic!("{report:?}") };
    assert_eq!(failure.to_string(), "the call was late: 10 ms of computing allowed, 0 used; waited 100 ms");
    until_all_threads_are_done(&test).await;
    let stats = link.stats();
    assert_eq!((stats.calls, stats.failures, stats.late, stats.outcomes["late"]), (1, 0, 1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_module_is_ended_gives_its_permits_back_and_opens_no_breaker() {
    let (test, clock) = sandbox();
    let endless = test.module(computing(FOREVER)).await;
    let quick = test.module(allowing("quick")).await;
    let late = link(endless, limits(), Arc::new(EmptyHost));
    clock.set_tick(MS(30), MS(1));
    for _ in 0..30 {
        let (decision, report) = filter(&test, &late).await;
        assert_eq!(decision, Decision::Allow);
        assert!(matches!(report.result, Err(CallFailure::Late(_))), "{report:?}");
    }
    assert_eq!((late.stats().late, late.breaker(NOW)), (30, BreakerState::Closed));
    until_all_threads_are_done(&test).await;
    // All four permits of the sandbox are free again.
    clock.set_tick(Duration::ZERO, Duration::ZERO);
    let quick = link(quick, limits(), Arc::new(EmptyHost));
    let calls = (0..4).map(|_| filter(&test, &quick));
    let mut ok = 0;
    for called in calls {
        ok += u32::from(called.await.1.result.is_ok());
    }
    assert_eq!(ok, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_has_the_limits_it_was_given_last() {
    let (test, clock) = sandbox();
    let module = test.module(computing(FOREVER)).await;
    clock.set_tick(Duration::ZERO, MS(1));
    let link = link(module, limits(), Arc::new(EmptyHost));
    link.set_limits(limits().with_compute(MS(3)));
    let failure = filter(&test, &link).await.1.result.unwrap_err();
    assert!(failure.to_string().contains("3 ms of computing allowed, 3 used"), "{failure}");
}

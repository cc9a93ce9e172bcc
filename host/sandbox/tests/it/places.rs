//! Places to run in: bounded per network and point, and shared fairly.

use crate::support::{Bench, NOW, allowing, call, chat_module, line, link_with, patient};
use hub_sandbox::contract::chat::Decision;
use hub_sandbox::contract::{HostError, Point};
use hub_sandbox::{BoxFuture, CallFailure, Chain, EmptyHost, Host, HostAnswer, HostCall, Limits, OnFailure};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// A host that holds every call until it is let go, and says when one has arrived.
struct Gate {
    arrived: Semaphore,
    let_go: Semaphore,
}

impl Host for Gate {
    fn answer<'a>(&'a self, _: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        Box::pin(async {
            self.arrived.add_permits(1);
            let _ = self.let_go.acquire().await;
            Ok(HostAnswer::Number(1))
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_networks_share_no_places() {
    let bench = Bench::new();
    let gate = Arc::new(Gate { arrived: Semaphore::new(0), let_go: Semaphore::new(0) });
    let increments = chat_module(
        "(call $increment (i32.const 600) (i32.const 1) (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 256))",
        "",
    );
    let waits = bench.module(increments).await;
    let quick = bench.module(allowing("quick")).await;
    let limits = patient(Point::Chat);
    let holding = link_with(waits, "waits", "{}", OnFailure::Refuse, limits, Arc::clone(&gate) as Arc<dyn Host>);
    let hasty = Limits { wall: Duration::from_millis(20), ..limits };
    let impatient = link_with(quick.clone(), "quick", "{}", OnFailure::Refuse, hasty, Arc::new(EmptyHost));
    let patient_one = link_with(quick, "quick", "{}", OnFailure::Refuse, limits, Arc::new(EmptyHost));

    // The first network's only place is taken for as long as the gate is closed.
    let busy = Arc::new(Chain::new(vec![Arc::clone(&holding), impatient], 1));
    let other = Chain::new(vec![patient_one], 1);
    let held = tokio::spawn({
        let (sandbox, busy) = (bench.sandbox.clone(), Arc::clone(&busy));
        async move { sandbox.filter_chat(&busy, &call(NOW), line("held")).await }
    });
    gate.arrived.acquire().await.unwrap().forget();

    let second = Chain::new(vec![Arc::clone(&busy.links()[1])], 1);
    let outcome = bench.sandbox.filter_chat(&other, &call(NOW), line("hi")).await;
    assert_eq!(outcome.ruling.decision, Decision::Allow);
    assert!(outcome.steps[0].report.as_ref().unwrap().result.is_ok());
    assert!(second.links()[0].stats().calls == 0);

    gate.let_go.add_permits(10);
    assert!(held.await.unwrap().steps[0].report.as_ref().unwrap().result.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_finds_no_place_before_its_deadline_is_busy() {
    let bench = Bench::new();
    let gate = Arc::new(Gate { arrived: Semaphore::new(0), let_go: Semaphore::new(0) });
    let increments = chat_module(
        "(call $increment (i32.const 600) (i32.const 1) (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 256))",
        "",
    );
    let module = bench.module(increments).await;
    let limits = patient(Point::Chat);
    let link = link_with(module, "waits", "{}", OnFailure::Skip, limits, Arc::clone(&gate) as Arc<dyn Host>);
    let chain = Arc::new(Chain::new(vec![Arc::clone(&link)], 1));
    let run = |chain: &Arc<Chain>| {
        let (sandbox, chain) = (bench.sandbox.clone(), Arc::clone(chain));
        tokio::spawn(async move { sandbox.filter_chat(&chain, &call(NOW), line("hi")).await })
    };
    let held = run(&chain);
    gate.arrived.acquire().await.unwrap().forget();
    // The same chain, whose one place is held, for a call in a hurry.
    let waiting = run(&chain);
    tokio::task::yield_now().await;
    gate.let_go.add_permits(10);
    for outcome in [held.await.unwrap(), waiting.await.unwrap()] {
        assert!(outcome.steps[0].report.as_ref().unwrap().result.is_ok());
    }
    assert_eq!(link.stats().failures, 0);

    let hasty = Limits { wall: Duration::from_millis(20), ..limits };
    let gate = Arc::new(Gate { arrived: Semaphore::new(0), let_go: Semaphore::new(0) });
    let module = link.config().module.clone();
    let slow = link_with(module, "hasty", "{}", OnFailure::Skip, hasty, Arc::clone(&gate) as Arc<dyn Host>);
    let chain = Arc::new(Chain::new(vec![slow], 1));
    // Both are cut off at 20 ms: one in its host call, the other waiting for the place.
    let (first, second) = tokio::join!(run(&chain), run(&chain));
    let mut failures: Vec<_> = [first.unwrap(), second.unwrap()]
        .into_iter()
        .map(|outcome| outcome.steps.into_iter().next().unwrap().report.unwrap().result.unwrap_err().code())
        .collect();
    failures.sort_unstable();
    assert!(failures.contains(&CallFailure::TimedOut.code()), "{failures:?}");
}

//! Places to run in: bounded per network and point, and not shared between networks.

use crate::support::{Bench, NOW, call, line, link_with, patient};
use crate::wat::{allowing, chat_module};
use hub_sandbox::contract::{HostError, Point, chat};
use hub_sandbox::{
    BoxFuture, CallFailure, Chain, EmptyHost, Host, HostAnswer, HostCall, Limits, Link, OnFailure, Outcome, Sandbox,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// A host that holds every call until it is let go, and says when one has arrived.
struct Gate {
    arrived: Semaphore,
    let_go: Semaphore,
}

impl Gate {
    fn closed() -> Arc<Self> {
        Arc::new(Self { arrived: Semaphore::new(0), let_go: Semaphore::new(0) })
    }
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

type Filtered = Outcome<chat::Verdict, chat::Verdict>;

fn filter(sandbox: &Sandbox, chain: &Arc<Chain>) -> JoinHandle<Filtered> {
    let (sandbox, chain) = (sandbox.clone(), Arc::clone(chain));
    tokio::spawn(async move { sandbox.filter_chat(&chain, &call(NOW), line("hi")).await })
}

fn failures(outcome: &Filtered) -> Vec<Option<CallFailure>> {
    outcome.steps.iter().map(|step| step.report.as_ref().unwrap().result.clone().err()).collect()
}

/// A link whose module asks the host once.
async fn asking(bench: &Bench, host: Arc<dyn Host>) -> Arc<Link> {
    let body = "(call $increment
        (i32.const 600) (i32.const 1) (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 256))";
    let module = bench.module(chat_module(body, "")).await;
    link_with(module, "asks", "{}", OnFailure::Skip, patient(Point::Chat), host)
}

/// A link whose module allows everything.
async fn quick(bench: &Bench, wall: Duration) -> Arc<Link> {
    let module = bench.module(allowing("quick")).await;
    let limits = Limits { wall, ..patient(Point::Chat) };
    link_with(module, "quick", "{}", OnFailure::Refuse, limits, Arc::new(EmptyHost))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_holds_its_places_takes_none_of_anothers() {
    let bench = Bench::new();
    let gate = Gate::closed();
    let busy = Arc::new(Chain::new(vec![asking(&bench, Arc::clone(&gate) as Arc<dyn Host>).await], 1));
    let other = Arc::new(Chain::new(vec![quick(&bench, Duration::from_secs(20)).await], 1));

    let held = [filter(&bench.sandbox, &busy), filter(&bench.sandbox, &busy)];
    gate.arrived.acquire().await.unwrap().forget();
    let outcome = filter(&bench.sandbox, &other).await.unwrap();
    assert_eq!(failures(&outcome), [None]);
    // One place, so the second call has not reached its host; it does once the first is through.
    assert_eq!(gate.arrived.available_permits(), 0);
    gate.let_go.add_permits(2);
    for held in held {
        assert_eq!(failures(&held.await.unwrap()), [None]);
    }
    assert_eq!(gate.arrived.available_permits(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_finds_no_place_before_its_deadline_is_busy() {
    let bench = Bench::new();
    let gate = Gate::closed();
    let quick = quick(&bench, Duration::from_millis(300)).await;
    let asking = asking(&bench, Arc::clone(&gate) as Arc<dyn Host>).await;
    let chain = Arc::new(Chain::new(vec![Arc::clone(&quick), asking], 1));

    let first = filter(&bench.sandbox, &chain);
    gate.arrived.acquire().await.unwrap().forget();
    // The second call finds the only place taken, already by its first and hasty link.
    let second = filter(&bench.sandbox, &chain).await.unwrap();
    assert_eq!(failures(&second), [Some(CallFailure::Busy)]);
    assert!(matches!(second.ruling.decision, chat::Decision::Refuse(_)));
    gate.let_go.add_permits(1);
    assert_eq!(failures(&first.await.unwrap()), [None, None]);
    assert_eq!(quick.stats().failures, 1);
}

/// A host with a bug.
struct Panicking;

impl Host for Panicking {
    fn answer<'a>(&'a self, _: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        panic!("a bug in the host")
    }
}

#[tokio::test]
async fn a_panic_of_the_hubs_own_fails_the_call_and_gives_its_place_back() {
    let bench = Bench::new();
    let link = asking(&bench, Arc::new(Panicking)).await;
    let chain = Arc::new(Chain::new(vec![Arc::clone(&link)], 1));
    for _ in 0..10 {
        let outcome = filter(&bench.sandbox, &chain).await.unwrap();
        assert!(matches!(failures(&outcome)[..], [Some(CallFailure::Unavailable { .. })]));
    }
    // It is not the module's fault.
    assert_eq!(link.breaker(NOW), hub_sandbox::BreakerState::Closed);
}

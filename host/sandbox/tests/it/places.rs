//! Places to run in: bounded per network and point, and not shared between networks.

use crate::hostile_set::{FOREVER, LINE, chatting};
use crate::support::{Bench, NOW, call, context, line, link_with, patient};
use crate::wat::{allowing, chat_module};
use hub_sandbox::contract::{HostError, Point, chat};
use hub_sandbox::{
    BoxFuture, CallFailure, Chain, EmptyHost, FilterChat, Host, HostAnswer, HostCall, Limits, Link, OnFailure, Outcome,
    Sandbox,
};
use std::sync::{Arc, Mutex};
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

/// A module that computes until it is stopped.
async fn endless(bench: &Bench, wall: Duration) -> (hub_sandbox::ModuleHandle, Limits) {
    let module = bench.module(chatting(FOREVER, "")).await;
    (module, Limits { wall, fuel: u64::MAX / 2, ..Limits::of(Point::Chat) })
}

async fn filter_as(
    bench: &Bench,
    network: &str,
    module: &hub_sandbox::ModuleHandle,
    limits: Limits,
    host: Arc<dyn Host>,
) -> Option<CallFailure> {
    let context = hub_sandbox::contract::CallContext { network_id: network.into(), ..context("{}") };
    bench.sandbox.call::<FilterChat>(module, limits, host, context, Arc::new(line(LINE))).await.result.err()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_network_computes_bounds_itself_and_no_other() {
    let bench = Bench::with(|config| config.cpus_per_network = 1);
    let (endless, limits) = endless(&bench, Duration::from_millis(600)).await;
    let quick = bench.module(allowing("quick")).await;
    let hasty = Limits { wall: Duration::from_millis(200), ..patient(Point::Chat) };
    let loops = filter_as(&bench, "loops", &endless, limits, Arc::new(EmptyHost));
    let others = async {
        // Once it has begun to compute, its network's other calls wait in vain, and another network's do not wait.
        while bench.sandbox.running() == 0 {
            tokio::task::yield_now().await;
        }
        let own = filter_as(&bench, "loops", &quick, hasty, Arc::new(EmptyHost)).await;
        let other = filter_as(&bench, "other", &quick, patient(Point::Chat), Arc::new(EmptyHost)).await;
        (own, other, bench.sandbox.running())
    };
    let (looped, (own, other, still_running)) = tokio::join!(loops, others);
    assert_eq!((own, other), (Some(CallFailure::Busy), None));
    assert_eq!(still_running, 1);
    assert_eq!(looped, Some(CallFailure::TimedOut));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_the_hub_leaves_its_turn_to_the_networks_next() {
    let bench = Bench::with(|config| config.cpus_per_network = 1);
    let gate = Gate::closed();
    let asking = asking(&bench, Arc::clone(&gate) as Arc<dyn Host>).await;
    let waiting = filter(&bench.sandbox, &Arc::new(Chain::new(vec![asking], 1)));
    gate.arrived.acquire().await.unwrap().forget();
    let quick = Arc::new(Chain::new(vec![quick(&bench, Duration::from_secs(20)).await], 1));
    assert_eq!(failures(&filter(&bench.sandbox, &quick).await.unwrap()), [None]);
    gate.let_go.add_permits(1);
    assert_eq!(failures(&waiting.await.unwrap()), [None]);
}

#[tokio::test(flavor = "multi_thread")]
async fn networks_take_turns_at_compiling() {
    let bench = Bench::with(|config| config.compiles_at_once = 1);
    let compiled = Arc::new(Mutex::new(Vec::new()));
    let mut uploads = Vec::new();
    for (network, number) in [("many", 0), ("many", 1), ("many", 2), ("many", 3), ("many", 4), ("one", 5)] {
        let (sandbox, compiled) = (bench.sandbox.clone(), Arc::clone(&compiled));
        let upload = async move {
            let permit = sandbox.upload_permit(network).await;
            sandbox.prepare_for(&permit, allowing(&format!("upload {number}"))).await.unwrap();
            compiled.lock().unwrap().push(network);
        };
        uploads.push(upload);
    }
    // All queue up, in this order, before the first is compiled.
    let mut uploads: Vec<_> = uploads.into_iter().map(Box::pin).collect();
    std::future::poll_fn(|cx| {
        let mut pending = false;
        uploads.retain_mut(|upload| {
            let waits = upload.as_mut().poll(cx).is_pending();
            pending |= waits;
            waits
        });
        if pending { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    let compiled = compiled.lock().unwrap();
    let at = compiled.iter().position(|&network| network == "one").unwrap();
    assert!(at < 4, "{compiled:?}");
}

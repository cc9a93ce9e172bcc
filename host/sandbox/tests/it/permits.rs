//! Permits to run: bounded per network and point, and not shared between networks.

use crate::hostile_set::{FOREVER, LINE, chatting};
use crate::support::{NOW, TestSandbox, call, context, line, link_as, link_with, relaxed_limits};
use crate::wat::{allowing, chat_module};
use hub_sandbox::contract::{HostError, Point, chat};
use hub_sandbox::{
    BoxFuture, CallFailure, Chain, Compiler, EmptyHost, FilterChat, Host, HostAnswer, HostCall, Instances, Limits,
    Link, Mode, OnFailure, Outcome, Sandbox,
};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// A host that blocks every call until it is released, and counts those that arrived.
struct BlockingHost {
    arrived: Semaphore,
    released: Semaphore,
}

impl BlockingHost {
    fn new() -> Arc<Self> {
        Arc::new(Self { arrived: Semaphore::new(0), released: Semaphore::new(0) })
    }
}

impl Host for BlockingHost {
    fn answer<'a>(&'a self, _: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        Box::pin(async {
            self.arrived.add_permits(1);
            let _ = self.released.acquire().await;
            Ok(HostAnswer::Number(1))
        })
    }
}

type Filtered = Outcome<chat::Verdict, chat::Verdict>;

fn filter(sandbox: &Sandbox, chain: &Arc<Chain>) -> JoinHandle<Filtered> {
    filter_line(sandbox, chain, "hi")
}

fn filter_line(sandbox: &Sandbox, chain: &Arc<Chain>, message: &'static str) -> JoinHandle<Filtered> {
    let (sandbox, chain) = (sandbox.clone(), Arc::clone(chain));
    tokio::spawn(async move { sandbox.run_chain::<FilterChat>(&chain, &call(NOW), line(message)).await })
}

fn failures(outcome: &Filtered) -> Vec<Option<CallFailure>> {
    outcome.steps.iter().map(|step| step.report.as_ref().unwrap().result.clone().err()).collect()
}

/// A link whose module asks the host once.
async fn asking(test: &TestSandbox, host: Arc<dyn Host>) -> Arc<Link> {
    let body = "(call $increment
        (i32.const 600) (i32.const 1) (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 256))";
    let module = test.module(chat_module(body, "")).await;
    link_with(module, "asks", "{}", OnFailure::Skip, relaxed_limits(Point::Chat), host)
}

/// A link whose module allows everything.
async fn quick(test: &TestSandbox, wait: Duration) -> Arc<Link> {
    let module = test.module(allowing("quick")).await;
    let limits = Limits { wait, ..relaxed_limits(Point::Chat) };
    link_with(module, "quick", "{}", OnFailure::Refuse, limits, Arc::new(EmptyHost))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_takes_no_permits_from_another() {
    let test = TestSandbox::new();
    let host = BlockingHost::new();
    let busy = Arc::new(Chain::new(vec![asking(&test, Arc::clone(&host) as Arc<dyn Host>).await], 1));
    let other = Arc::new(Chain::new(vec![quick(&test, Duration::from_secs(20)).await], 1));

    let held = [filter(&test.sandbox, &busy), filter(&test.sandbox, &busy)];
    host.arrived.acquire().await.unwrap().forget();
    let outcome = filter(&test.sandbox, &other).await.unwrap();
    assert_eq!(failures(&outcome), [None]);
    // One permit, so the second call reaches its host only after the first.
    assert_eq!(host.arrived.available_permits(), 0);
    host.released.add_permits(2);
    for held in held {
        assert_eq!(failures(&held.await.unwrap()), [None]);
    }
    assert_eq!(host.arrived.available_permits(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_a_permit_is_late_and_decides_nothing() {
    let test = TestSandbox::new();
    let host = BlockingHost::new();
    let quick = quick(&test, Duration::from_millis(300)).await;
    let asking = asking(&test, Arc::clone(&host) as Arc<dyn Host>).await;
    let chain = Arc::new(Chain::new(vec![Arc::clone(&quick), Arc::clone(&asking)], 1));

    let first = filter(&test.sandbox, &chain);
    host.arrived.acquire().await.unwrap().forget();
    // The only permit is taken, so that both links of the second call are late. Although the first one's failures
    // refuse, the built-in behaviour applies.
    asking.set_limits(Limits { wait: Duration::from_millis(300), ..asking.limits() });
    let second = filter(&test.sandbox, &chain).await.unwrap();
    assert!(matches!(failures(&second)[..], [Some(CallFailure::Late(_)), Some(CallFailure::Late(_))]), "{second:?}");
    assert_eq!(second.ruling.decision, chat::Decision::Allow);
    host.released.add_permits(1);
    assert_eq!(failures(&first.await.unwrap()), [None, None]);
    let stats = quick.stats();
    assert_eq!((stats.calls, stats.failures, stats.late, stats.outcomes["late"]), (2, 0, 1, 1));
}

/// A host with a bug.
struct PanickingHost;

impl Host for PanickingHost {
    fn answer<'a>(&'a self, _: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        panic!("a bug in the host")
    }
}

#[tokio::test]
async fn a_panic_of_the_host_fails_the_call_and_releases_its_permits() {
    let test = TestSandbox::new();
    let link = asking(&test, Arc::new(PanickingHost)).await;
    let chain = Arc::new(Chain::new(vec![Arc::clone(&link)], 1));
    for _ in 0..10 {
        let outcome = filter(&test.sandbox, &chain).await.unwrap();
        assert!(matches!(failures(&outcome)[..], [Some(CallFailure::Unavailable { .. })]));
    }
    // It is not the module's fault.
    assert_eq!(link.breaker(NOW), hub_sandbox::BreakerState::Closed);
}

/// A module that computes until it is stopped.
async fn endless(test: &TestSandbox, compute: Duration) -> (hub_sandbox::ModuleHandle, Limits) {
    let module = test.module(chatting(FOREVER, "")).await;
    let wait = Duration::from_mins(1);
    (module, Limits { compute, wait, fuel: u64::MAX / 2, ..Limits::of(Point::Chat) })
}

async fn filter_as(
    test: &TestSandbox,
    network: &str,
    module: &hub_sandbox::ModuleHandle,
    limits: Limits,
    host: Arc<dyn Host>,
) -> Option<CallFailure> {
    let context = hub_sandbox::contract::CallContext { network_id: network.into(), ..context("{}") };
    test.sandbox.call::<FilterChat>(module, limits, host, context, Arc::new(line(LINE))).await.result.err()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_computes_a_lot_limits_itself_and_no_other() {
    let test = TestSandbox::with(|config| config.cpus_per_network = 1);
    // A busy machine may take longer for the others than the first of these, but not than all of them.
    for compute in [600, 2_400, 9_600] {
        if a_computing_network_limits_itself(&test, Duration::from_millis(compute)).await {
            return;
        }
    }
    panic!("it never computed until the others had run");
}

/// Returns false if the network did not compute for as long as the others needed.
async fn a_computing_network_limits_itself(test: &TestSandbox, compute: Duration) -> bool {
    let (endless, limits) = endless(test, compute).await;
    let quick = test.module(allowing("quick")).await;
    let hasty = Limits { wait: Duration::from_millis(200), ..relaxed_limits(Point::Chat) };
    let loops = filter_as(test, "loops", &endless, limits, Arc::new(EmptyHost));
    let others = async {
        // While it computes, its network's other calls are late, and another network's do not wait.
        while test.sandbox.running() == 0 {
            tokio::task::yield_now().await;
        }
        let own = filter_as(test, "loops", &quick, hasty, Arc::new(EmptyHost)).await;
        let other = filter_as(test, "other", &quick, relaxed_limits(Point::Chat), Arc::new(EmptyHost)).await;
        (own, other, test.sandbox.running())
    };
    let (looped, (own, other, still_running)) = tokio::join!(loops, others);
    assert!(other.is_none(), "{other:?}");
    assert!(matches!(looped, Some(CallFailure::TimedOut(_))), "{looped:?}");
    if still_running == 0 {
        return false;
    }
    assert!(matches!(own, Some(CallFailure::Late(_))), "{own:?}");
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_the_host_releases_its_cpu_permit() {
    let test = TestSandbox::with(|config| config.cpus_per_network = 1);
    let host = BlockingHost::new();
    let asking = asking(&test, Arc::clone(&host) as Arc<dyn Host>).await;
    let waiting = filter(&test.sandbox, &Arc::new(Chain::new(vec![asking], 1)));
    host.arrived.acquire().await.unwrap().forget();
    let quick = Arc::new(Chain::new(vec![quick(&test, Duration::from_secs(20)).await], 1));
    assert_eq!(failures(&filter(&test.sandbox, &quick).await.unwrap()), [None]);
    host.released.add_permits(1);
    assert_eq!(failures(&waiting.await.unwrap()), [None]);
}

const LONG: &str = "a line that takes long";

/// Two long calls of a link whose calls were short; `None` if they do not run at once, since on a busy machine one of
/// the others took long, too.
async fn start_two_long_calls(test: &TestSandbox, chain: &Arc<Chain>) -> Option<[JoinHandle<Filtered>; 2]> {
    for _ in 0..40 {
        assert_eq!(failures(&filter(&test.sandbox, chain).await.unwrap()), [None]);
    }
    let long = [(); 2].map(|()| filter_line(&test.sandbox, chain, LONG));
    let both_run = async {
        while test.sandbox.running() < 2 {
            tokio::task::yield_now().await;
        }
    };
    if tokio::time::timeout(Duration::from_millis(500), both_run).await.is_ok() {
        return Some(long);
    }
    for long in long {
        long.await.unwrap();
    }
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn short_calls_wait_for_no_cpu_permit_and_those_that_turn_out_to_be_long_do() {
    let test = TestSandbox::with(|config| config.cpus_per_network = 1);
    // It computes on lines of this length, which is at 60, until it is stopped; and the next call has its memory again.
    let length = LONG.len();
    let body = format!(
        "(global.set $next (i32.const 4096))
        (if (i32.eq (i32.load offset=60 (local.get 0)) (i32.const {length})) (then (loop $on (br $on))))"
    );
    let module = test.module(chat_module(&body, "")).await;
    let (compute, wait) = (Duration::from_secs(1), Duration::from_mins(1));
    let limits = Limits { compute, wait, fuel: u64::MAX / 2, ..Limits::of(Point::Chat) };
    let link = link_as(Mode::Active, Instances::Reused, module, "long lines", "{}");
    link.set_limits(limits);
    let chain = Arc::new(Chain::new(vec![link], 8));
    let mut started = None;
    for _ in 0..10 {
        started = start_two_long_calls(&test, &chain).await;
        if started.is_some() {
            break;
        }
    }
    let long = started.expect("short calls run at once");
    assert_eq!(failures(&filter(&test.sandbox, &chain).await.unwrap()), [None]);
    assert_eq!(test.sandbox.running(), 2);
    let mut longest_wait = 0;
    for long in long {
        let outcome = long.await.unwrap();
        assert!(matches!(failures(&outcome)[..], [Some(CallFailure::TimedOut(_))]), "{outcome:?}");
        longest_wait = longest_wait.max(outcome.steps[0].report.as_ref().unwrap().waited_micros);
    }
    assert!(longest_wait > 800_000, "the second waits for the first: {longest_wait}");
}

#[tokio::test(flavor = "multi_thread")]
async fn networks_take_turns_at_compiling() {
    let folder = tempfile::tempdir().unwrap();
    let (compiler, order) = (folder.path().join("compiler"), folder.path().join("order"));
    // A compiler that refuses what it is given, and records whose it was. Another process writes it: this one's other
    // children could still hold the file open, and it would not start.
    let script = format!("#!/bin/sh\ngrep -ao -m 1 'of [a-z]*' >> {}\nexit 1\n", order.display());
    let write = format!("cat > {0} && chmod +x {0}", compiler.display());
    let mut writer = Command::new("sh").args(["-c", &write]).stdin(Stdio::piped()).spawn().unwrap();
    writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
    let test = TestSandbox::with(|config| {
        config.max_compiles = 1;
        config.compiler = Compiler::Child(compiler);
    });

    let upload = |network: &'static str| {
        let sandbox = test.sandbox.clone();
        // Too large for the check before the queue, which waits for a thread.
        let mut upload = format!("of {network}\n").into_bytes();
        upload.resize(2 << 20, b'.');
        async move {
            let permit = sandbox.upload_permit(network).await;
            sandbox.prepare_for(&permit, upload).await.unwrap_err()
        }
    };
    // All queue up in this order, since the first has the only permit.
    tokio::join!(upload("many"), upload("many"), upload("many"), upload("many"), upload("one"));
    let order = std::fs::read_to_string(order).unwrap();
    assert_eq!(order.lines().collect::<Vec<_>>(), ["of many", "of one", "of many", "of many", "of many"]);
}

//! Measures the noisy neighbor: the 99th percentile of a well-behaved network's calls beside a hostile network, against
//! the same alone, for each module of the hostile set and for uploads that are slow to compile.
//!
//! `cargo run --release -p hub-sandbox --example noisy_neighbor [ROUNDS] [FILTER] [without-breaker]`
//!
//! `cargo run --release -p hub-sandbox --example noisy_neighbor write FOLDER` writes the uploads to files, for
//! `tests/load/modules.py`.
//!
//! The hostile network has 16 calls under way at once. `without-breaker` keeps its breaker closed, which otherwise stops
//! it when half of its calls fail: like a module that always just manages to answer.

#[allow(dead_code, clippy::unwrap_used)]
#[path = "../tests/it/hostile_set.rs"]
mod hostile_set;
mod requests;
#[allow(dead_code, clippy::unwrap_used)]
#[path = "../tests/it/wat.rs"]
mod wat;

use bytes::Bytes;
use hostile_set::{Hostile, LINE, hostile_set};
use hub_sandbox::contract::matchmaking::ServerCandidate;
use hub_sandbox::contract::{PlayerRef, Point, chat};
use hub_sandbox::{
    Call, CallFailure, Candidates, Chain, Compiler, EmptyHost, FilterChat, Instances, Limits, Link, LinkConfig,
    MAX_CHAIN_CALLS, Mode, OnFailure, PlainTexts, RankServers, Sandbox, SandboxConfig,
};
use requests::{request, servers};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Same allocator as the hub's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Duration of each measurement.
const DURATION: Duration = Duration::from_secs(3);
/// The time between two calls of the well-behaved network.
const CALL_INTERVAL: Duration = Duration::from_millis(1);
/// Delay after which a call finds the breaker closed, which counts failures over ten seconds.
const MINUTE: u64 = 60_000;
/// Calls of the hostile network at once.
const HOSTILE_CALLS: usize = 16;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1).peekable();
    if args.next_if_eq("write").is_some() {
        let folder = args.next().ok_or("which folder?")?;
        for (name, upload) in uploads_of() {
            std::fs::write(Path::new(&folder).join(format!("{name}.wasm")), upload)?;
        }
        return Ok(());
    }
    let rounds: usize = args.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let filter = args.next().unwrap_or_default();
    let step = if args.next().is_some_and(|word| word == "without-breaker") { MINUTE } else { 1 };
    let folder = std::env::temp_dir().join(format!("noisy-neighbor-{}", std::process::id()));
    let compiler = std::env::current_exe()?.with_file_name("../hub-compile-module");
    let sandbox = Sandbox::new(SandboxConfig::new(Compiler::Child(compiler), folder.clone(), [0; 32]))?;

    let region_first = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/region-first/region-first.wasm");
    let good = Arc::new(chain(&sandbox, Point::Matchmaking, std::fs::read(region_first)?).await?);
    println!("{:36} {:24} {:>10} {:>10} {:>6}", "beside", "its calls end in", "alone", "disturbed", "ratio");
    println!("{:36} {:24} {:>10} {:>10}   (p99 in µs; medians of {rounds} rounds)", "", "", "", "");
    let hostile_set = hostile_set();
    for (number, hostile) in hostile_set.iter().filter(|hostile| hostile.name.contains(&filter)).enumerate() {
        // The noise of the machine itself.
        if number % 5 == 0 {
            measure(&sandbox, &good, rounds, "nothing", Disturbance::default).await;
        }
        let bad = Arc::new(chain(&sandbox, hostile.point, hostile.upload.clone()).await?);
        measure(&sandbox, &good, rounds, hostile.name, || flood(&sandbox, &bad, hostile, step)).await;
    }
    for (name, upload) in uploads_of().map(|(name, upload)| (format!("upload: {name}"), Bytes::from(upload))) {
        if name.contains(&filter) {
            measure(&sandbox, &good, rounds, &name, || uploads(&sandbox, &upload)).await;
        }
    }
    Ok(std::fs::remove_dir_all(folder)?)
}

/// The hostile network's work, if any: outcomes of its calls so far, and the tasks.
#[derive(Default)]
struct Disturbance {
    ends: Arc<Mutex<BTreeMap<String, u64>>>,
    over: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

/// Alternates between alone and disturbed, and prints the medians.
async fn measure(sandbox: &Sandbox, good: &Arc<Chain>, rounds: usize, name: &str, start: impl Fn() -> Disturbance) {
    let (mut alone, mut disturbed, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut ends = BTreeMap::new();
    for _ in 0..rounds {
        let before = p99(sandbox, good).await;
        let disturbance = start();
        let beside = p99(sandbox, good).await;
        disturbance.over.store(true, Ordering::Relaxed);
        for task in disturbance.tasks {
            let _ = task.await;
        }
        for (end, count) in disturbance.ends.lock().unwrap_or_else(std::sync::PoisonError::into_inner).iter() {
            *ends.entry(end.clone()).or_insert(0) += count;
        }
        alone.push(before);
        disturbed.push(beside);
        ratios.push(beside / before);
    }
    let ends: Vec<_> = ends.iter().map(|(end, count)| format!("{end} {count}")).collect();
    println!(
        "{name:36} {:24} {:10.0} {:10.0} {:6.2}",
        ends.join(", "),
        median(alone),
        median(disturbed),
        median(ratios)
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The well-behaved network's 99th percentile, in microseconds from request to answer.
async fn p99(sandbox: &Sandbox, good: &Arc<Chain>) -> f64 {
    let started = now();
    let mut ticks = tokio::time::interval(CALL_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    let mut calls = Vec::new();
    while started.elapsed() < DURATION {
        ticks.tick().await;
        let (sandbox, good) = (sandbox.clone(), Arc::clone(good));
        calls.push(tokio::spawn(async move {
            let input = candidates();
            let asked = now();
            let outcome = sandbox.run_chain::<RankServers>(&good, &call("good", 0), input).await;
            let took = asked.elapsed().as_secs_f64() * 1e6;
            let ended = outcome.steps.first().and_then(|step| step.report.as_ref());
            // A failed call counts as a second.
            if ended.is_some_and(|report| report.result.is_ok()) { took } else { 1e6 }
        }));
    }
    let mut times = Vec::new();
    for call in calls {
        times.push(call.await.unwrap_or(f64::NAN));
    }
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN)
}

/// Calls of the hostile network, at its maximum rate.
fn flood(sandbox: &Sandbox, bad: &Arc<Chain>, hostile: &Hostile, step: u64) -> Disturbance {
    let (ends, over) = (Arc::new(Mutex::new(BTreeMap::new())), Arc::new(AtomicBool::new(false)));
    let calls = Arc::new(AtomicU64::new(0));
    let tasks = (0..HOSTILE_CALLS).map(|_| {
        let (sandbox, bad, ends, over) = (sandbox.clone(), Arc::clone(bad), Arc::clone(&ends), Arc::clone(&over));
        let (calls, point) = (Arc::clone(&calls), hostile.point);
        tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let call = call("bad", calls.fetch_add(step, Ordering::Relaxed));
                let ended = if point == Point::Chat {
                    let outcome = sandbox.run_chain::<FilterChat>(&bad, &call, line()).await;
                    outcome.steps.first().and_then(|step| end(step.report.as_ref()))
                } else {
                    let outcome = sandbox.run_chain::<RankServers>(&bad, &call, candidates()).await;
                    outcome.steps.first().and_then(|step| end(step.report.as_ref()))
                };
                if let (Some(end), Ok(mut ends)) = (ended, ends.lock()) {
                    *ends.entry(end).or_insert(0) += 1;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    });
    let tasks = tasks.collect();
    Disturbance { ends, over, tasks }
}

fn end<A>(report: Option<&hub_sandbox::CallReport<A>>) -> Option<String> {
    let failure = report?.result.as_ref().err().map_or("answered", CallFailure::code);
    Some(failure.to_owned())
}

/// Uploads of the hostile network, four at once.
fn uploads(sandbox: &Sandbox, upload: &Bytes) -> Disturbance {
    let (ends, over) = (Arc::new(Mutex::new(BTreeMap::new())), Arc::new(AtomicBool::new(false)));
    let tasks = (0..4).map(|_| {
        let (sandbox, upload, ends, over) = (sandbox.clone(), upload.clone(), Arc::clone(&ends), Arc::clone(&over));
        tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                // Dropped after the measurement, like the upload of a client that disconnected.
                let timeout = tokio::time::sleep(DURATION);
                let preparing = async {
                    let permit = sandbox.upload_permit("bad").await;
                    sandbox.prepare_for(&permit, upload.clone()).await
                };
                let prepared = tokio::select! {
                    prepared = preparing => Some(prepared.is_ok()),
                    () = timeout => None,
                };
                let end = match prepared {
                    None => "aborted",
                    Some(true) => "accepted",
                    Some(false) => "refused",
                };
                if let Ok(mut ends) = ends.lock() {
                    *ends.entry(end.to_owned()).or_insert(0) += 1;
                }
            }
        })
    });
    let tasks = tasks.collect();
    Disturbance { ends, over, tasks }
}

fn uploads_of() -> [(&'static str, Vec<u8>); 2] {
    [("compile bomb", compile_bomb()), ("a million functions", wat::chat_module("", &"(func)".repeat(1_000_000)))]
}

fn compile_bomb() -> Vec<u8> {
    let step = "(if (i64.gt_u (local.get $a) (i64.const 7)) (then (local.set $a (i64.mul (i64.rotl (local.get $a) (i64.const 9)) (local.get $a)))))";
    let function = format!("(func (param $a i64) (result i64) {} (local.get $a))", step.repeat(100));
    wat::chat_module("", &function.repeat(3000))
}

async fn chain(sandbox: &Sandbox, point: Point, upload: Vec<u8>) -> Result<Chain, Box<dyn Error>> {
    let prepared = sandbox.prepare(upload).await?;
    let module = sandbox.load(prepared.id, Arc::new(prepared.component)).await?;
    let link = Link::new(LinkConfig {
        module,
        name: "module".into(),
        version: 1,
        mode: Mode::Active,
        instances: Instances::Fresh,
        config: "{}".into(),
        on_failure: OnFailure::Skip,
        limits: Limits::of(point),
        host: Arc::new(EmptyHost),
    });
    Ok(Chain::new(vec![Arc::new(link)], MAX_CHAIN_CALLS))
}

fn call(network: &str, now_ms: u64) -> Call {
    Call { call_id: "call".into(), network_id: network.into(), now_ms, seed: 1 }
}

fn line() -> chat::Line {
    chat::Line {
        player: PlayerRef { uuid: "6f1c1c1e-0000-4000-8000-000000000001".into(), name: "Mallory".into() },
        message: LINE.into(),
        server_id: "lobby-1".into(),
        server_type: "lobby".into(),
        world: None,
        rank: None,
    }
}

fn candidates() -> Candidates<ServerCandidate> {
    Candidates::new(Arc::new(request()), servers(100), Arc::new(PlainTexts::default()))
}

#[allow(clippy::disallowed_methods)] // A benchmark measures time.
fn now() -> Instant {
    Instant::now()
}

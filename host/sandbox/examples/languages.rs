//! Cost of modules by their language: size, compilation, and a call, each on an instance of its own (FRESH) or all on
//! the same (REUSED).
//!
//! `cargo run --release --example languages -- rust=polite/rust.wasm js=polite/js.wasm …`, each a `chat` module; the
//! first one is the baseline.

use hub_sandbox::contract::{PlayerRef, Point, chat};
use hub_sandbox::{
    Call, Chain, Compiler, EmptyHost, FilterChat, Instances, Limits, Link, LinkConfig, Mode, ModuleHandle, OnFailure,
    Sandbox, SandboxConfig,
};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

const CALLS: usize = 2000;
const CONFIG: &str = r#"{"words": ["darn", "heck"], "repeatMs": 5000}"#;

/// Costs of calls of one kind.
struct Calls {
    p50: f64,
    p99: f64,
    fuel: u64,
    memory: usize,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("language   size KiB  compile CPU s   instance    p50 µs (of first)    p99 µs       fuel  memory KiB");
    let mut first = [None, None];
    for argument in std::env::args().skip(1) {
        let (language, path) = argument.split_once('=').ok_or("each argument is LANGUAGE=FILE")?;
        let folder = std::env::temp_dir().join(format!("languages-{}", std::process::id()));
        let sandbox = Sandbox::new(SandboxConfig::new(Compiler::InProcess, folder.clone(), [0; 32]))?;
        let component = std::fs::read(path)?;
        let (size, before) = (component.len() >> 10, cpu_seconds()?);
        let prepared = sandbox.prepare(component).await.map_err(|error| format!("{language}: {error}"))?;
        let compiled = cpu_seconds()? - before;
        let module = sandbox.load(prepared.id, Arc::new(prepared.component)).await?;
        for (instances, first) in [Instances::Fresh, Instances::Reused].into_iter().zip(&mut first) {
            let Calls { p50, p99, fuel, memory } = measure(&sandbox, &module, instances).await?;
            let ratio = p50 / *first.get_or_insert(p50);
            let (kind, memory) = (format!("{instances:?}").to_uppercase(), memory >> 10);
            println!(
                "{language:10} {size:8} {compiled:14.2}   {kind:8} {p50:9.1} {ratio:8.1}x {p99:9.1} {fuel:10} {memory:11}"
            );
        }
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}

async fn measure(sandbox: &Sandbox, module: &ModuleHandle, instances: Instances) -> Result<Calls, Box<dyn Error>> {
    let link = Link::new(LinkConfig {
        module: module.clone(),
        name: "polite".into(),
        version: 1,
        config: CONFIG.into(),
        mode: Mode::Active,
        instances,
        on_failure: OnFailure::Skip,
        limits: Limits::of(Point::Chat).with_compute(Duration::from_secs(1)),
        host: Arc::new(EmptyHost),
    });
    let chain = Chain::new(vec![Arc::new(link)], 1);
    let (mut times, mut fuel, mut memory) = (Vec::new(), 0, 0);
    for _ in 0..CALLS {
        let (call, line) = (call(), line());
        let started = now();
        let outcome = sandbox.run_chain::<FilterChat>(&chain, &call, line).await;
        times.push(started.elapsed().as_secs_f64() * 1e6);
        let report = outcome.steps.into_iter().find_map(|step| step.report).ok_or("it did not run")?;
        if let Err(failure) = report.result {
            return Err(failure.to_string().into());
        }
        (fuel, memory) = (report.fuel, report.memory_bytes);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(Calls { p50: times[CALLS / 2], p99: times[CALLS * 99 / 100], fuel, memory })
}

/// Processor time of this process, in all its threads.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(f64::NAN);
    Ok((ticks(11) + ticks(12)) / TICKS_PER_SECOND)
}

#[allow(clippy::disallowed_methods)] // A benchmark measures time.
fn now() -> Instant {
    Instant::now()
}

fn call() -> Call {
    Call {
        call_id: "0123456789abcdef".into(),
        network_id: "0123456789abcdef".into(),
        now_ms: 1_700_000_000_000,
        seed: u64::MAX,
    }
}

fn line() -> chat::Line {
    chat::Line {
        player: PlayerRef { uuid: "6f1c1c1e-0000-4000-8000-000000000001".into(), name: "Steve".into() },
        message: "oh heck, where did everybody go".into(),
        server_id: "lobby-1".into(),
        server_type: "lobby".into(),
        world: None,
        rank: Some("VIP".into()),
    }
}

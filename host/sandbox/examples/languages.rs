//! What modules cost by the language they are written in: size, compilation, and a call on a fresh instance.
//!
//! `cargo run --release --example languages -- rust=polite/rust.wasm js=polite/js.wasm …`, each a `chat` module; the
//! first one is what the others are compared with.

use hub_sandbox::contract::{CallContext, PlayerRef, Point, chat};
use hub_sandbox::{
    BoxFuture, Compiler, ComponentSource, EmptyHost, FilterChat, Limits, ModuleHandle, Sandbox, SandboxConfig,
};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

const CALLS: usize = 2000;
const CONFIG: &str = r#"{"words": ["darn", "heck"], "repeatMs": 5000}"#;

struct Bytes(Vec<u8>);

impl ComponentSource for Bytes {
    fn component(&self) -> BoxFuture<'_, Result<Vec<u8>, String>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// What a module cost.
struct Cost {
    bytes: usize,
    compile_cpu: f64,
    p50: f64,
    p99: f64,
    fuel: u64,
    memory: usize,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("language    size KiB   compile s   fresh call µs p50 (of first)      p99       fuel   memory KiB");
    let mut first = None;
    for argument in std::env::args().skip(1) {
        let (language, path) = argument.split_once('=').ok_or("each argument is LANGUAGE=FILE")?;
        let cost = measure(std::fs::read(path)?).await.map_err(|error| format!("{language}: {error}"))?;
        let base = *first.get_or_insert(cost.p50);
        println!(
            "{language:10} {:9} {:11.2} {:19.1} {:9.1}x {:12.1} {:10} {:12}",
            cost.bytes >> 10,
            cost.compile_cpu,
            cost.p50,
            cost.p50 / base,
            cost.p99,
            cost.fuel,
            cost.memory >> 10,
        );
    }
    Ok(())
}

async fn measure(component: Vec<u8>) -> Result<Cost, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("languages-{}", std::process::id()));
    let sandbox = Sandbox::new(SandboxConfig::new(Compiler::InProcess, folder.clone(), [0; 32]))?;
    let bytes = component.len();
    let before = cpu_seconds()?;
    let prepared = sandbox.prepare(component).await?;
    let compile_cpu = cpu_seconds()? - before;
    let module = sandbox.load(prepared.id, Arc::new(Bytes(prepared.component))).await?;
    let (mut times, mut fuel, mut memory) = (Vec::new(), 0, 0);
    for _ in 0..CALLS {
        let (micros, call_fuel, call_memory) = call(&sandbox, &module).await?;
        times.push(micros);
        (fuel, memory) = (call_fuel, call_memory);
    }
    times.sort_unstable_by(f64::total_cmp);
    std::fs::remove_dir_all(folder)?;
    Ok(Cost { bytes, compile_cpu, p50: times[CALLS / 2], p99: times[CALLS * 99 / 100], fuel, memory })
}

/// One call, all the way from the async task and back.
async fn call(sandbox: &Sandbox, module: &ModuleHandle) -> Result<(f64, u64, usize), Box<dyn Error>> {
    let limits = Limits { wall: Duration::from_secs(1), ..Limits::of(Point::Chat) };
    let input = Arc::new(line());
    let started = now();
    let report = sandbox.call::<FilterChat>(module, limits, Arc::new(EmptyHost), context(), input).await;
    let micros = started.elapsed().as_secs_f64() * 1e6;
    report.result?;
    Ok((micros, report.fuel, report.memory_bytes))
}

/// What this process has used of the processor, in all its threads.
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

fn context() -> CallContext {
    CallContext {
        call_id: "0123456789abcdef".into(),
        network_id: "0123456789abcdef".into(),
        now_ms: 1_700_000_000_000,
        seed: u64::MAX,
        config: CONFIG.into(),
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

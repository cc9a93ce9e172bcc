//! Cost of a call, through the sandbox and in bare wasmtime, with the starter module region-first.
//!
//! `cargo run --release -p hub-sandbox --example bench`

mod requests;

use bytes::Bytes;
use hub_sandbox::contract::matchmaking::{MatchRequest, Refusal, ServerCandidate};
use hub_sandbox::contract::{CallContext, Point};
use hub_sandbox::{
    Candidates, Compiler, EmptyHost, Limits, ModuleHandle, PlainTexts, RankServers, Sandbox, SandboxConfig,
};
use requests::{request, servers};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};

const CALLS: usize = 5000;
const SIZES: [u32; 4] = [0, 10, 100, 1000];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/region-first/region-first.wasm");
    let component = std::fs::read(plugin)?;
    let folder = std::env::temp_dir().join(format!("bench-{}", std::process::id()));
    for keep_resident_bytes in [0, 64 << 10, 256 << 10, 1 << 20] {
        let config =
            SandboxConfig { keep_resident_bytes, ..SandboxConfig::new(Compiler::InProcess, folder.clone(), [0; 32]) };
        println!("\n{} KiB of memory cleared in place", keep_resident_bytes >> 10);
        println!("candidates   sandbox p50  p99    with the way there p50  p99    bare wasmtime p50  p99   (µs)");
        let sandbox = Sandbox::new(config)?;
        let prepared = sandbox.prepare(component.clone()).await?;
        let module = sandbox.load(prepared.id, Arc::new(prepared.component)).await?;
        for size in SIZES {
            let (inside, whole) = through_sandbox(&sandbox, &module, size).await;
            let bare = bare(&component, size, keep_resident_bytes)?;
            println!("{size:10} {}      {}                 {}", show(inside), show(whole), show(bare));
        }
    }
    cold_start(&component, &folder).await?;
    Ok(std::fs::remove_dir_all(folder)?)
}

/// Calls one after the other: the time inside of the sandbox, and of the whole trip from the async task and back.
async fn through_sandbox(sandbox: &Sandbox, module: &ModuleHandle, size: u32) -> (Vec<f64>, Vec<f64>) {
    let (mut inside, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let texts = Arc::new(PlainTexts::default());
        let input = Arc::new(Candidates::new(Arc::new(request()), servers(size), texts));
        let started = now();
        let limits = Limits::of(Point::Matchmaking);
        let report = sandbox.call::<RankServers>(module, limits, Arc::new(EmptyHost), context(), input).await;
        whole.push(started.elapsed().as_secs_f64() * 1e6);
        if report.result.is_ok() {
            inside.push(report.micros as f64);
        }
    }
    (inside, whole)
}

type Params<'a> = (&'a CallContext, &'a MatchRequest, &'a [ServerCandidate]);
type Answer = (Result<Vec<u32>, Refusal>,);

/// The same fresh instance and typed call, with nothing around it.
fn bare(component: &[u8], size: u32, keep_resident_bytes: usize) -> wasmtime::Result<Vec<f64>> {
    let mut pool = PoolingAllocationConfig::new();
    pool.max_memories_per_component(1).linear_memory_keep_resident(keep_resident_bytes);
    let mut config = Config::new();
    config.concurrency_support(false).consume_fuel(true).epoch_interruption(true);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    let engine = Engine::new(&config)?;
    let component = Component::new(&engine, component)?;
    let mut linker = Linker::<()>::new(&engine);
    linker.define_unknown_imports_as_traps(&component)?;
    let pre = linker.instantiate_pre(&component)?;
    let interface = component.get_export_index(None, "network-hub:module/matchmaking@1.0.0");
    let export = component.get_export_index(interface.as_ref(), "rank-servers");
    let export = export.ok_or_else(|| wasmtime::Error::msg("no rank-servers"))?;
    let (context, request, servers) = (context(), request(), servers(size));
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let started = now();
        let mut store = Store::new(&engine, ());
        store.set_fuel(100_000_000)?;
        store.set_epoch_deadline(1000);
        let instance = pre.instantiate(&mut store)?;
        let function = instance.get_typed_func::<Params<'_>, Answer>(&mut store, &export)?;
        let (answer,) = function.call(&mut store, (&context, &request, &servers))?;
        drop(store);
        times.push(started.elapsed().as_secs_f64() * 1e6);
        assert_eq!(answer.map_or(0, |order| order.len()), servers.len());
    }
    Ok(times)
}

/// Loading compiled code from disk, as after a restart.
async fn cold_start(component: &[u8], folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..20 {
        let sandbox = Sandbox::new(SandboxConfig::new(Compiler::InProcess, folder.into(), [0; 32]))?;
        let source = Arc::new(Bytes::copy_from_slice(component));
        let started = now();
        sandbox.load(hub_sandbox::Sha256Sum::of(component), source).await?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    println!("\nloading compiled code from disk:{} (µs)", show(times));
    Ok(())
}

fn show(mut times: Vec<f64>) -> String {
    times.sort_unstable_by(f64::total_cmp);
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or(f64::NAN);
    format!("{:10.1} {:7.1}", at(50), at(99))
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
        seed: 1,
        config: "{}".into(),
        ..CallContext::default()
    }
}

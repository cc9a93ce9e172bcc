//! Benchmarks a module's test cases.

use std::time::Duration;

use clap::Args;
use hub_sandbox::test_case::{SharedInstances, TestCase};
use hub_sandbox::{CallReport, Limits};
use serde_json::{Value, json};

use crate::cli::module::local::{self, LocalModule};
use crate::cli::module::{explain, format};

/// Timeout well above any call's limit, so that slow calls are measured too.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Number of unmeasured warm-up calls.
const WARM_UP: usize = 10;

#[derive(Args, Debug)]
pub(in crate::cli) struct Bench {
    #[command(flatten)]
    cases: local::CaseArgs,
    /// Number of calls per case
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    calls: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Measurements of one step of a case.
struct Measurements {
    name: String,
    /// FRESH or REUSED, as in a chain's settings.
    instances: &'static str,
    /// Sorted.
    micros: Vec<u64>,
    /// Computing time, sorted.
    compute_micros: Vec<u64>,
    fuel: u64,
    memory_bytes: usize,
    limits: Limits,
}

impl Bench {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let calls = self.calls as usize;
        let (local, file) = self.cases.open().await?;
        let mut all = vec![];
        for (_, case) in &file.cases {
            all.extend(measure(&local, case, calls, None).await?);
            all.extend(measure(&local, case, calls, Some(SharedInstances::default())).await?);
        }
        if self.json {
            print_json!(json!(all.iter().map(Measurements::to_json).collect::<Vec<_>>()));
            return Ok(());
        }
        println!("{}: {} calls of each case, one after the other", local.file.display(), format::number(calls as u64));
        if cfg!(debug_assertions) {
            println!("(debug build: a release build is several times faster)");
        }
        let headers =
            ["case", "instances", "p50", "p99", "max", "of limit", "fuel", "of limit", "memory", "of limit", "calls/s"];
        print!("{}", format::table(headers, &all.iter().map(Measurements::row).collect::<Vec<_>>()));
        Ok(())
    }
}

/// Calls all steps of a case the given number of times.
async fn measure(
    local: &LocalModule,
    case: &TestCase,
    calls: usize,
    shared: Option<SharedInstances>,
) -> anyhow::Result<Vec<Measurements>> {
    let instances = if shared.is_some() { "REUSED" } else { "FRESH" };
    let limits = local::limits(case.point, None);
    let mut steps: Vec<_> = (0..case.steps.len())
        .map(|at| {
            let name =
                if case.steps.len() > 1 { format!("{} (step {})", case.name, at + 1) } else { case.name.clone() };
            Measurements { name, instances, micros: vec![], compute_micros: vec![], fuel: 0, memory_bytes: 0, limits }
        })
        .collect();
    for call in 0..WARM_UP + calls {
        let hub = case.host();
        for (step, measured) in case.steps.iter().zip(&mut steps) {
            let limits = limits.with_compute(TIMEOUT);
            let (host, context) = (hub.at(step.now_ms), case.context(step));
            let LocalModule { sandbox, module, .. } = local;
            let report = match &shared {
                Some(shared) => sandbox.call_shared(shared, module, limits, host, context, &step.input).await,
                None => sandbox.call_json(module, limits, host, context, &step.input).await,
            };
            if call >= WARM_UP {
                measured.record(&report);
            }
            if let Err(failure) = &report.result
                && step.expect.as_ref().is_none_or(|expect| expect.to_json().get("failure").is_none())
            {
                anyhow::bail!("{}: {}", measured.name, explain(failure));
            }
        }
    }
    for measured in &mut steps {
        measured.micros.sort_unstable();
        measured.compute_micros.sort_unstable();
    }
    Ok(steps)
}

fn percentile(sorted: &[u64], percent: usize) -> u64 {
    sorted.get(sorted.len() * percent / 100).or(sorted.last()).copied().unwrap_or(0)
}

impl Measurements {
    fn record(&mut self, report: &CallReport<Value>) {
        self.micros.push(report.micros);
        self.compute_micros.push(report.compute_micros);
        self.fuel = self.fuel.max(report.fuel);
        self.memory_bytes = self.memory_bytes.max(report.memory_bytes);
    }

    fn percentile(&self, percent: usize) -> u64 {
        percentile(&self.micros, percent)
    }

    fn calls_per_second(&self) -> u64 {
        let total: u64 = self.micros.iter().sum();
        self.micros.len() as u64 * 1_000_000 / total.max(1)
    }

    /// Percentages of the limits used: p99 of the computing time, fuel, memory.
    fn shares(&self) -> [f64; 3] {
        let Limits { compute, fuel, memory_bytes, .. } = self.limits;
        let share = |used: f64, limit: f64| used / limit * 100.0;
        [
            share(percentile(&self.compute_micros, 99) as f64, compute.as_micros() as f64),
            share(self.fuel as f64, fuel as f64),
            share(self.memory_bytes as f64, memory_bytes as f64),
        ]
    }

    fn row(&self) -> [String; 11] {
        let micros = |micros| format!("{} µs", format::number(micros));
        let [time, fuel, memory] = self.shares().map(|share| format!("{share:.1} %"));
        [
            self.name.clone(),
            self.instances.to_owned(),
            micros(self.percentile(50)),
            micros(self.percentile(99)),
            micros(self.percentile(100)),
            time,
            format::number(self.fuel),
            fuel,
            format::bytes(self.memory_bytes),
            memory,
            format::number(self.calls_per_second()),
        ]
    }

    fn to_json(&self) -> Value {
        let [time, fuel, memory] = self.shares();
        json!({
            "name": self.name, "instances": self.instances, "calls": self.micros.len(), "p50Micros": self.percentile(50), "p99Micros": self.percentile(99),
            "maxMicros": self.percentile(100), "fuel": self.fuel, "memoryBytes": self.memory_bytes,
            "callsPerSecond": self.calls_per_second(),
            "percentOfLimit": {"time": time, "fuel": fuel, "memory": memory},
        })
    }
}

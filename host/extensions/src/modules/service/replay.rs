//! Runs a module on recorded calls: with their inputs, time, seed and host answers.
//!
//! A replay changes nothing and gives the same result every time, to the byte and to the fuel. So a replayed call has
//! the recorded fuel, memory, host calls and log lines, else those of the chain, and far more time than that fuel
//! takes.

use std::sync::Arc;
use std::time::Duration;

use hub_sandbox::contract::CallContext;
use hub_sandbox::{AnyInput, CallReport, Limits, ModuleHandle, RecordedHost};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::cluster::RequestLease;
use crate::modules::Modules;
use crate::modules::limits::ModuleLimits;
use crate::modules::records::Record;
use crate::modules::service::dry_run::Target;
use crate::modules::service::error::ModulesError;
use crate::values::NetworkId;

/// Number of examples shown.
const MAX_EXAMPLES: usize = 10;
/// Time limit: a replay stops with the calls done so far.
const TIMEOUT: Duration = Duration::from_secs(20);
/// A replay computes for this long, then pauses for as long.
const TIME_SLICE: Duration = Duration::from_millis(10);
const COMPUTE: Duration = Duration::from_secs(10);

/// The outcome of a replay of many calls.
#[derive(Default)]
pub(in crate::modules) struct Summary {
    pub(in crate::modules) calls: u64,
    pub(in crate::modules) same: u64,
    pub(in crate::modules) different: u64,
    pub(in crate::modules) failed: u64,
    /// Host calls that the records do not answer.
    pub(in crate::modules) unrecorded: u64,
    /// The newest calls that differ or failed.
    pub(in crate::modules) examples: Vec<Replayed>,
}

/// A replayed call.
pub(in crate::modules) struct Replayed {
    pub(in crate::modules) record: Arc<Record>,
    pub(in crate::modules) config: String,
    /// Its input: that of the module of the same name, else that of the call.
    pub(in crate::modules) input: AnyInput,
    /// Recorded answer of the module of the same name, else the call's ruling.
    pub(in crate::modules) recorded: Value,
    pub(in crate::modules) report: CallReport<Value>,
    pub(in crate::modules) unrecorded: u64,
}

struct Replay<'a> {
    app: &'a App,
    network: NetworkId,
    target: &'a Target<'a>,
    module: ModuleHandle,
    /// Requested configuration.
    config: Option<String>,
    /// Configuration of the chain, else `{}`: for calls that did not reach the module.
    default_config: String,
    /// Limits of the chain, else of the network: likewise.
    default_limits: Limits,
}

impl<'a> Replay<'a> {
    async fn new(
        app: &'a App,
        network: NetworkId,
        target: &'a Target<'a>,
        config: Option<Map<String, Value>>,
    ) -> Result<Self, ModulesError> {
        let module = target.load(app, network).await?;
        let chain = app.state::<Modules>().load_chains(app, network).await?.get(target.point);
        let spec = chain.as_ref().and_then(|chain| chain.specs.iter().find(|spec| spec.name == target.name));
        let asked = spec.and_then(|spec| spec.limits);
        let default_limits = ModuleLimits::of(app, network).await?.of_link(target.point, asked.as_ref());
        let default_config = spec.map(|spec| serde_json::to_string(&spec.config)).transpose()?;
        let config = config.map(|config| serde_json::to_string(&config)).transpose()?;
        let default_config = default_config.unwrap_or_else(|| "{}".to_owned());
        Ok(Self { app, network, target, module, config, default_config, default_limits })
    }

    async fn run(&self, record: Arc<Record>) -> Replayed {
        let step = record.step(self.target.name);
        let recorded = step.map_or_else(|| record.ruling(), |(_, report)| report.result_json());
        let input = step.map_or_else(|| record.input.clone(), |(step, _)| step.input.clone());
        let recorded_config = step.map(|(step, _)| step.link.config.clone());
        let config = self.config.clone().or(recorded_config).unwrap_or_else(|| self.default_config.clone());
        let context = CallContext {
            call_id: record.call.call_id.clone(),
            network_id: record.call.network_id.clone(),
            now_ms: record.call.now_ms,
            seed: record.call.seed,
            config: config.clone(),
            ..CallContext::default()
        };
        let host = Arc::new(RecordedHost::replay(record.host_calls(self.target.name)));
        let limits = step.map_or(self.default_limits, |(step, _)| step.limits).with_compute(COMPUTE);
        let sandbox = &self.app.state::<Modules>().sandbox;
        let report = sandbox.call_json(&self.module, limits, Arc::clone(&host) as _, context, &input).await;
        Replayed { record, config, input, recorded, report, unrecorded: host.unrecorded() }
    }
}

/// Runs the module over the newest calls of its point, newest first.
pub(in crate::modules) async fn many(
    app: &App,
    network: NetworkId,
    target: &Target<'_>,
    last: usize,
    config: Option<Map<String, Value>>,
    lease: &RequestLease,
) -> Result<Summary, ModulesError> {
    let replay = Replay::new(app, network, target, config).await?;
    let chains = app.state::<Modules>().load_chains(app, replay.network).await?;
    let records = app.state::<Modules>().records.newest(network, target.point, last);
    lease.release();
    let _permit = chains.replays.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
    let (ends, mut pause_at) = (Instant::now() + TIMEOUT, Instant::now() + TIME_SLICE);
    let mut summary = Summary::default();
    for record in records {
        let now = Instant::now();
        if now >= ends {
            break;
        }
        if now >= pause_at {
            sleep(TIME_SLICE).await;
            pause_at = Instant::now() + TIME_SLICE;
        }
        summary.add(replay.run(record).await);
    }
    Ok(summary)
}

/// Replays one call.
pub(in crate::modules) async fn one(
    app: &App,
    network: NetworkId,
    target: &Target<'_>,
    call_id: &str,
    config: Option<Map<String, Value>>,
    lease: &RequestLease,
) -> Result<Replayed, ModulesError> {
    let replay = Replay::new(app, network, target, config).await?;
    let record = app.state::<Modules>().records.find(network, target.point, call_id);
    let record = record.ok_or_else(|| ModulesError::UnknownCall(call_id.to_owned(), target.point))?;
    lease.release();
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let _permit = chains.dry_runs.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
    Ok(replay.run(record).await)
}

impl Summary {
    fn add(&mut self, replayed: Replayed) {
        self.calls += 1;
        self.unrecorded += replayed.unrecorded;
        match &replayed.report.result {
            Ok(answer) if *answer == replayed.recorded => {
                self.same += 1;
                return;
            }
            Ok(_) => self.different += 1,
            Err(_) => self.failed += 1,
        }
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(replayed);
        }
    }
}

//! Running a module on calls of before: with their inputs, their clock and seed, and what the hub answered then.
//!
//! A replay changes nothing and comes to the same every time, to the byte and to the fuel. So time does not decide:
//! a replayed call has the point's fuel and memory, and far more time than that fuel takes.

use std::sync::Arc;
use std::time::Duration;

use hub_sandbox::case::{Input, RecordedHost};
use hub_sandbox::contract::CallContext;
use hub_sandbox::{CallReport, Limits, ModuleHandle};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::cluster::RequestLease;
use crate::modules::records::{Record, result};
use crate::modules::service::ModulesError;
use crate::modules::service::dry_run::Subject;
use crate::values::NetworkId;

/// Examples that are shown.
const EXAMPLES: usize = 10;
/// After this long it stops with what is done.
const WITHIN: Duration = Duration::from_secs(20);
/// It computes for this long at a time, and then leaves the machine to others for as long.
const AT_A_TIME: Duration = Duration::from_millis(10);
const WALL: Duration = Duration::from_secs(10);

/// What a replay of many calls came to.
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

/// A call, made again.
pub(in crate::modules) struct Replayed {
    pub(in crate::modules) record: Arc<Record>,
    pub(in crate::modules) config: String,
    /// What it was given: what the module of its name was given then, else the call's own input.
    pub(in crate::modules) input: Input,
    /// What the module of its name answered then, else what became of the call.
    pub(in crate::modules) recorded: Value,
    pub(in crate::modules) report: CallReport<Value>,
    pub(in crate::modules) unrecorded: u64,
}

struct Replay<'a> {
    app: &'a App,
    network: NetworkId,
    subject: &'a Subject<'a>,
    module: ModuleHandle,
    /// As asked for.
    config: Option<String>,
    /// The chain's, or none at all: for calls that the module had no part in.
    usual_config: String,
}

impl<'a> Replay<'a> {
    async fn new(
        app: &'a App,
        network: NetworkId,
        subject: &'a Subject<'a>,
        config: Option<Map<String, Value>>,
    ) -> Result<Self, ModulesError> {
        let module = subject.load(app, network).await?;
        let live = app.modules.loaded(app, network).await?.live(subject.point);
        let spec = live.as_ref().and_then(|live| live.specs.iter().find(|spec| spec.name == subject.name));
        let usual_config = spec.map(|spec| serde_json::to_string(&spec.config)).transpose()?;
        let config = config.map(|config| serde_json::to_string(&config)).transpose()?;
        let usual_config = usual_config.unwrap_or_else(|| "{}".to_owned());
        Ok(Self { app, network, subject, module, config, usual_config })
    }

    async fn run(&self, record: Arc<Record>) -> Replayed {
        let step = record.step(self.subject.name);
        let recorded = step.map_or_else(|| record.ruling(), |(_, report)| result(report));
        let input = step.map_or_else(|| record.input.clone(), |(step, _)| step.input.clone());
        let recorded_config = step.map(|(step, _)| step.link.config.clone());
        let config = self.config.clone().or(recorded_config).unwrap_or_else(|| self.usual_config.clone());
        let context = CallContext {
            call_id: record.call.call_id.clone(),
            network_id: record.call.network_id.clone(),
            now_ms: record.call.now_ms,
            seed: record.call.seed,
            config: config.clone(),
        };
        let host = Arc::new(RecordedHost::replay(record.host_calls(self.subject.name)));
        let limits = Limits { wall: WALL, ..self.app.settings.modules.limits(self.subject.point) };
        let sandbox = &self.app.modules.sandbox;
        let report = sandbox.call_with(&self.module, limits, Arc::clone(&host) as _, context, &input).await;
        Replayed { record, config, input, recorded, report, unrecorded: host.unrecorded() }
    }
}

/// Runs the module over the newest calls of its point, the newest first.
pub(in crate::modules) async fn many(
    app: &App,
    network: NetworkId,
    subject: &Subject<'_>,
    last: usize,
    config: Option<Map<String, Value>>,
    lease: &RequestLease,
) -> Result<Summary, ModulesError> {
    let replay = Replay::new(app, network, subject, config).await?;
    let known = app.modules.loaded(app, replay.network).await?;
    let records = app.modules.records.newest(network, subject.point, last);
    lease.release();
    let _turn = known.replays.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
    let (ends, mut pause_at) = (Instant::now() + WITHIN, Instant::now() + AT_A_TIME);
    let mut summary = Summary::default();
    for record in records {
        let now = Instant::now();
        if now >= ends {
            break;
        }
        if now >= pause_at {
            sleep(AT_A_TIME).await;
            pause_at = Instant::now() + AT_A_TIME;
        }
        summary.add(replay.run(record).await);
    }
    Ok(summary)
}

/// Makes one call again.
pub(in crate::modules) async fn one(
    app: &App,
    network: NetworkId,
    subject: &Subject<'_>,
    call_id: &str,
    config: Option<Map<String, Value>>,
    lease: &RequestLease,
) -> Result<Replayed, ModulesError> {
    let replay = Replay::new(app, network, subject, config).await?;
    let record = app.modules.records.find(network, subject.point, call_id);
    let record = record.ok_or_else(|| ModulesError::UnknownCall(call_id.to_owned(), subject.point))?;
    lease.release();
    let known = app.modules.loaded(app, network).await?;
    let _turn = known.dry_runs.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
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
        if self.examples.len() < EXAMPLES {
            self.examples.push(replayed);
        }
    }
}

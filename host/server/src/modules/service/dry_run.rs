//! Running a module once without effect.

use std::sync::Arc;

use hub_sandbox::contract::matchmaking::{ServerCandidate, WorldCandidate};
use hub_sandbox::contract::{CallContext, Point, chat, punishment};
use hub_sandbox::{
    CallReport, Candidates, FilterChat, ModuleHandle, Operation, RankAnswer, RankServers, RankWorlds, ReviewPunishment,
};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::modules::host::DryHost;
use crate::modules::service::{ModulesError, chains};
use crate::values::NetworkId;

/// What the module is given.
pub(in crate::modules) enum Input {
    Servers(Candidates<ServerCandidate>),
    Worlds(Candidates<WorldCandidate>),
    Line(chat::Line),
    Proposal(punishment::Proposal),
}

/// A module as a dry run names it.
pub(in crate::modules) struct Subject<'a> {
    pub(in crate::modules) name: &'a str,
    pub(in crate::modules) version: i64,
    pub(in crate::modules) point: Point,
    pub(in crate::modules) config: Map<String, Value>,
}

/// Runs the module once with the limits of its point. It reads what it would read, and what it writes is forgotten.
pub(in crate::modules) async fn run(
    app: &App,
    network: NetworkId,
    subject: Subject<'_>,
    input: Input,
) -> Result<CallReport<Value>, ModulesError> {
    let Subject { name, version, point, config } = subject;
    let module = match chains::module(app, network, point, name, version).await {
        Err(ModulesError::UnknownVersion(name, version)) => {
            return Err(ModulesError::UnknownModule(format!("{name} version {version}")));
        }
        module => module?,
    };
    let known = app.modules.loaded(app, network).await?;
    let _turn = known.dry_runs.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
    let dry = Dry {
        app,
        module,
        host: Arc::new(DryHost::new(app, network, name)),
        point,
        context: CallContext {
            call_id: app.ids.token(16),
            network_id: network.to_string(),
            now_ms: u64::try_from(app.clock.now()).unwrap_or(0),
            seed: app.ids.seed(),
            config: serde_json::to_string(&config)?,
        },
    };
    Ok(match input {
        Input::Servers(input) => told(dry.call::<RankServers>(input).await, ranking),
        Input::Worlds(input) => told(dry.call::<RankWorlds>(input).await, ranking),
        Input::Line(line) => told(dry.call::<FilterChat>(line).await, |verdict| json!(verdict)),
        Input::Proposal(proposal) => told(dry.call::<ReviewPunishment>(proposal).await, |verdict| json!(verdict)),
    })
}

struct Dry<'a> {
    app: &'a App,
    module: ModuleHandle,
    host: Arc<DryHost>,
    point: Point,
    context: CallContext,
}

impl Dry<'_> {
    async fn call<O: Operation>(self, input: O::Input) -> CallReport<O::Answer> {
        let limits = self.app.settings.modules.limits(self.point);
        self.app.modules.sandbox.call::<O>(&self.module, limits, self.host, self.context, Arc::new(input)).await
    }
}

fn ranking(answer: RankAnswer) -> Value {
    match answer {
        Ok(order) => json!({"order": order}),
        Err(refusal) => json!({"refused": refusal.reason}),
    }
}

/// The report with its answer as JSON.
fn told<A>(report: CallReport<A>, json: impl FnOnce(A) -> Value) -> CallReport<Value> {
    CallReport {
        result: report.result.map(json),
        micros: report.micros,
        fuel: report.fuel,
        memory_bytes: report.memory_bytes,
        logs: report.logs,
        logs_dropped: report.logs_dropped,
        host_calls: report.host_calls,
    }
}

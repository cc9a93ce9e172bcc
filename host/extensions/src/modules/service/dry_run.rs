//! Running a module once without effect.

use std::sync::Arc;

use hub_sandbox::contract::{CallContext, Point};
use hub_sandbox::{AnyInput, CallReport, ModuleHandle};
use serde_json::{Map, Value};

use crate::app::App;
use crate::modules::Modules;
use crate::modules::host::DryHost;
use crate::modules::limits::ModuleLimits;
use crate::modules::service::error::ModulesError;
use crate::modules::service::links;
use crate::values::NetworkId;

/// The module and point of a dry run or replay.
pub(in crate::modules) struct Target<'a> {
    pub(in crate::modules) name: &'a str,
    pub(in crate::modules) version: i64,
    pub(in crate::modules) point: Point,
}

impl Target<'_> {
    /// Loads the module. A missing one is 404: the caller names it, unlike one that a chain names.
    pub(super) async fn load(&self, app: &App, network: NetworkId) -> Result<ModuleHandle, ModulesError> {
        match links::load_module(app, network, self.point, self.name, self.version).await {
            Err(ModulesError::UnknownVersion(name, version)) => {
                Err(ModulesError::UnknownModule(format!("{name} version {version}")))
            }
            module => module,
        }
    }
}

/// Options of a dry run; the defaults are those of production.
#[derive(Default)]
pub(in crate::modules) struct DryRunOptions {
    pub(in crate::modules) config: Map<String, Value>,
    pub(in crate::modules) now_ms: Option<u64>,
    pub(in crate::modules) seed: Option<u64>,
}

/// Outcome of a dry run, with its time and seed.
pub(in crate::modules) struct DryRun {
    pub(in crate::modules) report: CallReport<Value>,
    pub(in crate::modules) now_ms: u64,
    pub(in crate::modules) seed: u64,
}

/// Runs the module once with the limits of its point. It reads real data, and its writes are discarded.
pub(in crate::modules) async fn run(
    app: &App,
    network: NetworkId,
    target: Target<'_>,
    options: DryRunOptions,
    input: &AnyInput,
) -> Result<DryRun, ModulesError> {
    let module = target.load(app, network).await?;
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let _permit = chains.dry_runs.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
    let now_ms = options.now_ms.unwrap_or_else(|| u64::try_from(app.clock.now()).unwrap_or(0));
    let seed = options.seed.unwrap_or_else(|| app.ids.seed());
    let context = CallContext {
        call_id: app.ids.token(16),
        network_id: network.to_string(),
        now_ms,
        seed,
        config: serde_json::to_string(&options.config)?,
        ..CallContext::default()
    };
    let host = Arc::new(DryHost::new(app, network, target.name));
    let limits = ModuleLimits::of(app, network).await?.at(target.point);
    let report = app.state::<Modules>().sandbox.call_json(&module, limits, host, context, input).await;
    Ok(DryRun { report, now_ms, seed })
}

//! Running a module once without effect.

use std::sync::Arc;

use hub_sandbox::case::Input;
use hub_sandbox::contract::{CallContext, Point};
use hub_sandbox::{CallReport, ModuleHandle};
use serde_json::{Map, Value};

use crate::app::App;
use crate::modules::host::DryHost;
use crate::modules::service::{ModulesError, chains};
use crate::values::NetworkId;

/// A module as a dry run names it.
pub(in crate::modules) struct Subject<'a> {
    pub(in crate::modules) name: &'a str,
    pub(in crate::modules) version: i64,
    pub(in crate::modules) point: Point,
}

impl Subject<'_> {
    /// The module, loaded. One that there is not is 404: it is what the caller asks for, not what a chain names.
    pub(super) async fn load(&self, app: &App, network: NetworkId) -> Result<ModuleHandle, ModulesError> {
        match chains::module(app, network, self.point, self.name, self.version).await {
            Err(ModulesError::UnknownVersion(name, version)) => {
                Err(ModulesError::UnknownModule(format!("{name} version {version}")))
            }
            module => module,
        }
    }
}

/// What a dry run is made with; what is left out is as in production.
#[derive(Default)]
pub(in crate::modules) struct Terms {
    pub(in crate::modules) config: Map<String, Value>,
    pub(in crate::modules) now_ms: Option<u64>,
    pub(in crate::modules) seed: Option<u64>,
}

/// How a dry run went, and what it was made with.
pub(in crate::modules) struct DryRun {
    pub(in crate::modules) report: CallReport<Value>,
    pub(in crate::modules) now_ms: u64,
    pub(in crate::modules) seed: u64,
}

/// Runs the module once with the limits of its point. It reads what it would read, and what it writes is forgotten.
pub(in crate::modules) async fn run(
    app: &App,
    network: NetworkId,
    subject: Subject<'_>,
    terms: Terms,
    input: &Input,
) -> Result<DryRun, ModulesError> {
    let module = subject.load(app, network).await?;
    let known = app.modules.loaded(app, network).await?;
    let _turn = known.dry_runs.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
    let now_ms = terms.now_ms.unwrap_or_else(|| u64::try_from(app.clock.now()).unwrap_or(0));
    let seed = terms.seed.unwrap_or_else(|| app.ids.seed());
    let context = CallContext {
        call_id: app.ids.token(16),
        network_id: network.to_string(),
        now_ms,
        seed,
        config: serde_json::to_string(&terms.config)?,
    };
    let host = Arc::new(DryHost::new(app, network, subject.name));
    let limits = app.settings.modules.limits(subject.point);
    let report = app.modules.sandbox.call_with(&module, limits, host, context, input).await;
    Ok(DryRun { report, now_ms, seed })
}

//! Running a module once without effect.

use std::sync::Arc;

use hub_sandbox::CallReport;
use hub_sandbox::case::Input;
use hub_sandbox::contract::{CallContext, Point};
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
    pub(in crate::modules) config: Map<String, Value>,
}

/// Runs the module once with the limits of its point. It reads what it would read, and what it writes is forgotten.
pub(in crate::modules) async fn run(
    app: &App,
    network: NetworkId,
    subject: Subject<'_>,
    input: &Input,
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
    let context = CallContext {
        call_id: app.ids.token(16),
        network_id: network.to_string(),
        now_ms: u64::try_from(app.clock.now()).unwrap_or(0),
        seed: app.ids.seed(),
        config: serde_json::to_string(&config)?,
    };
    let host = Arc::new(DryHost::new(app, network, name));
    let limits = app.settings.modules.limits(point);
    Ok(app.modules.sandbox.call_with(&module, limits, host, context, input).await)
}

//! Running a point's chain once without effect.

use std::sync::Arc;
use std::time::Duration;

use hub_sandbox::{Chain, Operation};

use crate::app::App;
use crate::limits;
use crate::modules::Modules;
use crate::modules::limits::ModuleLimits;
use crate::modules::model::Mode;
use crate::modules::service::calls::new_call;
use crate::modules::service::error::ModulesError;
use crate::modules::service::links;
use crate::values::NetworkId;

/// A module's part in such a run.
#[derive(Clone, Debug)]
pub struct DryStep {
    pub name: String,
    pub version: i64,
    pub has_failed: bool,
}

/// Asks the network's modules without effect: they read real data, and what they write is discarded; nothing is counted,
/// logged or recorded, and a module that is skipped for its failures is called.
pub async fn dry_call<O: Operation>(
    app: &App,
    network: NetworkId,
    input: O::Input,
) -> Result<(O::Ruling, Vec<DryStep>), ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let Some(active) = chains.get(O::POINT) else { return Ok((O::Ruling::default(), vec![])) };
    let _permit = chains.dry_runs.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
    let mut made = vec![];
    for spec in active.specs.iter().filter(|spec| spec.mode != Mode::Shadow) {
        made.push(links::make_dry(app, network, O::POINT, spec).await?);
    }
    let chain = Chain::new(made, ModuleLimits::of(app, network).await?.max_calls(O::POINT));
    let call = new_call(app, network);
    let outcome = app.state::<Modules>().sandbox.run_chain::<O>(&chain, &call, Arc::new(input)).await;
    // Nothing else is counted, but the time is the network's.
    let spent = outcome.steps.iter().filter_map(|step| step.report.as_ref()).map(|report| report.compute_micros).sum();
    limits::charge_module_time(app, network, Duration::from_micros(spent)).await;
    let steps = outcome.steps.iter().map(|step| {
        let config = step.link.config();
        DryStep {
            name: config.name.clone(),
            version: i64::try_from(config.version).unwrap_or(i64::MAX),
            has_failed: step.report.as_ref().is_none_or(|report| report.result.is_err()),
        }
    });
    let steps = steps.collect();
    Ok((outcome.ruling, steps))
}

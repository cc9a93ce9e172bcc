//! Links of the point `schedules`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use hub_db::{Error, Tx};
use hub_sandbox::contract::Point;
use hub_sandbox::manifest::{Manifest, Schedule};

use crate::app::App;
use crate::clock::Millis;
use crate::modules::Modules;
use crate::modules::handlers::attempt::Handler;
use crate::modules::handlers::links as of_events;
use crate::modules::handlers::schedules::due;
use crate::modules::handlers::schedules::model::catch_up_name;
use crate::modules::handlers::store::{schedules as store, timers};
use crate::modules::limits::ModuleLimits;
use crate::modules::model::LinkSpec;
use crate::modules::service::ModulesError;
use crate::modules::service::links::{self, ReusableLinks};
use crate::values::NetworkId;

/// Schedules of a network.
const MAX_SCHEDULES: usize = 64;

/// A link whose manifest, configuration and grants are good.
#[derive(Clone, Debug)]
pub(in crate::modules) struct CheckedSchedules {
    name: String,
    schedules: Vec<Schedule>,
    has_timers: bool,
}

/// Checks each link against the manifest of its version.
pub(in crate::modules) async fn check(
    app: &App,
    network: NetworkId,
    specs: &[LinkSpec],
) -> Result<Vec<CheckedSchedules>, ModulesError> {
    let mut checked = vec![];
    for (at, spec) in specs.iter().enumerate() {
        let manifest = of_events::manifest_of(app, network, spec).await?;
        let manifest = manifest.filter(|manifest| !manifest.schedules.is_empty() || manifest.timers);
        let Some(manifest) = manifest else {
            return Err(ModulesError::PointNotOffered(spec.name.clone(), spec.version, Point::Schedules));
        };
        of_events::check_config(at, spec, &manifest)?;
        let Manifest { needs, schedules, timers: has_timers, .. } = manifest;
        of_events::check_grants(spec, &needs)?;
        checked.push(CheckedSchedules { name: spec.name.clone(), schedules, has_timers });
    }
    if checked.iter().map(|link| link.schedules.len()).sum::<usize>() > MAX_SCHEDULES {
        return Err(ModulesError::InvalidChain(format!("modules`: a network has at most {MAX_SCHEDULES} schedules")));
    }
    Ok(checked)
}

/// Makes the schedules those of a chain, in the transaction that stores it. A schedule with the same times goes on.
pub(in crate::modules) async fn follow(
    tx: &mut Tx,
    network: NetworkId,
    chain: &[CheckedSchedules],
    before: &[LinkSpec],
    now: Millis,
) -> Result<(), Error> {
    for link in chain {
        for row in store::list(&mut *tx, network, &link.name).await? {
            if !link.schedules.iter().any(|schedule| schedule.name == row.name) {
                store::delete(tx, network, &link.name, &row.name).await?;
            }
        }
        for Schedule { name, cron, catch_up } in &link.schedules {
            let times = cron.to_string();
            let definition = (name.as_str(), times.as_str(), catch_up_name(*catch_up));
            store::put(tx, network, &link.name, definition, (due::after(cron, now), now)).await?;
        }
        if link.has_timers {
            timers::unpark(tx, network, &link.name).await?;
        } else {
            timers::park(tx, network, &link.name).await?;
        }
    }
    let stays = |name: &str| chain.iter().any(|link| link.name == name);
    for name in before.iter().map(|spec| spec.name.as_str()).collect::<BTreeSet<_>>() {
        if stays(name) {
            continue;
        }
        for row in store::list(&mut *tx, network, name).await? {
            store::delete(tx, network, name, &row.name).await?;
        }
        timers::park(tx, network, name).await?;
    }
    Ok(())
}

/// True if what is due waits: a backup was restored.
pub(super) async fn are_paused(app: &App, network: NetworkId) -> Result<bool, ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    Ok(chains.get(Point::Schedules).is_some_and(|chain| chain.is_paused))
}

/// Modules of the network's chain by name; none for one that could not be loaded.
pub(super) async fn handlers(app: &App, network: NetworkId) -> Result<HashMap<String, Option<Handler>>, ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let Some(chain) = chains.get(Point::Schedules).filter(|chain| !chain.is_paused) else { return Ok(HashMap::new()) };
    if let Ok(limits) = ModuleLimits::of(app, network).await {
        chain.set_limits(limits);
    }
    let mut found = HashMap::new();
    for (spec, link) in chain.links() {
        let link = if let Some(link) = link {
            Some(Arc::clone(link))
        } else {
            let mut reusable = ReusableLinks::new(std::iter::empty());
            let made = links::reuse_or_make(app, network, Point::Schedules, spec, &mut reusable).await;
            made.inspect_err(|error| {
                tracing::error!(%network, module = spec.name, version = spec.version, %error, "not loaded");
            })
            .ok()
        };
        let grants = spec.grants.clone().unwrap_or_default();
        found.insert(spec.name.clone(), link.map(|link| Handler { link, grants, events: Arc::default() }));
    }
    Ok(found)
}

/// The module of this name, if it is in the chain and loaded.
pub(in crate::modules::handlers) async fn handler(
    app: &App,
    network: NetworkId,
    module: &str,
) -> Result<Option<Handler>, ModulesError> {
    Ok(handlers(app, network).await?.remove(module).flatten())
}

/// Version of a module in the chain.
pub(super) async fn version(app: &App, network: NetworkId, module: &str) -> Result<Option<i64>, ModulesError> {
    let chain = app.state::<Modules>().load_chains(app, network).await?.get(Point::Schedules);
    Ok(chain.and_then(|chain| chain.specs.iter().find(|spec| spec.name == module).map(|spec| spec.version)))
}

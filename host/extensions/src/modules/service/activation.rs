//! Activations: all links of one module, changed together.
//!
//! Invariant: links that an activation made at several points have one version and configuration, and one set of grants
//! where the point has grants.

use std::collections::BTreeMap;
use std::sync::Arc;

use hub_sandbox::contract::Point;
use hub_sandbox::manifest::Grants;
use serde_json::{Map, Value};

use crate::app::App;
use crate::audit::Action;
use crate::auth::Scope;
use crate::cluster::RequestLease;
use crate::http::if_match::{IfMatch, revision_of};
use crate::modules::Modules;
use crate::modules::limits::{LinkLimits, ModuleLimits};
use crate::modules::model::{Beginning, Instances, LinkSpec, Mode, OnFailure};
use crate::modules::service::chains::{self, ChainCaller, Change, FailedTrial, NewChain};
use crate::modules::service::error::ModulesError;
use crate::modules::state::{ActiveChain, NetworkChains};
use crate::modules::store::activations as store;
use crate::values::NetworkId;

/// Links of a module by extension point.
type LinksByPoint = BTreeMap<Point, Vec<LinkSpec>>;

/// Values that all links of an activation share.
pub(in crate::modules) struct NewActivation {
    pub(in crate::modules) version: i64,
    pub(in crate::modules) config: Map<String, Value>,
    pub(in crate::modules) grants: Option<Grants>,
    pub(in crate::modules) from: Option<Beginning>,
    pub(in crate::modules) points: BTreeMap<Point, NewLink>,
}

/// Values that each link has of its own.
pub(in crate::modules) struct NewLink {
    pub(in crate::modules) mode: Mode,
    pub(in crate::modules) percent: i64,
    pub(in crate::modules) on_failure: Option<OnFailure>,
    pub(in crate::modules) instances: Instances,
    pub(in crate::modules) limits: Option<LinkLimits>,
}

/// Chains that have links of a module.
pub(in crate::modules) type ActiveLinks = Vec<(Point, Arc<ActiveChain>)>;

/// Marks the links that were an activation's before as such.
pub(super) fn carry_over(specs: &mut [LinkSpec], previous: Option<&ActiveChain>) {
    for before in previous.iter().flat_map(|chain| &chain.specs).filter(|spec| spec.is_of_activation()) {
        let of_mode = specs.iter().position(|spec| spec.name == before.name && spec.mode == before.mode);
        let at = of_mode.or_else(|| specs.iter().position(|spec| spec.name == before.name));
        if let Some(spec) = at.and_then(|at| specs.get_mut(at)) {
            spec.activation = Some(true);
        }
    }
}

/// Refuses a chain that would part links of an activation.
pub(super) fn check_together(chains: &NetworkChains, point: Point, specs: &[LinkSpec]) -> Result<(), ModulesError> {
    let previous = chains.get(point);
    let before = previous.iter().flat_map(|chain| &chain.specs);
    for spec in before.chain(specs).filter(|spec| spec.is_of_activation()) {
        let now = specs.iter().find(|now| now.name == spec.name && now.is_of_activation());
        for other in Point::ALL.into_iter().filter(|other| *other != point) {
            let Some(chain) = chains.get(other) else { continue };
            let Some(link) = chain.specs.iter().find(|it| it.name == spec.name && it.is_of_activation()) else {
                continue;
            };
            let shares = |now: &LinkSpec| {
                let grants = point.is_override() || other.is_override() || now.grants == link.grants;
                now.version == link.version && now.config == link.config && grants
            };
            if !now.is_some_and(shares) {
                return Err(ModulesError::UseActivation(spec.name.clone()));
            }
        }
    }
    Ok(())
}

/// Chains that have links of a module, by point.
fn active(chains: &NetworkChains, name: &str) -> ActiveLinks {
    let found = Point::ALL.into_iter().filter_map(|point| Some((point, chains.get(point)?)));
    found.filter(|(_, chain)| chain.specs.iter().any(|spec| spec.name == name)).collect()
}

/// Links of a module by point.
fn links_of(chains: &NetworkChains, name: &str) -> LinksByPoint {
    let of = |chain: &ActiveChain| chain.specs.iter().filter(|spec| spec.name == name).cloned().collect();
    active(chains, name).into_iter().map(|(point, chain)| (point, of(&chain))).collect()
}

/// A chain with other links of a module: in the place of its first one, or last.
fn placed(chain: &[LinkSpec], name: &str, links: Vec<LinkSpec>) -> Vec<LinkSpec> {
    let at = chain.iter().position(|spec| spec.name == name).unwrap_or(chain.len());
    let others = |specs: &[LinkSpec]| specs.iter().filter(|spec| spec.name != name).cloned().collect::<Vec<_>>();
    let (before, after) = chain.split_at(at);
    [others(before), links, others(after)].concat()
}

/// The chains with links of a module.
pub(in crate::modules) async fn get(app: &App, network: NetworkId, name: &str) -> Result<ActiveLinks, ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    Ok(active(&chains, name))
}

/// Revision of a module's links; 0 if it is in no chain.
pub(in crate::modules) fn revision(links: &ActiveLinks, name: &str) -> i64 {
    let of = |chain: &ActiveChain| chain.specs.iter().filter(|spec| spec.name == name).cloned().collect();
    let links: LinksByPoint = links.iter().map(|(point, chain)| (*point, of(chain))).collect();
    some(&links).map_or(0, revision_of)
}

/// Links, if there are any.
fn some(links: &LinksByPoint) -> Option<&LinksByPoint> {
    Some(links).filter(|links| !links.is_empty())
}

/// Refuses the change of links that somebody changed since they were read.
fn check_revision(
    chains: &NetworkChains,
    name: &str,
    caller: &ChainCaller,
    expected: IfMatch,
) -> Result<(), ModulesError> {
    let checked = expected.check(some(&links_of(chains, name)));
    let may_read = caller.scopes.allow(Scope::ModulesRead);
    Ok(checked.map_err(|changed| if may_read { changed } else { changed.without_value() })?)
}

/// Refuses what none of the points has.
fn check_new(new: &NewActivation) -> Result<(), ModulesError> {
    let invalid = |message: &str| Err(ModulesError::InvalidChain(message.to_owned()));
    if new.points.is_empty() {
        return invalid("points`: name at least one; a module is taken out of all by DELETE");
    }
    if new.from.is_some() && !new.points.contains_key(&Point::Events) {
        return invalid("from`: only modules at `events` have a beginning");
    }
    let has_grants = new.grants.as_ref().is_some_and(|grants| *grants != Grants::default());
    if has_grants && new.points.keys().all(|point| point.is_override()) {
        return invalid("grants`: only modules that answer with effects have grants");
    }
    Ok(())
}

/// An error about a link in a chain as one about an activation; those about other links stay.
fn of_activation(point: Point, place: usize, error: ModulesError) -> ModulesError {
    match error {
        ModulesError::InvalidChain(text) => {
            let Some(what) = text.strip_prefix(&format!("modules[{place}].")) else {
                return ModulesError::InvalidChain(text);
            };
            let is_shared = ["grants", "config", "from"].iter().any(|field| what.starts_with(field));
            let holder = if is_shared { String::new() } else { format!("points.{point}.") };
            ModulesError::InvalidChain(format!("{holder}{what}"))
        }
        ModulesError::InvalidConfig { at, path, reason } if at == Some(place) => {
            ModulesError::InvalidConfig { at: None, path, reason }
        }
        ModulesError::FailedTrial { place: at, name, why } if at == format!("modules[{place}]") => {
            ModulesError::FailedTrial { place: format!("points.{point}"), name, why }
        }
        error => error,
    }
}

/// Activates a version at all points of the activation, and takes the module out of all others.
pub(in crate::modules) async fn put(
    app: &App,
    network: NetworkId,
    name: &str,
    (new, expected): (NewActivation, IfMatch),
    force: bool,
    lease: &RequestLease,
    caller: &ChainCaller,
) -> Result<(ActiveLinks, Vec<FailedTrial>), ModulesError> {
    check_new(&new)?;
    let NewActivation { version, config, grants, from, points } = new;
    let link = |(point, link): (Point, NewLink)| {
        let spec = LinkSpec {
            name: name.to_owned(),
            version,
            config: config.clone(),
            mode: link.mode,
            percent: link.percent,
            on_failure: link.on_failure,
            instances: link.instances,
            limits: link.limits.filter(|limits| *limits != LinkLimits::default()),
            grants: grants.clone().filter(|grants| !point.is_override() && *grants != Grants::default()),
            from: from.filter(|_| point == Point::Events),
            activation: Some(true),
            granted_by: None,
            granted_at: None,
        };
        (point, vec![spec])
    };
    let links = points.into_iter().map(link).collect();
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let _changing = chains.changing.lock().await;
    check_revision(&chains, name, caller, expected)?;
    let failed = change(app, network, &chains, (name, links), Action::ChainPut, force, (lease, caller)).await?;
    for (_, chain) in active(&chains, name) {
        chain.close_breakers();
    }
    Ok((active(&chains, name), failed))
}

/// Takes a module out of all chains.
pub(in crate::modules) async fn delete(
    app: &App,
    network: NetworkId,
    (name, expected): (&str, IfMatch),
    lease: &RequestLease,
    caller: &ChainCaller,
) -> Result<(), ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let _changing = chains.changing.lock().await;
    if active(&chains, name).is_empty() {
        return Err(ModulesError::UnknownModule(name.to_owned()));
    }
    check_revision(&chains, name, caller, expected)?;
    let none = (name, LinksByPoint::new());
    change(app, network, &chains, none, Action::ChainPut, true, (lease, caller)).await.map(drop)
}

/// Restores the links of a module before its last activation.
pub(in crate::modules) async fn roll_back(
    app: &App,
    network: NetworkId,
    (name, expected): (&str, IfMatch),
    lease: &RequestLease,
    caller: &ChainCaller,
) -> Result<ActiveLinks, ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let _changing = chains.changing.lock().await;
    let previous = store::previous(&app.db, network, name).await?;
    let previous = previous.ok_or_else(|| ModulesError::NoActivationBefore(name.to_owned()))?;
    check_revision(&chains, name, caller, expected)?;
    let links = (name, serde_json::from_str(&previous)?);
    change(app, network, &chains, links, Action::ChainRolledBack, true, (lease, caller)).await?;
    Ok(active(&chains, name))
}

/// Makes a module's links these, at all points. Returns those that failed their trials.
async fn change(
    app: &App,
    network: NetworkId,
    chains: &NetworkChains,
    (name, mut links): (&str, LinksByPoint),
    action: Action,
    force: bool,
    (lease, caller): (&RequestLease, &ChainCaller),
) -> Result<Vec<FailedTrial>, ModulesError> {
    let before = links_of(chains, name);
    let limits = ModuleLimits::of(app, network).await?;
    let (mut prepared, mut failed) = (vec![], vec![]);
    for point in Point::ALL {
        let previous = chains.get(point);
        let current = previous.as_ref().map_or(&[][..], |chain| &chain.specs);
        let mut own = links.remove(&point).unwrap_or_default();
        if own.is_empty() && current.iter().all(|spec| spec.name != name) {
            // Not of this module: it stays as it is, paused or not.
            continue;
        }
        let marks: Vec<_> = own.iter().map(|spec| spec.activation).collect();
        chains::normalize(&mut own, point).map_err(|error| of_activation(point, 0, error))?;
        own.iter_mut().zip(marks).for_each(|(spec, mark)| spec.activation = mark);
        let specs = placed(current, name, own);
        let place = specs.iter().position(|spec| spec.name == name).unwrap_or(specs.len());
        let told = |error| of_activation(point, place, error);
        chains::check(&specs, point, &limits).map_err(told)?;
        let preparing = chains::prepare(app, network, chains, point, specs, force, caller);
        let (chain, of_chain) = preparing.await.map_err(told)?;
        failed.extend(of_chain.into_iter().filter(|(failing, ..)| failing == name));
        prepared.push(chain);
    }
    let own = |new: &NewChain| {
        let links: Vec<_> = new.specs.iter().filter(|spec| spec.name == name).cloned().collect();
        (!links.is_empty()).then_some((new.point, links))
    };
    let after: LinksByPoint = prepared.iter().filter_map(own).collect();
    let previous = serde_json::to_string(&before)?;
    // The same links again, as after a restore, leave those before them to be brought back.
    let activation = (after != before).then_some((name, previous.as_str()));
    let change = Change { chains: prepared, action, activation };
    chains::replace(app, network, chains, change, lease, caller).await?;
    Ok(failed)
}

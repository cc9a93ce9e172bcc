//! Chains of the extension points: reading, replacing, rolling back.

use std::collections::BTreeSet;
use std::sync::Arc;

use hub_db::Tx;
use hub_sandbox::Link;
use hub_sandbox::contract::Point;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::audit::{self, Action};
use crate::auth::{Origin, Scopes};
use crate::cluster::{RequestLease, ShardRegistry};
use crate::modules::Modules;
use crate::modules::endpoints;
use crate::modules::handlers::{self, Activation, CheckedLink, CheckedSchedules};
use crate::modules::limits::ModuleLimits;
use crate::modules::model::{LinkSpec, MAX_CONFIG_BYTES, Mode};
use crate::modules::service::activation;
use crate::modules::service::error::ModulesError;
use crate::modules::service::links::{self, ReusableLinks};
use crate::modules::service::revisions;
use crate::modules::state::{ActiveChain, NetworkChains};
use crate::modules::store::revisions::{self as kept, NewRevision};
use crate::modules::store::{activations, chains as store, versions};
use crate::values::{NetworkId, hex};

/// Modules in the chain of one extension point.
const MAX_LINKS: usize = 16;

/// Chain of a point; none if it never had one.
pub(in crate::modules) async fn get(
    app: &App,
    network: NetworkId,
    point: Point,
) -> Result<Option<Arc<ActiveChain>>, ModulesError> {
    Ok(app.state::<Modules>().load_chains(app, network).await?.get(point))
}

/// Has the modules that act by themselves wait until they are activated again: a backup was restored, and what they do
/// outside of the hub would be done twice.
pub async fn pause_restored(db: &hub_db::Db) -> Result<(), hub_db::Error> {
    store::pause(db).await
}

/// A module that failed its trial: name, version and reason.
pub(in crate::modules) type FailedTrial = (String, i64, String);

/// Replaces a chain from the next call on, and closes its breakers. An identical chain has no other effect.
///
/// Each module is tried with its configuration first. A failing one is refused unless it is unchanged in the chain or
/// `force` is given; returns those that failed.
pub(in crate::modules) async fn put(
    app: &App,
    network: NetworkId,
    point: Point,
    mut specs: Vec<LinkSpec>,
    force: bool,
    lease: &RequestLease,
    caller: &ChainCaller,
) -> Result<(Option<Arc<ActiveChain>>, Vec<FailedTrial>), ModulesError> {
    normalize(&mut specs, point)?;
    check(&specs, point, &ModuleLimits::of(app, network).await?)?;
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let _changing = chains.changing.lock().await;
    revisions::check(&app.db, network, point, caller).await?;
    activation::carry_over(&mut specs, chains.get(point).as_deref());
    activation::check_together(&chains, point, &specs)?;
    let (chain, failed) = prepare(app, network, &chains, point, specs, force, caller).await?;
    replace(app, network, &chains, Change::of(chain, Action::ChainPut), lease, caller).await?;
    let chain = chains.get(point);
    if let Some(chain) = &chain {
        chain.close_breakers();
    }
    Ok((chain, failed))
}

/// Loads, checks and tries the modules of a chain. Returns those that failed, too.
pub(super) async fn prepare(
    app: &App,
    network: NetworkId,
    chains: &NetworkChains,
    point: Point,
    mut specs: Vec<LinkSpec>,
    force: bool,
    caller: &ChainCaller,
) -> Result<(NewChain, Vec<FailedTrial>), ModulesError> {
    let links = make_links(app, network, chains, point, &specs).await?;
    let checked = authorize(app, network, chains, point, &mut specs, caller).await?;
    let failed = run_trials(app, chains, point, &specs, &links).await?;
    let previous = chains.get(point);
    let is_in_place =
        |spec: &LinkSpec| previous.iter().flat_map(|chain| &chain.specs).any(|before| is_same_trial(before, spec));
    if let Some((at, why)) = failed.iter().find(|(at, _)| !force && !is_in_place(&specs[*at])) {
        let (place, name) = (format!("modules[{at}]"), specs[*at].name.clone());
        return Err(ModulesError::FailedTrial { place, name, why: why.clone() });
    }
    let failed = failed.into_iter().map(|(at, why)| (specs[at].name.clone(), specs[at].version, why)).collect();
    Ok((NewChain { point, specs, links, checked }, failed))
}

/// True if the trials of both would be the same.
fn is_same_trial(one: &LinkSpec, other: &LinkSpec) -> bool {
    (&one.name, one.version, &one.config, one.limits) == (&other.name, other.version, &other.config, other.limits)
}

/// Makes the trial calls of each module of a chain, once per configuration and limits. Returns the positions of those
/// that failed, with the reasons.
async fn run_trials(
    app: &App,
    chains: &NetworkChains,
    point: Point,
    specs: &[LinkSpec],
    links: &[Arc<Link>],
) -> Result<Vec<(usize, String)>, ModulesError> {
    let mut failed = vec![];
    for (at, (spec, link)) in specs.iter().zip(links).enumerate() {
        if specs[..at].iter().any(|before| is_same_trial(before, spec)) {
            continue;
        }
        let _permit = chains.dry_runs.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
        if let Err(why) = app.state::<Modules>().sandbox.run_trial(link, point).await {
            failed.push((at, why));
        }
    }
    Ok(failed)
}

/// Restores the previous chain.
pub(in crate::modules) async fn roll_back(
    app: &App,
    network: NetworkId,
    point: Point,
    lease: &RequestLease,
    caller: &ChainCaller,
) -> Result<Option<Arc<ActiveChain>>, ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let _changing = chains.changing.lock().await;
    revisions::check(&app.db, network, point, caller).await?;
    let row = store::find(&app.db, network, point.name()).await?;
    let row = row.ok_or(ModulesError::NothingBefore(point))?;
    let specs = serde_json::from_str(&row.previous)?;
    bring_back(app, network, &chains, point, specs, lease, (caller, Action::ChainRolledBack)).await
}

/// Restores the chain of a kept revision, as a new one.
pub(in crate::modules) async fn restore(
    app: &App,
    network: NetworkId,
    point: Point,
    revision: i64,
    lease: &RequestLease,
    caller: &ChainCaller,
) -> Result<Option<Arc<ActiveChain>>, ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let _changing = chains.changing.lock().await;
    revisions::check(&app.db, network, point, caller).await?;
    let specs = revisions::find(app, network, point, revision).await?.specs;
    bring_back(app, network, &chains, point, specs, lease, (caller, Action::ChainRestored)).await
}

/// Replaces a chain by an earlier one.
async fn bring_back(
    app: &App,
    network: NetworkId,
    chains: &NetworkChains,
    point: Point,
    mut specs: Vec<LinkSpec>,
    lease: &RequestLease,
    (caller, action): (&ChainCaller, Action),
) -> Result<Option<Arc<ActiveChain>>, ModulesError> {
    activation::check_together(chains, point, &specs)?;
    let links = make_links(app, network, chains, point, &specs).await?;
    let checked = authorize(app, network, chains, point, &mut specs, caller).await?;
    let chain = NewChain { point, specs, links, checked };
    replace(app, network, chains, Change::of(chain, action), lease, caller).await?;
    Ok(chains.get(point))
}

/// A chain that is to be stored.
pub(super) struct NewChain {
    pub(super) point: Point,
    pub(super) specs: Vec<LinkSpec>,
    links: Vec<Arc<Link>>,
    checked: Checked,
}

/// Chains that are stored together.
pub(super) struct Change<'a> {
    pub(super) chains: Vec<NewChain>,
    pub(super) action: Action,
    /// Name of a module that is activated, and its links before, as JSON.
    pub(super) activation: Option<(&'a str, &'a str)>,
}

impl Change<'_> {
    fn of(chain: NewChain, action: Action) -> Self {
        Self { chains: vec![chain], action, activation: None }
    }
}

/// Caller who changes a chain.
pub(in crate::modules) struct ChainCaller {
    pub(in crate::modules) scopes: Scopes,
    pub(in crate::modules) origin: Origin,
    /// Revision that the change was made from; none: any.
    pub(in crate::modules) expected: Option<i64>,
}

/// Fills in what the point decides, and refuses what belongs to another one.
pub(super) fn normalize(specs: &mut [LinkSpec], point: Point) -> Result<(), ModulesError> {
    let invalid = |at: usize, what: &str| Err(ModulesError::InvalidChain(format!("modules[{at}].{what}")));
    for at in 0..specs.len() {
        let (before, rest) = specs.split_at_mut(at);
        let Some(spec) = rest.first_mut() else { continue };
        (spec.granted_by, spec.granted_at, spec.activation) = (None, None, None);
        if point != Point::Events && spec.from.is_some() {
            return invalid(at, "from`: only modules at `events` have a beginning");
        }
        if point.is_override() {
            spec.on_failure.get_or_insert_default();
            if spec.grants.is_some() {
                return invalid(at, "grants`: only modules that answer with effects have grants");
            }
            continue;
        }
        spec.on_failure = None;
        if spec.mode != Mode::Active {
            return invalid(at, &format!("mode`: must be ACTIVE at `{point}`"));
        }
        if before.iter().any(|other| other.name == spec.name) {
            return invalid(at, &format!("name`: must be at most once in the chain of `{point}`"));
        }
    }
    Ok(())
}

/// Links that answer with effects, as checked.
#[derive(Default)]
struct Checked {
    events: Vec<CheckedLink>,
    schedules: Vec<CheckedSchedules>,
}

/// Checks links that answer with effects against their manifests and the rights of the caller, and writes down who gave the grants.
async fn authorize(
    app: &App,
    network: NetworkId,
    chains: &NetworkChains,
    point: Point,
    specs: &mut [LinkSpec],
    caller: &ChainCaller,
) -> Result<Checked, ModulesError> {
    let mut checked = Checked::default();
    match point {
        Point::Events => checked.events = handlers::check(app, network, specs).await?,
        Point::Schedules => checked.schedules = handlers::check_schedules(app, network, specs).await?,
        Point::Endpoints => endpoints::check(app, network, specs).await?,
        Point::Matchmaking | Point::Chat | Point::Punishment | Point::Login | Point::Economy | Point::Queue => {
            return Ok(checked);
        }
    }
    let previous = chains.get(point);
    let stored = |name: &str| previous.iter().flat_map(|chain| &chain.specs).find(|spec| spec.name == name);
    for (at, spec) in specs.iter_mut().enumerate() {
        let known = stored(&spec.name);
        // Lower limits are nobody's privilege.
        let is_same = known.is_some_and(|known| {
            let LinkSpec { limits, from, activation, granted_by, granted_at, .. } = spec.clone();
            LinkSpec { limits, from, activation, granted_by, granted_at, ..known.clone() } == *spec
        });
        if let Some(known) = known.filter(|_| is_same) {
            (spec.granted_by, spec.granted_at) = (known.granted_by.clone(), known.granted_at);
            continue;
        }
        handlers::authorize(at, &spec.grants.clone().unwrap_or_default(), caller.scopes)?;
        (spec.granted_by, spec.granted_at) = (Some(caller.origin.actor.clone()), Some(app.clock.now()));
    }
    Ok(checked)
}

/// Checks the parts that need no look-up.
pub(super) fn check(specs: &[LinkSpec], point: Point, limits: &ModuleLimits) -> Result<(), ModulesError> {
    let invalid = |at: usize, what: &str| Err(ModulesError::InvalidChain(format!("modules[{at}].{what}")));
    if specs.len() > MAX_LINKS {
        return Err(ModulesError::InvalidChain(format!("modules`: a chain has at most {MAX_LINKS} modules")));
    }
    for (at, spec) in specs.iter().enumerate() {
        if !(1..=100).contains(&spec.percent) {
            return invalid(at, "percent`: must be 1 to 100");
        }
        if serde_json::to_string(&spec.config)?.len() > MAX_CONFIG_BYTES {
            return invalid(at, "config`: must be at most 64 KiB of JSON");
        }
        if let Some(Err(why)) = spec.limits.map(|asked| limits.check(point, &asked)) {
            return invalid(at, &format!("limits.{why}"));
        }
        let canary = |spec: &LinkSpec| spec.mode == Mode::Canary;
        if canary(spec) && specs[..at].iter().any(|before| canary(before) && before.name == spec.name) {
            return invalid(at, "mode`: a chain has at most one CANARY of each name");
        }
    }
    Ok(())
}

/// A chain's form in the audit log. Configurations are left out, as they may hold secrets.
fn shown(specs: &[LinkSpec]) -> Vec<Value> {
    let links = specs.iter().map(|spec| {
        let mut link = serde_json::to_value(spec).unwrap_or_default();
        let config = serde_json::to_vec(&spec.config).unwrap_or_default();
        if let Some(link) = link.as_object_mut() {
            link.remove("config");
            link.insert("configSha256".to_owned(), hex(&Sha256::digest(config)).into());
        }
        link
    });
    links.collect()
}

/// Loads the modules of a chain; unchanged ones keep their counts.
async fn make_links(
    app: &App,
    network: NetworkId,
    chains: &NetworkChains,
    point: Point,
    specs: &[LinkSpec],
) -> Result<Vec<Arc<Link>>, ModulesError> {
    let previous = chains.get(point);
    let mut reusable = ReusableLinks::new(previous.iter().flat_map(|chain| chain.links()));
    let mut links = vec![];
    for spec in specs {
        links.push(links::reuse_or_make(app, network, point, spec, &mut reusable).await?);
    }
    Ok(links)
}

/// Stores chains in one transaction, then swaps them in; calls in between run the previous ones. They are stored only while
/// this node owns the network, so that the next owner reads the new ones.
pub(super) async fn replace(
    app: &App,
    network: NetworkId,
    chains: &NetworkChains,
    mut change: Change<'_>,
    lease: &RequestLease,
    caller: &ChainCaller,
) -> Result<(), ModulesError> {
    let origin = &caller.origin;
    if let Some(new) = change.chains.iter().find(|new| new.point == Point::Events) {
        // Refused before it subscribes, which is a transaction of its own.
        app.db.transaction(async |mut tx| Ok::<_, ModulesError>(origin.still_may(&mut tx).await?)).await?;
        handlers::begin(app, network, &new.checked.events).await?;
    }
    change.chains.retain(|new| {
        let previous = chains.get(new.point);
        previous
            .map_or(!new.specs.is_empty(), |chain| chain.specs != new.specs || !chain.is_complete() || chain.is_paused)
    });
    if change.chains.is_empty() {
        return Ok(());
    }
    let stored =
        app.db.transaction(async |mut tx| store_all(app, &mut tx, network, chains, &change, caller).await).await;
    match &stored {
        Ok(_) => lease.release(),
        Err(ModulesError::Moving) => lease.retry_on_owner(),
        Err(_) => {}
    }
    for (new, revision) in change.chains.into_iter().zip(stored?) {
        let links = new.links.into_iter().map(Some).collect();
        chains.set(ActiveChain::new(new.point, revision, new.specs, links));
        if new.point == Point::Events {
            handlers::restore(app, network);
        }
    }
    Ok(())
}

/// Stores chains. Returns their revisions.
async fn store_all(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    chains: &NetworkChains,
    change: &Change<'_>,
    caller: &ChainCaller,
) -> Result<Vec<i64>, ModulesError> {
    let (origin, now) = (&caller.origin, app.clock.now());
    origin.still_may(tx).await?;
    if !app.state::<ShardRegistry>().lock_lease(tx, network).await? {
        return Err(ModulesError::Moving);
    }
    for new in &change.chains {
        // Again, now that no other change can come in between.
        revisions::check(&mut *tx, network, new.point, caller).await?;
    }
    let specs = || change.chains.iter().flat_map(|new| &new.specs);
    // Sorted by name, so that two changes never deadlock.
    for name in specs().map(|spec| spec.name.as_str()).collect::<BTreeSet<_>>() {
        versions::lock_name(tx, network, name).await?;
    }
    for spec in specs() {
        if !versions::is_ready(tx, network, &spec.name, spec.version).await? {
            return Err(ModulesError::UnknownVersion(spec.name.clone(), spec.version));
        }
    }
    let actor = serde_json::to_string(&origin.actor)?;
    let mut stored = vec![];
    for NewChain { point, specs, checked, .. } in &change.chains {
        let previous = chains.get(*point);
        let before = previous.as_ref().map_or(&[][..], |chain| &chain.specs);
        let told = audit::Change::new(change.action, point.name()).before(shown(before)).after(shown(specs));
        audit::record(tx, network, origin, told).await?;
        match point {
            Point::Events => {
                handlers::follow(app, tx, network, &Activation { links: &checked.events, before }).await?;
            }
            Point::Schedules => {
                handlers::follow_schedules(tx, network, &checked.schedules, before, now).await?;
            }
            _ => {}
        }
        let chain = serde_json::to_string(specs)?;
        let revision = store::put(tx, network, point.name(), &chain, now).await?;
        let new = NewRevision { revision, chain: &chain, actor: &actor, created_at: now };
        kept::insert(tx, network, point.name(), &new).await?;
        stored.push(revision);
    }
    if let Some(activation) = change.activation {
        activations::put(tx, network, activation, now).await?;
    }
    Ok(stored)
}

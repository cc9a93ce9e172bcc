//! Chains of the extension points: reading, replacing, rolling back.

use std::collections::BTreeSet;
use std::sync::Arc;

use hub_sandbox::Link;
use hub_sandbox::contract::Point;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{Origin, Scopes};
use crate::cluster::{RequestLease, ShardRegistry};
use crate::modules::Modules;
use crate::modules::endpoints;
use crate::modules::handlers::{self, Activation, CheckedLink, CheckedSchedules};
use crate::modules::limits::ModuleLimits;
use crate::modules::model::{LinkSpec, MAX_CONFIG_BYTES, Mode};
use crate::modules::service::error::ModulesError;
use crate::modules::service::links::{self, ReusableLinks};
use crate::modules::service::revisions;
use crate::modules::state::{ActiveChain, NetworkChains};
use crate::modules::store::revisions::{self as kept, NewRevision};
use crate::modules::store::{chains as store, versions};
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
    let links = make_links(app, network, &chains, point, &specs).await?;
    let checked = authorize(app, network, &chains, point, &mut specs, caller).await?;
    let failed = run_trials(app, &chains, point, &specs, &links).await?;
    let previous = chains.get(point);
    let is_in_place =
        |spec: &LinkSpec| previous.iter().flat_map(|chain| &chain.specs).any(|before| is_same_trial(before, spec));
    if let Some((at, why)) = failed.iter().find(|(at, _)| !force && !is_in_place(&specs[*at])) {
        return Err(ModulesError::FailedTrial { at: *at, name: specs[*at].name.clone(), why: why.clone() });
    }
    let failed = failed.into_iter().map(|(at, why)| (specs[at].name.clone(), specs[at].version, why)).collect();
    let change = (caller, Action::ChainPut);
    let chain = replace(app, network, &chains, point, specs, links, lease, &checked, change).await?;
    if let Some(chain) = &chain {
        chain.close_breakers();
    }
    Ok((chain, failed))
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
    let links = make_links(app, network, chains, point, &specs).await?;
    let checked = authorize(app, network, chains, point, &mut specs, caller).await?;
    replace(app, network, chains, point, specs, links, lease, &checked, (caller, action)).await
}

/// Caller who changes a chain.
pub(in crate::modules) struct ChainCaller {
    pub(in crate::modules) scopes: Scopes,
    pub(in crate::modules) origin: Origin,
    /// Revision that the change was made from; none: any.
    pub(in crate::modules) expected: Option<i64>,
}

/// Fills in what the point decides, and refuses what belongs to another one.
fn normalize(specs: &mut [LinkSpec], point: Point) -> Result<(), ModulesError> {
    let invalid = |at: usize, what: &str| Err(ModulesError::InvalidChain(format!("modules[{at}].{what}")));
    for at in 0..specs.len() {
        let (before, rest) = specs.split_at_mut(at);
        let Some(spec) = rest.first_mut() else { continue };
        (spec.granted_by, spec.granted_at) = (None, None);
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
            let LinkSpec { limits, from, granted_by, granted_at, .. } = spec.clone();
            LinkSpec { limits, from, granted_by, granted_at, ..known.clone() } == *spec
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
fn check(specs: &[LinkSpec], point: Point, limits: &ModuleLimits) -> Result<(), ModulesError> {
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

/// Stores the chain, then swaps it in; calls in between run the previous one. It is stored only while this node owns
/// the network, so that the next owner reads the new one.
#[expect(clippy::too_many_arguments, reason = "what is stored, and who stores it where")]
async fn replace(
    app: &App,
    network: NetworkId,
    chains: &NetworkChains,
    point: Point,
    specs: Vec<LinkSpec>,
    links: Vec<Arc<Link>>,
    lease: &RequestLease,
    checked: &Checked,
    (caller, action): (&ChainCaller, Action),
) -> Result<Option<Arc<ActiveChain>>, ModulesError> {
    let (origin, previous) = (&caller.origin, chains.get(point));
    let is_handling = point == Point::Events;
    if is_handling {
        // Refused before it subscribes, which is a transaction of its own.
        app.db.transaction(async |mut tx| Ok::<_, ModulesError>(origin.still_may(&mut tx).await?)).await?;
        handlers::begin(app, network, &checked.events).await?;
    }
    let unchanged = previous.as_ref().map_or(specs.is_empty(), |chain| chain.specs == specs && chain.is_complete());
    if unchanged {
        return Ok(previous);
    }
    let (chain, actor) = (serde_json::to_string(&specs)?, serde_json::to_string(&origin.actor)?);
    let names: BTreeSet<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let now = app.clock.now();
    let stored = app
        .db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            if !app.state::<ShardRegistry>().lock_lease(&mut tx, network).await? {
                return Err(ModulesError::Moving);
            }
            // Again, now that no other change can come in between.
            revisions::check(&mut tx, network, point, caller).await?;
            // Sorted by name, so that two changes never deadlock.
            for name in &names {
                versions::lock_name(&mut tx, network, name).await?;
            }
            for spec in &specs {
                if !versions::is_ready(&mut tx, network, &spec.name, spec.version).await? {
                    return Err(ModulesError::UnknownVersion(spec.name.clone(), spec.version));
                }
            }
            let shown_before = previous.as_ref().map_or(vec![], |chain| shown(&chain.specs));
            let change = Change::new(action, point.name()).before(shown_before).after(shown(&specs));
            audit::record(&mut tx, network, origin, change).await?;
            let before = previous.as_ref().map_or(&[][..], |chain| &chain.specs);
            if is_handling {
                handlers::follow(app, &mut tx, network, &Activation { links: &checked.events, before }).await?;
            }
            if point == Point::Schedules {
                handlers::follow_schedules(&mut tx, network, &checked.schedules, before, now).await?;
            }
            let revision = store::put(&mut tx, network, point.name(), &chain, now).await?;
            let new = NewRevision { revision, chain: &chain, actor: &actor, created_at: now };
            kept::insert(&mut tx, network, point.name(), &new).await?;
            Ok(revision)
        })
        .await;
    match &stored {
        Ok(_) => lease.release(),
        Err(ModulesError::Moving) => lease.retry_on_owner(),
        Err(_) => {}
    }
    let revision = stored?;
    chains.set(ActiveChain::new(point, revision, specs, links.into_iter().map(Some).collect()));
    if is_handling {
        handlers::restore(app, network);
    }
    Ok(chains.get(point))
}

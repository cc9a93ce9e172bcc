//! Links of the point `events`: what they name, what they are granted, and their subscriptions.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hub_db::{Error, Tx};
use hub_sandbox::contract::Point;
use hub_sandbox::manifest::{Grants, Manifest, Order};

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{Origin, Scope, Scopes};
use crate::clock::{Cutoff, Millis, millis};
use crate::events::{self, EventKind, MODULE_SUBSCRIBER};
use crate::modules::Modules;
use crate::modules::handlers::attempt::Handler;
use crate::modules::handlers::model::{HandlerCounts, HandlerRow, KeptHandler, order_name};
use crate::modules::handlers::registry::Handlers;
use crate::modules::handlers::schedules;
use crate::modules::handlers::store::handlers::{self as store, Definition};
use crate::modules::handlers::store::{dead_letters, queue};
use crate::modules::handlers::sweep;
use crate::modules::limits::ModuleLimits;
use crate::modules::model::{Beginning, LinkSpec};
use crate::modules::service::ModulesError;
use crate::modules::service::links::{self, ReusableLinks};
use crate::modules::store::{activations, versions};
use crate::values::NetworkId;

/// Time for which the events of a module that was taken out are still queued.
const KEPT: Duration = Duration::from_hours(24);

/// A link whose manifest, configuration and grants are good.
#[derive(Clone, Debug)]
pub(in crate::modules) struct CheckedLink {
    name: String,
    order: Order,
    kinds: Vec<EventKind>,
    handles_own: bool,
    from: Beginning,
}

/// Links that are to be stored, and the modules that were in the chain before.
pub(in crate::modules) struct Activation<'a> {
    pub(in crate::modules) links: &'a [CheckedLink],
    pub(in crate::modules) before: &'a [LinkSpec],
}

/// Checks each link against the manifest of its version.
pub(in crate::modules) async fn check(
    app: &App,
    network: NetworkId,
    specs: &[LinkSpec],
) -> Result<Vec<CheckedLink>, ModulesError> {
    let mut checked = vec![];
    for (at, spec) in specs.iter().enumerate() {
        let manifest = manifest_of(app, network, spec).await?;
        let Some((manifest, events)) =
            manifest.as_ref().and_then(|manifest| Some((manifest, manifest.events.as_ref()?)))
        else {
            return Err(ModulesError::PointNotOffered(spec.name.clone(), spec.version, Point::Events));
        };
        check_config(at, spec, manifest)?;
        let kinds = kinds_of(&events.types)?;
        check_grants(spec, &with_scopes(manifest.needs.clone(), &kinds))?;
        checked.push(CheckedLink {
            name: spec.name.clone(),
            order: events.order,
            kinds,
            handles_own: events.own,
            from: spec.from.unwrap_or_default(),
        });
    }
    Ok(checked)
}

/// Manifest of a link's version; none of a module without one.
pub(super) async fn manifest_of(
    app: &App,
    network: NetworkId,
    spec: &LinkSpec,
) -> Result<Option<Manifest>, ModulesError> {
    let row = versions::find(&app.db, network, &spec.name, spec.version).await?;
    let row = row.ok_or_else(|| ModulesError::UnknownVersion(spec.name.clone(), spec.version))?;
    let manifest = row.manifest.as_deref().map(|text| Manifest::parse(text.as_bytes())).transpose();
    manifest.map_err(|invalid| ModulesError::InvalidModule(format!("its manifest: {invalid}")))
}

/// Checks a link's configuration against its module's schema.
pub(super) fn check_config(at: usize, spec: &LinkSpec, manifest: &Manifest) -> Result<(), ModulesError> {
    let config = serde_json::to_string(&spec.config)?;
    manifest.check_config(&config).map_err(|invalid| ModulesError::InvalidConfig {
        at: Some(at),
        path: invalid.pointer,
        reason: invalid.reason,
    })
}

/// Refuses a link that does not grant what its module needs.
pub(super) fn check_grants(spec: &LinkSpec, needs: &Grants) -> Result<(), ModulesError> {
    match needs.missing_in(&spec.grants.clone().unwrap_or_default()) {
        Some(needed) => {
            let (name, version, needed) = (spec.name.clone(), spec.version, Box::new(needed));
            Err(ModulesError::GrantNeeded { name, version, needed })
        }
        None => Ok(()),
    }
}

fn kinds_of(types: &[String]) -> Result<Vec<EventKind>, ModulesError> {
    let kind = |name: &String| {
        let kind = name.parse::<EventKind>().ok().filter(|kind| kind.is_subscribable());
        kind.ok_or_else(|| ModulesError::InvalidModule(format!("its manifest: no module is handed the event `{name}`")))
    };
    types.iter().map(kind).collect()
}

/// Adds the scopes that reading the events needs.
fn with_scopes(mut needs: Grants, kinds: &[EventKind]) -> Grants {
    for scope in kinds.iter().flat_map(|kind| kind.handler_scopes()) {
        if !needs.scopes.iter().any(|needed| needed == scope.as_str()) {
            needs.scopes.push(scope.as_str().to_owned());
        }
    }
    needs
}

/// Scope that a caller must have to grant this one; none if there is no such scope.
fn privilege(scope: &str) -> Option<Scope> {
    match scope {
        "collections:write" | "chat:send" => Some(Scope::Plugin),
        "webhooks:call" => Some(Scope::NetworkManage),
        scope => scope.parse().ok().filter(|scope| *scope != Scope::Operator && *scope != Scope::Agent),
    }
}

/// Refuses grants of what the caller does not have.
pub(in crate::modules) fn authorize(at: usize, grants: &Grants, caller: Scopes) -> Result<(), ModulesError> {
    for scope in &grants.scopes {
        let privilege = privilege(scope).ok_or_else(|| {
            ModulesError::InvalidChain(format!("modules[{at}].grants.scopes`: there is no scope `{scope}` for modules"))
        })?;
        if !caller.allow(privilege) {
            return Err(ModulesError::ForbiddenGrant(privilege));
        }
    }
    let needs_manage = !grants.hosts.is_empty() || !grants.secrets.is_empty();
    if needs_manage && !caller.allow(Scope::NetworkManage) {
        return Err(ModulesError::ForbiddenGrant(Scope::NetworkManage));
    }
    if grants.permission_nodes.iter().any(|pattern| pattern == "*") {
        let message = format!("modules[{at}].grants.permissionNodes`: must not be `*` alone");
        return Err(ModulesError::InvalidChain(message));
    }
    Ok(())
}

fn subscriber(module: &str) -> String {
    format!("{MODULE_SUBSCRIBER}{module}")
}

fn stored_kinds(row: &HandlerRow) -> Vec<EventKind> {
    let names: Vec<String> = serde_json::from_str(&row.events).unwrap_or_default();
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

fn names_of(kinds: &[EventKind]) -> String {
    serde_json::to_string(&kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>()).unwrap_or_default()
}

/// Subscribes links before they are stored, and waits until every change that is made from now on reaches them.
pub(in crate::modules) async fn begin(
    app: &App,
    network: NetworkId,
    links: &[CheckedLink],
) -> Result<(), ModulesError> {
    let kept_until = app.clock.now() + millis(KEPT);
    let before = store::list(&app.db, network).await?;
    let row_of = |name: &str| before.iter().find(|row| row.module == name);
    let is_new = |link: &&CheckedLink| {
        let known = row_of(&link.name).map(stored_kinds);
        known.is_none_or(|known| link.kinds.iter().any(|kind| !known.contains(kind)))
    };
    let changed: Vec<_> = links.iter().filter(is_new).collect();
    if changed.is_empty() {
        return Ok(());
    }
    app.db
        .transaction(async |mut tx| {
            for link in &changed {
                let mut kinds: Vec<_> = row_of(&link.name).map(stored_kinds).unwrap_or_default();
                kinds.extend(&link.kinds);
                events::subscribe_in(app, &mut tx, network, &subscriber(&link.name), &kinds).await?;
                if row_of(&link.name).is_none() {
                    put(&mut tx, network, link, Some(kept_until)).await?;
                }
            }
            Ok::<_, Error>(())
        })
        .await?;
    if events::earlier_writes_ended(app).await? {
        return Ok(());
    }
    app.db
        .transaction(async |mut tx| {
            for link in &changed {
                match row_of(&link.name) {
                    Some(row) => {
                        let kinds = stored_kinds(row);
                        events::subscribe_in(app, &mut tx, network, &subscriber(&link.name), &kinds).await?;
                    }
                    None => {
                        revoke(app, &mut tx, network, &link.name, None).await?;
                    }
                }
            }
            Ok::<_, Error>(())
        })
        .await?;
    Err(ModulesError::TryAgain)
}

async fn put(tx: &mut Tx, network: NetworkId, link: &CheckedLink, kept_until: Option<Millis>) -> Result<(), Error> {
    let last_seq = store::take_seqs(tx, network, 0).await?;
    let definition = Definition {
        module: &link.name,
        order: order_name(link.order),
        events: &names_of(&link.kinds),
        handles_own: link.handles_own,
        kept_until,
    };
    store::put(tx, network, &definition, last_seq).await
}

/// Makes the handlers those of a chain, in the transaction that stores it.
pub(in crate::modules) async fn follow(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    activation: &Activation<'_>,
) -> Result<(), Error> {
    // Ends what is being queued before: events up to here are those of before.
    store::take_seqs(tx, network, 0).await?;
    for link in activation.links {
        let before = store::find(&mut *tx, network, &link.name).await?;
        let was_kept = before.is_none_or(|row| row.kept_until.is_some());
        if link.from == Beginning::Now && was_kept {
            clear(app, tx, network, &link.name).await?;
        }
        put(tx, network, link, None).await?;
        events::subscribe_in(app, tx, network, &subscriber(&link.name), &link.kinds).await?;
    }
    let until = app.clock.now() + millis(KEPT);
    let stays = |name: &str| activation.links.iter().any(|link| link.name == name);
    for name in activation.before.iter().map(|spec| spec.name.as_str()).collect::<BTreeSet<_>>() {
        if !stays(name) {
            store::keep_until(tx, network, name, until).await?;
        }
    }
    Ok(())
}

/// Ends a kept handler with all that is queued for it; false if there is none.
pub(in crate::modules) async fn revoke(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    ended: Option<Cutoff>,
) -> Result<bool, Error> {
    if !store::delete_kept(tx, network, module, ended).await? {
        return Ok(false);
    }
    clear(app, tx, network, module).await?;
    events::subscribe_in(app, tx, network, &subscriber(module), &[]).await?;
    Ok(true)
}

/// Empties a handler's queue, and deletes the events that nobody else waits for.
async fn clear(app: &App, tx: &mut Tx, network: NetworkId, module: &str) -> Result<(), Error> {
    queue::clear(tx, network, module).await?;
    sweep::delete_unused_in(tx, network).await?;
    *app.state::<Handlers>().network(network).backlog.lock() = None;
    Ok(())
}

/// Ends a kept handler at its owner's request.
pub(in crate::modules) async fn end_kept(
    app: &App,
    network: NetworkId,
    module: &str,
    origin: &Origin,
) -> Result<(), ModulesError> {
    app.db
        .transaction(async |mut tx| {
            if !revoke(app, &mut tx, network, module, None).await? {
                return Err(ModulesError::UnknownModule(module.to_owned()));
            }
            Ok(audit::record(&mut tx, network, origin, Change::new(Action::KeptModuleEnded, module)).await?)
        })
        .await
}

/// Ends the kept handler of a module whose last version is deleted.
pub(in crate::modules) async fn end_of_module(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
) -> Result<(), Error> {
    if versions::count_of_name(tx, network, module).await? == 0 {
        revoke(app, tx, network, module, None).await?;
        schedules::end_of_module(tx, network, module).await?;
        activations::delete(tx, network, module).await?;
    }
    Ok(())
}

/// Handlers that were taken out and whose events are still queued.
pub(in crate::modules) async fn kept(app: &App, network: NetworkId) -> Result<Vec<KeptHandler>, ModulesError> {
    let mut kept = vec![];
    for row in store::list(&app.db, network).await? {
        let Some(until) = row.kept_until else { continue };
        let lag_events = queue::count(&app.db, network, &row.module).await?;
        kept.push(KeptHandler { name: row.module, until, lag_events });
    }
    Ok(kept)
}

/// Figures of a handler.
pub(in crate::modules) struct HandlerStats {
    pub(in crate::modules) counts: HandlerCounts,
    pub(in crate::modules) dead_letters: i64,
    pub(in crate::modules) running: usize,
    pub(in crate::modules) lag_events: i64,
    pub(in crate::modules) lag_ms: Millis,
}

/// Figures of a module's handler.
pub(in crate::modules) async fn stats(
    app: &App,
    network: NetworkId,
    module: &str,
) -> Result<HandlerStats, ModulesError> {
    let figures = app.state::<Handlers>().network(network).module(module);
    let counts = {
        let _storing = figures.storing.lock().await;
        let stored = store::find(&app.db, network, module).await?.map(|row| row.counts).unwrap_or_default();
        stored.plus(&figures.unsaved())
    };
    let first = queue::first(&app.db, network, module).await?;
    Ok(HandlerStats {
        counts,
        dead_letters: dead_letters::count(&app.db, network, module).await?,
        running: figures.running.load(Ordering::Relaxed),
        lag_events: queue::count(&app.db, network, module).await?,
        lag_ms: first.map_or(0, |(_, queued_at)| (app.clock.now() - queued_at).max(0)),
    })
}

/// The network's handlers by name, as its chain is now. A module that cannot be loaded is left out: its events wait.
pub(super) async fn handlers(app: &App, network: NetworkId) -> Result<HashMap<String, Handler>, ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let Some(chain) = chains.get(Point::Events).filter(|chain| !chain.is_paused) else { return Ok(HashMap::new()) };
    if let Ok(limits) = ModuleLimits::of(app, network).await {
        chain.set_limits(limits);
    }
    let rows = store::list(&app.db, network).await?;
    let mut found = HashMap::new();
    for (spec, link) in chain.links() {
        let Some(row) = rows.iter().find(|row| row.module == spec.name) else { continue };
        let link = if let Some(link) = link {
            Ok(Arc::clone(link))
        } else {
            let mut reusable = ReusableLinks::new(std::iter::empty());
            links::reuse_or_make(app, network, Point::Events, spec, &mut reusable).await
        };
        let link = match link {
            Ok(link) => link,
            Err(error) => {
                tracing::error!(%network, module = spec.name, version = spec.version, %error, "not loaded");
                continue;
            }
        };
        let events = Arc::new(serde_json::from_str(&row.events).unwrap_or_default());
        found.insert(spec.name.clone(), Handler { link, grants: spec.grants.clone().unwrap_or_default(), events });
    }
    Ok(found)
}

/// The handler of a module, if it is in the chain.
pub(super) async fn handler(app: &App, network: NetworkId, module: &str) -> Result<Option<Handler>, ModulesError> {
    Ok(handlers(app, network).await?.remove(module))
}

//! The chains of the extension points: changed, rolled back, looked at.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use hub_sandbox::contract::Point;
use hub_sandbox::{BoxFuture, ComponentSource, Host, Link, LinkConfig, ModuleHandle, Sha256Sum};

use crate::app::App;
use crate::blobs::Blobs;
use crate::cluster::RequestLease;
use crate::modules::host::{DryHost, ModuleHost};
use crate::modules::live::{Live, Network};
use crate::modules::model::{LinkSpec, MAX_CONFIG_BYTES, MAX_LINKS, Mode, ModuleState};
use crate::modules::service::ModulesError;
use crate::modules::service::storing::read_component;
use crate::modules::store::chains as store;
use crate::modules::store::versions::{self, VersionRef};
use crate::values::NetworkId;

/// The chain of a point as it runs; none where it never had one.
pub(in crate::modules) async fn get(
    app: &App,
    network: NetworkId,
    point: Point,
) -> Result<Option<Arc<Live>>, ModulesError> {
    Ok(app.modules.loaded(app, network).await?.live(point))
}

/// Puts a chain in place for the next call. The same chain again changes nothing.
pub(in crate::modules) async fn put(
    app: &App,
    network: NetworkId,
    point: Point,
    specs: Vec<LinkSpec>,
    lease: &RequestLease,
) -> Result<Option<Arc<Live>>, ModulesError> {
    check(&specs)?;
    let known = app.modules.loaded(app, network).await?;
    let _turn = known.changing.lock().await;
    change(app, network, &known, point, specs, lease).await
}

/// Tries each module of a chain once with its configuration, on nothing of the network's. Answers those that failed: name,
/// version, and why.
pub(in crate::modules) async fn try_out(
    app: &App,
    network: NetworkId,
    live: Option<&Live>,
) -> Result<Vec<(String, i64, String)>, ModulesError> {
    let known = app.modules.loaded(app, network).await?;
    let (mut failed, mut tried) = (vec![], vec![]);
    for (spec, link) in live.into_iter().flat_map(|live| live.specs.iter().zip(&live.links)) {
        let same = |before: &&LinkSpec| {
            (&before.name, before.version, &before.config) == (&spec.name, spec.version, &spec.config)
        };
        let Some(link) = link.as_ref().filter(|_| !tried.iter().any(same)) else { continue };
        tried.push(spec);
        let _turn = known.dry_runs.acquire().await.map_err(|error| ModulesError::Sandbox(error.to_string()))?;
        if let Err(why) = app.modules.sandbox.try_out(link.config()).await {
            failed.push((spec.name.clone(), spec.version, why));
        }
    }
    Ok(failed)
}

/// Puts the chain in place that was there before.
pub(in crate::modules) async fn roll_back(
    app: &App,
    network: NetworkId,
    point: Point,
    lease: &RequestLease,
) -> Result<Option<Arc<Live>>, ModulesError> {
    let known = app.modules.loaded(app, network).await?;
    let _turn = known.changing.lock().await;
    let row = store::find(&app.db, network, point.name()).await?;
    let row = row.ok_or(ModulesError::NothingBefore(point))?;
    change(app, network, &known, point, serde_json::from_str(&row.previous)?, lease).await
}

/// Checks what can be checked without looking anything up.
fn check(specs: &[LinkSpec]) -> Result<(), ModulesError> {
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
        let canary = |spec: &LinkSpec| spec.mode == Mode::Canary;
        if canary(spec) && specs[..at].iter().any(|before| canary(before) && before.name == spec.name) {
            return invalid(at, "mode`: a chain has at most one CANARY of each name");
        }
    }
    Ok(())
}

/// Loads the modules, then stores the chain, then swaps it in: whoever calls meanwhile runs the one before. It is stored
/// only while the network lives here, so that the home it moves to reads the new one; after that it need not.
async fn change(
    app: &App,
    network: NetworkId,
    known: &Network,
    point: Point,
    specs: Vec<LinkSpec>,
    lease: &RequestLease,
) -> Result<Option<Arc<Live>>, ModulesError> {
    let before = known.live(point);
    let whole = |live: &Live| live.links.iter().all(Option::is_some);
    let unchanged = before.as_ref().map_or(specs.is_empty(), |live| live.specs == specs && whole(live));
    if unchanged {
        return Ok(before);
    }
    let mut kept = Kept::of(before.as_deref());
    let mut links = vec![];
    for spec in &specs {
        links.push(Some(link(app, network, point, spec, &mut kept).await?));
    }
    let chain = serde_json::to_string(&specs)?;
    let names: BTreeSet<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let now = app.clock.now();
    let stored = app
        .db
        .transaction(async |mut tx| {
            if !app.shards.lock_lease(&mut tx, network).await? {
                return Err(ModulesError::Moving);
            }
            // In the order of their names, so that two changes never wait for each other.
            for name in &names {
                versions::lock_name(&mut tx, network, name).await?;
            }
            for spec in &specs {
                if !versions::is_ready(&mut tx, network, &spec.name, spec.version).await? {
                    return Err(ModulesError::UnknownVersion(spec.name.clone(), spec.version));
                }
            }
            Ok(store::put(&mut tx, network, point.name(), &chain, now).await?)
        })
        .await;
    match &stored {
        Ok(_) => lease.release(),
        Err(ModulesError::Moving) => lease.retry_on_owner(),
        Err(_) => {}
    }
    let revision = stored?;
    known.swap(Live::new(point, revision, specs, links));
    Ok(known.live(point))
}

/// Links of the chain before, each to be taken over once: with their breakers and statistics.
pub(in crate::modules) struct Kept(Vec<(LinkSpec, Arc<Link>)>);

impl Kept {
    pub(in crate::modules) fn of(before: Option<&Live>) -> Self {
        let pairs = before.into_iter().flat_map(|live| live.specs.iter().zip(&live.links));
        Self(pairs.filter_map(|(spec, link)| Some((spec.clone(), Arc::clone(link.as_ref()?)))).collect())
    }

    fn take(&mut self, spec: &LinkSpec) -> Option<Arc<Link>> {
        let at = self.0.iter().position(|(kept, _)| kept == spec)?;
        Some(self.0.swap_remove(at).1)
    }
}

/// A link of the chain before, or a new one.
pub(in crate::modules) async fn link(
    app: &App,
    network: NetworkId,
    point: Point,
    spec: &LinkSpec,
    kept: &mut Kept,
) -> Result<Arc<Link>, ModulesError> {
    if let Some(link) = kept.take(spec) {
        return Ok(link);
    }
    let host: Arc<dyn Host> = match spec.mode {
        Mode::Active | Mode::Canary => Arc::new(ModuleHost::new(app, network, &spec.name)),
        Mode::Shadow => Arc::new(DryHost::new(app, network, &spec.name)),
    };
    Ok(Arc::new(Link::new(LinkConfig {
        module: module(app, network, point, &spec.name, spec.version).await?,
        name: spec.name.clone(),
        version: u64::try_from(spec.version).unwrap_or(0),
        config: serde_json::to_string(&spec.config)?,
        mode: spec.sandbox_mode(),
        instances: spec.instances.into(),
        on_failure: spec.on_failure.into(),
        limits: app.settings.modules.limits(point),
        host,
    })))
}

/// A READY module that serves the point, loaded.
pub(in crate::modules) async fn module(
    app: &App,
    network: NetworkId,
    point: Point,
    name: &str,
    version: i64,
) -> Result<ModuleHandle, ModulesError> {
    let row = versions::find(&app.db, network, name, version).await?;
    let row = row.ok_or_else(|| ModulesError::UnknownVersion(name.to_owned(), version))?;
    let id = row.component_id.as_deref().and_then(Sha256Sum::from_hex);
    let (ModuleState::Ready, Some(id)) = (row.state, id) else {
        return Err(ModulesError::NotReady(name.to_owned(), version));
    };
    if !row.points.0.contains(&point) {
        return Err(ModulesError::PointNotOffered(name.to_owned(), version, point));
    }
    let (db, blobs) = (app.db.clone(), app.blobs.clone());
    let source = Arc::new(StoredComponent { db, blobs, network, name: name.to_owned(), version });
    Ok(app.modules.sandbox.load(id, source).await?)
}

/// Where a module's bytes are when this node's compiled code is gone.
struct StoredComponent {
    db: hub_db::Db,
    blobs: Blobs,
    network: NetworkId,
    name: String,
    version: i64,
}

impl ComponentSource for StoredComponent {
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>> {
        Box::pin(async move {
            let version = VersionRef { network: self.network, name: &self.name, version: self.version };
            let found = read_component(&self.db, &self.blobs, version).await.map_err(|error| error.to_string())?;
            found.ok_or_else(|| "its bytes are not stored".to_owned())
        })
    }

    fn network(&self) -> String {
        self.network.to_string()
    }
}

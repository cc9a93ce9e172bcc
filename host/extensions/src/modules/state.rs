//! Active chains of all networks. They are loaded with a network's first call and swapped whole when they change.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use hub_db::with_tenant;
use hub_sandbox::contract::Point;
use hub_sandbox::{Chain, Link, MAX_CHAIN_CALLS, Sandbox};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{OnceCell, Semaphore};

use crate::app::App;
use crate::config::Settings;
use crate::ids::Ids;
use crate::modules::compiler::open_sandbox;
use crate::modules::handlers::ModuleEffects;
use crate::modules::host::ModuleData;
use crate::modules::limits::ModuleLimits;
use crate::modules::logs::Logs;
use crate::modules::model::{LinkSpec, Mode, OnFailure};
use crate::modules::records::Records;
use crate::modules::service::error::ModulesError;
use crate::modules::service::links::{self, ReusableLinks};
use crate::modules::store;
use crate::values::NetworkId;

/// Time a network's first call waits for its chains, exceeded only if code has to be compiled again.
const LOAD_WAIT: Duration = Duration::from_secs(2);
/// Revisions in the database begin at 1.
const UNLOADED_REVISION: i64 = 0;
/// Concurrent dry runs of one network.
const MAX_DRY_RUNS: usize = 2;
/// Concurrent replays of one network.
const MAX_REPLAYS: usize = 1;

/// Running modules of all networks.
pub struct Modules {
    pub(super) sandbox: Sandbox,
    pub(super) logs: Logs,
    pub(super) records: Records,
    pub(super) data: &'static dyn ModuleData,
    pub(super) effects: &'static dyn ModuleEffects,
    /// Versions that this hub is preparing in the background.
    pub(super) compiling: Mutex<HashSet<(NetworkId, String, i64)>>,
    networks: RwLock<HashMap<NetworkId, Arc<NetworkChains>>>,
}

/// One network's chains.
pub(super) struct NetworkChains {
    chains: [ArcSwapOption<ActiveChain>; Point::ALL.len()],
    loaded: OnceCell<()>,
    /// Held during a change of a chain, so that memory and database change in the same order.
    pub(super) changing: tokio::sync::Mutex<()>,
    pub(super) dry_runs: Semaphore,
    pub(super) replays: Semaphore,
}

/// A running chain.
pub(super) struct ActiveChain {
    pub(super) point: Point,
    pub(super) revision: i64,
    pub(super) specs: Vec<LinkSpec>,
    /// One per spec; none for a module that could not be loaded.
    links: Vec<Option<Arc<Link>>>,
    pub(super) chain: Chain,
    /// The network's limits applied to its links; none before the first call.
    limits: Mutex<Option<ModuleLimits>>,
    /// True if a module that must not be skipped could not be loaded.
    is_unavailable: bool,
    /// True if its modules wait, since a backup was restored.
    pub(super) is_paused: bool,
}

/// The chain for a call.
pub(super) enum ChainLookup {
    Active(Arc<ActiveChain>),
    Empty,
    /// A module that must not be skipped could not be loaded.
    Unavailable,
}

impl ActiveChain {
    pub(super) fn new(point: Point, revision: i64, specs: Vec<LinkSpec>, links: Vec<Option<Arc<Link>>>) -> Self {
        let must_run = |spec: &LinkSpec| spec.on_failure == Some(OnFailure::Refuse) && spec.mode != Mode::Shadow;
        let is_unavailable = specs.iter().zip(&links).any(|(spec, link)| link.is_none() && must_run(spec));
        let chain = Chain::new(links.iter().flatten().cloned().collect(), MAX_CHAIN_CALLS);
        Self { point, revision, specs, links, chain, limits: Mutex::default(), is_unavailable, is_paused: false }
    }

    /// The same chain, whose modules wait.
    fn paused(self, is_paused: bool) -> Self {
        Self { is_paused, ..self }
    }

    /// Each spec with its link; none for a module that could not be loaded.
    pub(super) fn links(&self) -> impl Iterator<Item = (&LinkSpec, Option<&Arc<Link>>)> {
        self.specs.iter().zip(self.links.iter().map(Option::as_ref))
    }

    /// Applies the network's limits, which may have changed since the last call, to its links.
    pub(super) fn set_limits(&self, limits: ModuleLimits) {
        if self.limits.lock().replace(limits) == Some(limits) {
            return;
        }
        self.chain.set_max_calls(limits.max_calls(self.point));
        for (spec, link) in self.links() {
            if let Some(link) = link {
                link.set_limits(limits.of_link(self.point, spec.limits.as_ref()));
            }
        }
    }

    /// Closes the breakers of all its links.
    pub(super) fn close_breakers(&self) {
        self.links.iter().flatten().for_each(|link| link.close_breaker());
    }

    /// True if all its modules are loaded.
    pub(super) fn is_complete(&self) -> bool {
        self.links.iter().all(Option::is_some)
    }

    /// A chain without loaded modules.
    fn unloaded(point: Point, specs: Vec<LinkSpec>) -> Self {
        let links = specs.iter().map(|_| None).collect();
        Self::new(point, UNLOADED_REVISION, specs, links)
    }
}

impl NetworkChains {
    fn new() -> Self {
        Self {
            chains: Default::default(),
            loaded: OnceCell::new(),
            changing: tokio::sync::Mutex::default(),
            dry_runs: Semaphore::new(MAX_DRY_RUNS),
            replays: Semaphore::new(MAX_REPLAYS),
        }
    }

    fn slot(&self, point: Point) -> &ArcSwapOption<ActiveChain> {
        &self.chains[point as usize]
    }

    /// Chain of a point; none if it never had one.
    pub(super) fn get(&self, point: Point) -> Option<Arc<ActiveChain>> {
        self.slot(point).load_full()
    }

    /// Replaces a chain from the next call on.
    pub(super) fn set(&self, chain: ActiveChain) {
        self.slot(chain.point).store(Some(Arc::new(chain)));
    }
}

impl Modules {
    /// No chains are loaded yet.
    pub fn open(
        settings: &Settings,
        ids: &Ids,
        data: &'static dyn ModuleData,
        effects: &'static dyn ModuleEffects,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            data,
            effects,
            sandbox: open_sandbox(settings, ids)?,
            logs: Logs::default(),
            records: Records::new(usize::try_from(settings.record_memory << 20).unwrap_or(usize::MAX)),
            compiling: Mutex::default(),
            networks: RwLock::default(),
        })
    }

    /// All loaded chains.
    pub(super) fn all_chains(&self) -> Vec<Arc<ActiveChain>> {
        let networks: Vec<_> = self.networks.read().values().cloned().collect();
        networks.iter().flat_map(|chains| Point::ALL.map(|point| chains.get(point))).flatten().collect()
    }

    /// Loaded chains of a network.
    pub(super) fn chains_of(&self, network: NetworkId) -> Vec<Arc<ActiveChain>> {
        let chains = self.find(network);
        chains.iter().flat_map(|chains| Point::ALL.map(|point| chains.get(point))).flatten().collect()
    }

    /// Drops the chains of a network that another node owns now.
    pub fn evict(&self, network: NetworkId) {
        self.networks.write().remove(&network);
    }

    /// Drops the chains of all networks: the database went back to earlier ones.
    pub fn evict_all(&self) {
        self.networks.write().clear();
    }

    /// Drops the chains, logs and recorded calls of a network that was deleted.
    pub fn forget(&self, network: NetworkId) {
        self.evict(network);
        self.logs.forget(network);
        self.records.forget(network);
    }

    /// Drops the log lines and recorded calls of a network about an erased player.
    pub fn forget_texts(&self, network: NetworkId, is_looked_for: impl Fn(&str) -> bool) {
        self.logs.forget_texts(network, &is_looked_for);
        self.records.forget_texts(network, &is_looked_for);
    }

    fn find(&self, network: NetworkId) -> Option<Arc<NetworkChains>> {
        self.networks.read().get(&network).cloned()
    }

    /// The network's chains; those that were not loaded yet are missing.
    pub(super) fn network(&self, network: NetworkId) -> Arc<NetworkChains> {
        self.find(network).unwrap_or_else(|| {
            Arc::clone(self.networks.write().entry(network).or_insert_with(|| Arc::new(NetworkChains::new())))
        })
    }

    pub(super) fn may_have_chain(&self, network: NetworkId, point: Point) -> bool {
        let networks = self.networks.read();
        let Some(chains) = networks.get(&network).filter(|chains| chains.loaded.initialized()) else { return true };
        chains.slot(point).load().as_ref().is_some_and(|chain| chain.is_unavailable || !chain.chain.is_empty())
    }

    /// Chain for a call. The network's first call loads its chains; if that takes too long it runs without the modules,
    /// unless one of them must not be skipped.
    pub(super) async fn find_chain(&self, app: &App, network: NetworkId, point: Point) -> ChainLookup {
        let chains = self.network(network);
        if !chains.loaded.initialized() {
            // A separate task: loading continues when this call stops waiting for it.
            let wait = app.settings.modules.load.unwrap_or(LOAD_WAIT);
            let (app, chains) = (app.clone(), Arc::clone(&chains));
            let loading = tokio::spawn(with_tenant(network.0, async move { load(&app, network, &chains).await }));
            match tokio::time::timeout(wait, loading).await {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(error))) => tracing::error!(%network, %error, "could not load a network's modules"),
                Ok(Err(error)) => tracing::error!(%network, %error, "loading a network's modules ended early"),
                Err(_) => tracing::warn!(%network, "a network's modules are still being loaded"),
            }
        }
        match chains.get(point) {
            Some(chain) if chain.is_unavailable => ChainLookup::Unavailable,
            Some(chain) if !chain.chain.is_empty() => ChainLookup::Active(chain),
            _ => ChainLookup::Empty,
        }
    }

    /// The network's loaded chains.
    pub(super) async fn load_chains(&self, app: &App, network: NetworkId) -> Result<Arc<NetworkChains>, ModulesError> {
        let chains = self.network(network);
        load(app, network, &chains).await?;
        Ok(chains)
    }
}

async fn load(app: &App, network: NetworkId, chains: &NetworkChains) -> Result<(), ModulesError> {
    chains.loaded.get_or_try_init(|| read_chains(app, network, chains)).await.copied()
}

/// Reads the chains from the database and loads their modules.
async fn read_chains(app: &App, network: NetworkId, chains: &NetworkChains) -> Result<(), ModulesError> {
    let _changing = chains.changing.lock().await;
    let mut changed = vec![];
    for row in store::chains::list(&app.db, network).await? {
        let Some(point) = Point::from_name(&row.point) else { continue };
        let previous = chains.get(point);
        if previous.as_ref().is_some_and(|chain| chain.revision == row.revision) {
            continue;
        }
        let specs: Vec<LinkSpec> = serde_json::from_str(&row.chain)?;
        if previous.is_none() {
            chains.set(ActiveChain::unloaded(point, specs.clone()).paused(row.paused));
        }
        changed.push((point, row.revision, row.paused, specs, previous));
    }
    for (point, revision, is_paused, specs, previous) in changed {
        let mut reusable = ReusableLinks::new(previous.iter().flat_map(|chain| chain.links()));
        let mut made = vec![];
        for spec in &specs {
            let link = links::reuse_or_make(app, network, point, spec, &mut reusable).await;
            made.push(link.inspect_err(|error| {
                tracing::error!(%network, %point, module = spec.name, version = spec.version, %error, "not loaded");
            }));
        }
        let made = made.into_iter().map(Result::ok).collect();
        chains.set(ActiveChain::new(point, revision, specs, made).paused(is_paused));
    }
    Ok(())
}

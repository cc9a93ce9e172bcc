//! The chains that run. They come to life with a network's first call and are swapped whole when they change.
//!
//! A change made through this process is in effect for the next call. One made elsewhere on the same database is
//! picked up by [`Modules::refresh`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use hub_sandbox::contract::Point;
use hub_sandbox::{CALLS_AT_ONCE, Chain, Link, Sandbox};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{OnceCell, Semaphore};

use crate::app::App;
use crate::config::Settings;
use crate::ids::Ids;
use crate::modules::compiler::open_sandbox;
use crate::modules::logs::Logs;
use crate::modules::model::{LinkSpec, Mode, OnFailure};
use crate::modules::records::Records;
use crate::modules::service::{ModulesError, chains};
use crate::modules::store;
use crate::values::NetworkId;

/// How long a network's first call waits for its chains. It is short unless code has to be compiled again.
const LOAD_WITHIN: Duration = Duration::from_secs(2);
/// Revisions in the database begin at 1.
const UNLOADED: i64 = 0;
/// Dry runs of one network at once.
const DRY_RUNS: usize = 2;
/// Replays of one network at once.
const REPLAYS: usize = 1;

/// The running modules of all networks.
pub struct Modules {
    pub(super) sandbox: Sandbox,
    pub(super) logs: Logs,
    pub(super) records: Records,
    /// The versions this hub is preparing after their uploads were answered.
    pub(super) compiling: Mutex<HashSet<(NetworkId, String, i64)>>,
    networks: RwLock<HashMap<NetworkId, Arc<Network>>>,
}

/// One network's chains.
pub(super) struct Network {
    chains: [ArcSwapOption<Live>; Point::ALL.len()],
    loaded: OnceCell<()>,
    /// Held while a chain is changed, so that memory and database change in the same order.
    pub(super) changing: tokio::sync::Mutex<()>,
    pub(super) dry_runs: Semaphore,
    pub(super) replays: Semaphore,
}

/// A chain as it runs.
pub(super) struct Live {
    pub(super) point: Point,
    pub(super) revision: i64,
    pub(super) specs: Vec<LinkSpec>,
    /// One per spec; none for a module that could not be loaded.
    pub(super) links: Vec<Option<Arc<Link>>>,
    pub(super) chain: Chain,
    /// A module that must not be left out could not be loaded.
    refuses: bool,
}

/// What there is to run for a call.
pub(super) enum Reached {
    Chain(Arc<Live>),
    Nothing,
    Refuses,
}

impl Live {
    pub(super) fn new(point: Point, revision: i64, specs: Vec<LinkSpec>, links: Vec<Option<Arc<Link>>>) -> Self {
        let must_run = |spec: &LinkSpec| spec.on_failure == OnFailure::Refuse && spec.mode != Mode::Shadow;
        let refuses = specs.iter().zip(&links).any(|(spec, link)| link.is_none() && must_run(spec));
        let chain = Chain::new(links.iter().flatten().cloned().collect(), CALLS_AT_ONCE);
        Self { point, revision, specs, links, chain, refuses }
    }

    /// What can be said before any of its modules is loaded.
    fn unloaded(point: Point, specs: Vec<LinkSpec>) -> Self {
        let links = specs.iter().map(|_| None).collect();
        Self::new(point, UNLOADED, specs, links)
    }
}

impl Network {
    fn new() -> Self {
        Self {
            chains: Default::default(),
            loaded: OnceCell::new(),
            changing: tokio::sync::Mutex::default(),
            dry_runs: Semaphore::new(DRY_RUNS),
            replays: Semaphore::new(REPLAYS),
        }
    }

    fn place(&self, point: Point) -> &ArcSwapOption<Live> {
        &self.chains[point as usize]
    }

    /// The chain of a point, if it ever had one.
    pub(super) fn live(&self, point: Point) -> Option<Arc<Live>> {
        self.place(point).load_full()
    }

    /// Puts a chain in place for the next call.
    pub(super) fn swap(&self, live: Live) {
        self.place(live.point).store(Some(Arc::new(live)));
    }
}

impl Modules {
    /// No chain is loaded yet.
    pub(crate) fn open(settings: &Settings, ids: &Ids) -> anyhow::Result<Self> {
        Ok(Self {
            sandbox: open_sandbox(settings, ids)?,
            logs: Logs::default(),
            records: Records::new(usize::try_from(settings.record_memory << 20).unwrap_or(usize::MAX)),
            compiling: Mutex::default(),
            networks: RwLock::default(),
        })
    }

    /// Lets go of a network that lives elsewhere.
    pub(crate) fn forget(&self, network: NetworkId) {
        self.networks.write().remove(&network);
    }

    fn known(&self, network: NetworkId) -> Option<Arc<Network>> {
        self.networks.read().get(&network).cloned()
    }

    fn network(&self, network: NetworkId) -> Arc<Network> {
        self.known(network).unwrap_or_else(|| {
            Arc::clone(self.networks.write().entry(network).or_insert_with(|| Arc::new(Network::new())))
        })
    }

    pub(super) fn may_have_chain(&self, network: NetworkId, point: Point) -> bool {
        let networks = self.networks.read();
        let Some(known) = networks.get(&network).filter(|known| known.loaded.initialized()) else { return true };
        known.place(point).load().as_ref().is_some_and(|live| live.refuses || !live.chain.is_empty())
    }

    /// What is to run for a call. The network's first call brings its chains to life; one that takes too long at it
    /// is served without the modules, unless one of them must not be left out.
    pub(super) async fn reach(&self, app: &App, network: NetworkId, point: Point) -> Reached {
        let known = self.network(network);
        if !known.loaded.initialized() {
            // A task of its own: loading goes on when this call stops waiting for it.
            let (app, known) = (app.clone(), Arc::clone(&known));
            let loading = tokio::spawn(async move { load(&app, network, &known).await });
            match tokio::time::timeout(LOAD_WITHIN, loading).await {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(error))) => tracing::error!(%network, %error, "a network's modules could not be loaded"),
                Ok(Err(error)) => tracing::error!(%network, %error, "loading a network's modules ended early"),
                Err(_) => tracing::warn!(%network, "a network's modules are still being loaded"),
            }
        }
        match known.live(point) {
            Some(live) if live.refuses => Reached::Refuses,
            Some(live) if !live.chain.is_empty() => Reached::Chain(live),
            _ => Reached::Nothing,
        }
    }

    /// The network with its chains, loaded.
    pub(super) async fn loaded(&self, app: &App, network: NetworkId) -> Result<Arc<Network>, ModulesError> {
        let known = self.network(network);
        load(app, network, &known).await?;
        Ok(known)
    }
}

async fn load(app: &App, network: NetworkId, known: &Arc<Network>) -> Result<(), ModulesError> {
    known.loaded.get_or_try_init(|| read_chains(app, network, known)).await.copied()
}

/// Brings the chains in memory up to the database's.
async fn read_chains(app: &App, network: NetworkId, known: &Network) -> Result<(), ModulesError> {
    let _turn = known.changing.lock().await;
    let mut changed = vec![];
    for row in store::chains::all(&app.db, network).await? {
        let Some(point) = Point::from_name(&row.point) else { continue };
        let before = known.live(point);
        if before.as_ref().is_some_and(|live| live.revision == row.revision) {
            continue;
        }
        let specs: Vec<LinkSpec> = serde_json::from_str(&row.chain)?;
        if before.is_none() {
            known.swap(Live::unloaded(point, specs.clone()));
        }
        changed.push((point, row.revision, specs, before));
    }
    for (point, revision, specs, before) in changed {
        let mut links = vec![];
        let mut kept = chains::Kept::of(before.as_deref());
        for spec in &specs {
            let link = chains::link(app, network, point, spec, &mut kept).await;
            links.push(link.inspect_err(|error| {
                tracing::error!(%network, %point, module = spec.name, version = spec.version, %error, "not loaded");
            }));
        }
        known.swap(Live::new(point, revision, specs, links.into_iter().map(Result::ok).collect()));
    }
    Ok(())
}

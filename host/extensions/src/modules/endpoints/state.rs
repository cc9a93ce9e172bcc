//! Endpoints in memory, at the owner of their network.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hub_sandbox::Link;
use hub_sandbox::contract::Point;
use hub_sandbox::manifest::{Endpoint, Grants, Manifest};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::secrets::SecretRow;
use crate::app::App;
use crate::clock::{Millis, Moment};
use crate::modules::Modules;
use crate::modules::limits::ModuleLimits;
use crate::modules::service::ModulesError;
use crate::modules::service::links::{self, ReusableLinks};
use crate::modules::state::ActiveChain;
use crate::modules::store::versions;
use crate::values::NetworkId;
use hub_base::keyed_lock::KeyedLock;

/// Pause before a module that could not be loaded is tried again.
const LOAD_PAUSE: Duration = Duration::from_secs(1);

/// Endpoints of the networks that this node owns.
#[derive(Default)]
pub(in crate::modules) struct EndpointState {
    networks: Mutex<HashMap<NetworkId, Arc<NetworkEndpoints>>>,
    secrets: Mutex<KnownSecrets>,
    /// Last uses of secrets that are not stored yet.
    uses: Mutex<HashMap<(NetworkId, String), Millis>>,
    /// Held while a network's modules are loaded, for all requests that wait for them.
    loading: KeyedLock<NetworkId>,
    /// Held while a request runs under its key.
    pub(super) keys: KeyedLock<(NetworkId, Vec<u8>)>,
}

impl fmt::Debug for EndpointState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EndpointState")
    }
}

/// A secret's row; none if there is none.
type KnownSecret = Arc<Option<SecretRow>>;

/// Secrets that were looked up, sealed.
#[derive(Default)]
struct KnownSecrets {
    networks: HashMap<NetworkId, HashMap<String, KnownSecret>>,
    /// Number of changes: what was read before the latest is not remembered.
    changes: u64,
}

/// Endpoints of one network, as its chain is now.
pub(super) struct NetworkEndpoints {
    chain: Arc<ActiveChain>,
    pub(super) routes: Vec<ServedEndpoint>,
    max_calls: usize,
    made_at: Moment,
    /// Calls at once.
    pub(super) calls: Arc<Semaphore>,
}

/// One endpoint of an active module.
#[derive(Clone)]
pub(super) struct ServedEndpoint {
    pub(super) module: String,
    pub(super) version: i64,
    pub(super) endpoint: Endpoint,
    /// None for a module that could not be loaded.
    pub(super) link: Option<Arc<Link>>,
    pub(super) grants: Grants,
}

impl EndpointState {
    /// Drops what is known of a network that another node owns now, or that was deleted.
    pub(in crate::modules) fn evict(&self, network: NetworkId) {
        self.networks.lock().remove(&network);
        self.forget_secrets(network);
    }

    /// A secret that was looked up, or the number of changes so far.
    pub(super) fn secret(&self, network: NetworkId, name: &str) -> Result<KnownSecret, u64> {
        let known = self.secrets.lock();
        let found = known.networks.get(&network).and_then(|secrets| secrets.get(name));
        found.map(Arc::clone).ok_or(known.changes)
    }

    /// Remembers a secret that was looked up after so many changes.
    pub(super) fn remember_secret(&self, network: NetworkId, name: &str, row: KnownSecret, changes: u64) {
        let mut known = self.secrets.lock();
        if known.changes == changes {
            known.networks.entry(network).or_default().insert(name.to_owned(), row);
        }
    }

    /// Notes that a secret was used.
    pub(super) fn note_use(&self, network: NetworkId, name: &str, now: Millis) {
        self.uses.lock().insert((network, name.to_owned()), now);
    }

    /// Last use of a secret that is not stored yet.
    pub(super) fn last_use(&self, network: NetworkId, name: &str) -> Option<Millis> {
        self.uses.lock().get(&(network, name.to_owned())).copied()
    }

    /// Last uses that are not stored yet.
    pub(super) fn take_uses(&self) -> Vec<(NetworkId, (String, Millis))> {
        let uses = std::mem::take(&mut *self.uses.lock());
        uses.into_iter().map(|((network, name), at)| (network, (name, at))).collect()
    }

    /// Has the network's secrets looked up again.
    pub(super) fn forget_secrets(&self, network: NetworkId) {
        let mut known = self.secrets.lock();
        known.networks.remove(&network);
        known.changes += 1;
    }

    /// Drops what is known of all networks.
    pub(in crate::modules) fn evict_all(&self) {
        self.networks.lock().clear();
        let mut known = self.secrets.lock();
        known.networks.clear();
        known.changes += 1;
    }
}

/// A network's endpoints; none if it has none.
pub(super) async fn of(app: &App, network: NetworkId) -> Result<Option<Arc<NetworkEndpoints>>, ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    let state = app.state::<EndpointState>();
    let Some(chain) = chains.get(Point::Endpoints).filter(|chain| !chain.specs.is_empty()) else {
        return Ok(None);
    };
    let limits = ModuleLimits::of(app, network).await?;
    chain.set_limits(limits);
    let max_calls = limits.max_calls(Point::Endpoints);
    let known = || state.networks.lock().get(&network).map(Arc::clone);
    let is_current = |known: &NetworkEndpoints| {
        // Strangers may ask at once, and often.
        let is_new = app.clock.moment().saturating_since(known.made_at) < LOAD_PAUSE;
        let is_whole = is_new || known.routes.iter().all(|route| route.link.is_some());
        Arc::ptr_eq(&known.chain, &chain) && known.max_calls == max_calls && is_whole
    };
    if let Some(known) = known().filter(|known| is_current(known)) {
        return Ok(Some(known));
    }
    let _loading = state.loading.lock(network).await;
    let calls = match known() {
        Some(known) if is_current(&known) => return Ok(Some(known)),
        // Calls under way go on.
        Some(known) if known.max_calls == max_calls => Arc::clone(&known.calls),
        _ => Arc::new(Semaphore::new(max_calls)),
    };
    let mut routes = vec![];
    for (spec, link) in chain.links() {
        let link = if let Some(link) = link {
            Some(Arc::clone(link))
        } else {
            // It could not be loaded before.
            let mut reusable = ReusableLinks::new(std::iter::empty());
            links::reuse_or_make(app, network, Point::Endpoints, spec, &mut reusable).await.ok()
        };
        let row = versions::find(&app.db, network, &spec.name, spec.version).await?;
        let manifest = row.and_then(|row| Manifest::parse(row.manifest?.as_bytes()).ok());
        routes.extend(manifest.unwrap_or_default().endpoints.into_iter().map(|endpoint| ServedEndpoint {
            module: spec.name.clone(),
            version: spec.version,
            endpoint,
            link: link.clone(),
            grants: spec.grants.clone().unwrap_or_default(),
        }));
    }
    // The pause begins once all were tried, however long that took.
    let made_at = app.clock.moment();
    let loaded = Arc::new(NetworkEndpoints { chain, routes, max_calls, made_at, calls });
    state.networks.lock().insert(network, Arc::clone(&loaded));
    Ok(Some(loaded))
}

//! Cache of networks' plans, and the networks' use of their rates.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use moka::sync::Cache;
use parking_lot::RwLock;

use crate::app::App;
use crate::clock::Millis;
use crate::limits::addresses::AddressLimits;
use crate::limits::plan::Plan;
use crate::limits::plan_store;
use crate::limits::stored::StoredEstimate;
use crate::limits::token_bucket::TokenBucket;
use crate::values::NetworkId;

/// Delay for changes by other processes on the same database; changes by this process apply immediately.
const TTL: Millis = 500;
/// Number of networks in memory above which those idle for [`IDLE`] are dropped.
const PRUNE_AT: usize = 10_000;
/// Long enough for all buckets of a network to be full again, except with extreme plans.
const IDLE: Millis = 10 * 60 * 1000;
const MAX_KEYS: u64 = 100_000;
const KEY_IDLE: Duration = Duration::from_mins(1);
const NEVER: Millis = Millis::MIN;
/// The operator's network, which has no plan.
const OPERATOR: NetworkId = NetworkId(uuid::Uuid::nil());

/// Limits of all networks and addresses.
#[derive(Debug)]
pub struct Limits {
    networks: RwLock<HashMap<NetworkId, Arc<NetworkState>>>,
    /// By key id.
    keys: Cache<String, Arc<TokenBucket>>,
    /// True if any plan known to this process has a rate.
    has_rates: AtomicBool,
    pub addresses: AddressLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            networks: RwLock::default(),
            keys: Cache::builder().max_capacity(MAX_KEYS).time_to_idle(KEY_IDLE).build(),
            has_rates: AtomicBool::default(),
            addresses: AddressLimits::default(),
        }
    }
}

/// Plan of a network and its use.
#[derive(Debug)]
pub(super) struct NetworkState {
    plan: ArcSwap<Plan>,
    read_at: AtomicI64,
    pub(super) requests: TokenBucket,
    pub(super) public_requests: TokenBucket,
    pub(super) events: TokenBucket,
    pub(super) module_time: TokenBucket,
    pub(super) stored: StoredEstimate,
}

impl NetworkState {
    fn new() -> Self {
        Self {
            plan: ArcSwap::default(),
            read_at: AtomicI64::new(NEVER),
            requests: TokenBucket::default(),
            public_requests: TokenBucket::default(),
            events: TokenBucket::default(),
            module_time: TokenBucket::default(),
            stored: StoredEstimate::default(),
        }
    }

    pub(super) fn plan(&self) -> Arc<Plan> {
        self.plan.load_full()
    }

    /// True if the caller must reload the plan. Others use the old one meanwhile.
    fn begin_read(&self, now: Millis) -> Option<Millis> {
        let read_at = self.read_at.load(Ordering::Relaxed);
        let is_fresh = now.saturating_sub(read_at) < TTL && read_at <= now;
        let begun =
            !is_fresh && { self.read_at.compare_exchange(read_at, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() };
        begun.then_some(read_at)
    }
}

impl Limits {
    /// True if responses may report rates.
    pub(super) fn has_rates(&self) -> bool {
        self.has_rates.load(Ordering::Relaxed)
    }

    /// Records that a plan has a rate, so that responses may report rates.
    pub fn note_rates(&self) {
        self.has_rates.store(true, Ordering::Relaxed);
    }

    pub(super) fn key_bucket(&self, key_id: &str) -> Arc<TokenBucket> {
        if let Some(bucket) = self.keys.get(key_id) {
            return bucket;
        }
        self.keys.get_with_by_ref(key_id, Arc::default)
    }

    /// Invalidates all plans: a plan or its assignment has changed.
    pub fn invalidate(&self) {
        for state in self.networks.read().values() {
            state.read_at.store(NEVER, Ordering::Relaxed);
        }
    }

    /// The same for one network.
    pub fn invalidate_network(&self, network: NetworkId) {
        if let Some(state) = self.find(network) {
            state.read_at.store(NEVER, Ordering::Relaxed);
        }
    }

    /// Drops a network.
    pub fn evict(&self, network: NetworkId) {
        self.networks.write().remove(&network);
    }

    fn find(&self, network: NetworkId) -> Option<Arc<NetworkState>> {
        self.networks.read().get(&network).cloned()
    }

    fn insert(&self, network: NetworkId, new: Arc<NetworkState>, now: Millis) -> Arc<NetworkState> {
        let mut networks = self.networks.write();
        if networks.len() >= PRUNE_AT {
            networks.retain(|_, state| now.saturating_sub(state.read_at.load(Ordering::Relaxed)) < IDLE);
        }
        Arc::clone(networks.entry(network).or_insert(new))
    }

    /// State of a network, with its plan at most half a second old.
    pub(super) async fn current(&self, app: &App, network: NetworkId) -> Result<Arc<NetworkState>, hub_db::Error> {
        let now = app.clock.now();
        if let Some(state) = self.find(network) {
            if let Some(before) = state.begin_read(now) {
                match self.read(app, network).await {
                    Ok(plan) => state.plan.store(Arc::new(plan)),
                    Err(error) => {
                        // The next request tries again; the old plan applies until then.
                        state.read_at.store(before, Ordering::Relaxed);
                        tracing::warn!(%network, %error, "could not read a network's plan");
                    }
                }
            }
            return Ok(state);
        }
        let state = NetworkState::new();
        state.plan.store(Arc::new(self.read(app, network).await?));
        state.read_at.store(now, Ordering::Relaxed);
        Ok(self.insert(network, Arc::new(state), now))
    }

    async fn read(&self, app: &App, network: NetworkId) -> Result<Plan, hub_db::Error> {
        if network == OPERATOR {
            return Ok(Plan::default());
        }
        // Every request needs it, so it waits behind no network's work.
        let plan = plan_store::plan_of(&app.db.reserved(), network).await?;
        if plan.rates.is_some() {
            self.note_rates();
        }
        Ok(plan)
    }
}

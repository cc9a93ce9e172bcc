//! Cache of networks' plans, and the networks' use of their rates.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
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
    plan: ArcSwap<KnownPlan>,
    read_at: AtomicI64,
    /// One more than the changes of the plan that this process knows of.
    changes: AtomicU64,
    pub(super) requests: TokenBucket,
    pub(super) public_requests: TokenBucket,
    pub(super) events: TokenBucket,
    pub(super) module_time: TokenBucket,
    pub(super) stored: StoredEstimate,
}

/// A plan, and the number of changes when its query began; 0 before the first query.
#[derive(Debug, Default)]
struct KnownPlan {
    plan: Arc<Plan>,
    changes: u64,
}

impl NetworkState {
    fn new() -> Self {
        Self {
            plan: ArcSwap::default(),
            read_at: AtomicI64::new(NEVER),
            changes: AtomicU64::new(1),
            requests: TokenBucket::default(),
            public_requests: TokenBucket::default(),
            events: TokenBucket::default(),
            module_time: TokenBucket::default(),
            stored: StoredEstimate::default(),
        }
    }

    pub(super) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan.load().plan)
    }

    /// Has the plan read again: whoever asks after this does not get the present one.
    fn invalidate(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Number of changes if the caller must read the plan. Others use one that has merely grown old meanwhile, but none
    /// from before a change.
    fn begin_read(&self, now: Millis) -> Option<u64> {
        let changes = self.changes.load(Ordering::Acquire);
        let read_at = self.read_at.load(Ordering::Relaxed);
        let is_fresh = now.saturating_sub(read_at) < TTL && read_at <= now;
        let begun =
            !is_fresh && self.read_at.compare_exchange(read_at, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        (begun || self.plan.load().changes < changes).then_some(changes)
    }

    /// Keeps a plan, unless a later one is known.
    fn keep(&self, plan: Plan, changes: u64) {
        let read = Arc::new(KnownPlan { plan: Arc::new(plan), changes });
        self.plan.rcu(|known| Arc::clone(if known.changes > changes { known } else { &read }));
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
            state.invalidate();
        }
    }

    /// The same for one network.
    pub fn invalidate_network(&self, network: NetworkId) {
        if let Some(state) = self.find(network) {
            state.invalidate();
        }
    }

    /// Drops a network.
    pub fn evict(&self, network: NetworkId) {
        self.networks.write().remove(&network);
    }

    fn find(&self, network: NetworkId) -> Option<Arc<NetworkState>> {
        self.networks.read().get(&network).cloned()
    }

    fn find_or_insert(&self, network: NetworkId, now: Millis) -> Arc<NetworkState> {
        if let Some(state) = self.find(network) {
            return state;
        }
        let mut networks = self.networks.write();
        if networks.len() >= PRUNE_AT {
            networks.retain(|_, state| now.saturating_sub(state.read_at.load(Ordering::Relaxed)) < IDLE);
        }
        Arc::clone(networks.entry(network).or_insert_with(|| Arc::new(NetworkState::new())))
    }

    /// State of a network, with its plan at most half a second old.
    pub(super) async fn current(&self, app: &App, network: NetworkId) -> Result<Arc<NetworkState>, hub_db::Error> {
        let now = app.clock.now();
        let state = self.find_or_insert(network, now);
        if let Some(changes) = state.begin_read(now) {
            match self.read(app, network).await {
                Ok(plan) => state.keep(plan, changes),
                Err(error) if state.plan.load().changes == 0 => return Err(error),
                Err(error) => {
                    // The next request tries again; the old plan applies until then.
                    state.read_at.store(NEVER, Ordering::Relaxed);
                    tracing::warn!(%network, %error, "could not read a network's plan");
                }
            }
        }
        Ok(state)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_from_before_a_change_is_not_used_after_it() {
        let state = NetworkState::new();
        let begun = state.begin_read(0).unwrap();
        state.keep(Plan::default(), begun);
        assert_eq!(state.begin_read(TTL - 1), None);
        // Grown old: one reads it again, and the others use it meanwhile.
        let slow = state.begin_read(TTL).unwrap();
        assert_eq!(state.begin_read(TTL), None);
        // Changed: all read it, until one knows the new one, which the slow read does not replace.
        state.invalidate();
        let later = state.begin_read(TTL).unwrap();
        assert_eq!(state.begin_read(TTL), Some(later));
        state.keep(Plan::default(), later);
        let new = state.plan();
        state.keep(Plan::default(), slow);
        assert!(Arc::ptr_eq(&new, &state.plan()));
        assert_eq!(state.begin_read(TTL), None);
    }
}

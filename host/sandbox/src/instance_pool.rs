//! Instances that outlive their call, for links configured so, each for that link alone.
//!
//! Starting an instance, which in some languages is most of a call's cost, then happens once for many calls. An
//! instance is not reused after it failed, grew large, was used often, or was idle for a while.

use crate::clock::monotonic;
use crate::module::LoadedModule;
use crate::state::CallState;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use wasmtime::Store;
use wasmtime::component::Instance;

/// Maximum number of calls of one instance.
const MAX_USES: u32 = 1000;
/// Maximum number of kept instances of one link.
const MAX_PER_KEY: usize = 8;

/// Link that instances belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolKey(u64);

impl PoolKey {
    /// A key that no other link has.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A store, and its instance once it is started.
pub(crate) struct PooledInstance {
    /// The code it runs: the cache may have reloaded the module, with other export indices.
    pub(crate) module: Arc<LoadedModule>,
    pub(crate) store: Store<CallState>,
    pub(crate) instance: Option<Instance>,
    uses: u32,
}

impl PooledInstance {
    /// With nothing started yet.
    pub(crate) fn new(module: Arc<LoadedModule>, state: CallState) -> Self {
        Self { store: Store::new(module.pre.engine(), state), module, instance: None, uses: 0 }
    }

    /// The same instance for another call.
    pub(crate) fn with_state(mut self, mut state: CallState) -> Self {
        state.memory.peak = self.store.data().memory.peak;
        *self.store.data_mut() = state;
        self
    }

    fn memory(&self) -> usize {
        self.store.data().memory.peak
    }
}

/// Limits of kept instances: their number, memory, and idle time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolLimits {
    pub(crate) instances: usize,
    pub(crate) bytes: usize,
    pub(crate) idle_timeout: Duration,
}

/// The instances that wait for their next call.
pub(crate) struct InstancePool {
    limits: PoolLimits,
    idle: Arc<Mutex<IdleInstances>>,
}

/// The idle instances, the one that was idle longest first.
#[derive(Default)]
struct IdleInstances {
    instances: Vec<(PoolKey, Instant, PooledInstance)>,
    bytes: usize,
    sweeping: bool,
}

impl InstancePool {
    pub(crate) fn new(limits: PoolLimits) -> Self {
        Self { limits, idle: Arc::default() }
    }

    /// Takes an instance of the link.
    pub(crate) fn take(&self, key: PoolKey) -> Option<PooledInstance> {
        let now = monotonic();
        let mut idle = self.idle.lock();
        let is_usable =
            |(of, since, _): &(PoolKey, Instant, PooledInstance)| *of == key && now - *since < self.limits.idle_timeout;
        let at = idle.instances.iter().rposition(is_usable)?;
        let (_, _, instance) = idle.instances.remove(at);
        idle.bytes -= instance.memory();
        Some(instance)
    }

    /// Keeps an instance whose call succeeded, for the link's next call.
    pub(crate) fn put(&self, key: PoolKey, mut instance: PooledInstance, runtime: &Handle) {
        instance.uses += 1;
        let state = instance.store.data_mut();
        let large = state.memory.peak > state.memory.limit / 2;
        if large || instance.uses >= MAX_USES {
            return;
        }
        state.clear();
        let mut removed = vec![];
        let mut idle = self.idle.lock();
        if idle.instances.iter().filter(|(of, ..)| *of == key).count() >= MAX_PER_KEY {
            return;
        }
        idle.bytes += instance.memory();
        idle.instances.push((key, monotonic(), instance));
        while idle.instances.len() > self.limits.instances || idle.bytes > self.limits.bytes {
            removed.push(idle.remove_oldest());
        }
        if !idle.sweeping && !idle.instances.is_empty() {
            idle.sweeping = true;
            runtime.spawn(sweep(Arc::downgrade(&self.idle), self.limits.idle_timeout));
        }
        // Freed without the lock: giving memory back takes a while.
        drop(idle);
        drop(removed);
    }
}

impl IdleInstances {
    fn remove_oldest(&mut self) -> PooledInstance {
        let (_, _, instance) = self.instances.remove(0);
        self.bytes -= instance.memory();
        instance
    }

    fn remove_stale(&mut self, timeout: Duration) -> Vec<PooledInstance> {
        let now = monotonic();
        let stale = self.instances.iter().take_while(|(_, since, _)| now - *since >= timeout).count();
        (0..stale).map(|_| self.remove_oldest()).collect()
    }
}

/// Removes instances that were idle for too long, while there are any.
async fn sweep(idle: Weak<Mutex<IdleInstances>>, timeout: Duration) {
    loop {
        tokio::time::sleep((timeout / 2).max(Duration::from_millis(10))).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = idle.lock();
        let stale = idle.remove_stale(timeout);
        idle.sweeping = !idle.instances.is_empty();
        let done = !idle.sweeping;
        drop(idle);
        drop(stale);
        if done {
            return;
        }
    }
}

//! Cache of recently used keys, so that a busy client costs no query.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use moka::sync::Cache;
use parking_lot::RwLock;

use crate::auth::model::{KeyId, KeyRow};
use crate::clock::Millis;
use crate::values::NetworkId;

/// Delay after which revocations by other processes take effect; those by this process take effect immediately.
const TTL: Duration = Duration::from_millis(500);
const CAPACITY: u64 = 100_000;

/// Key rows by id, and the keys' latest uses.
#[derive(Debug)]
pub struct KeyCache {
    rows: Cache<KeyId, Arc<KeyRow>>,
    last_used: RwLock<HashMap<KeyId, (NetworkId, AtomicI64)>>,
}

impl Default for KeyCache {
    fn default() -> Self {
        Self { rows: Cache::builder().max_capacity(CAPACITY).time_to_live(TTL).build(), last_used: RwLock::default() }
    }
}

impl KeyCache {
    pub(super) fn get(&self, id: &KeyId) -> Option<Arc<KeyRow>> {
        self.rows.get(id)
    }

    pub(super) fn put(&self, id: KeyId, row: Arc<KeyRow>) {
        self.rows.insert(id, row);
    }

    pub fn invalidate(&self, id: &KeyId) {
        self.rows.invalidate(id);
    }

    /// Clears the cache.
    pub fn clear(&self) {
        self.rows.invalidate_all();
    }

    pub(super) fn record_use(&self, network: NetworkId, id: &KeyId, at: Millis) {
        if let Some((_, last)) = self.last_used.read().get(id) {
            last.fetch_max(at, Ordering::Relaxed);
            return;
        }
        self.last_used.write().insert(id.clone(), (network, AtomicI64::new(at)));
    }

    /// Takes the uses recorded since the last call.
    pub(super) fn take_uses(&self) -> Vec<(NetworkId, KeyId, Millis)> {
        let used = std::mem::take(&mut *self.last_used.write());
        used.into_iter().map(|(id, (network, at))| (network, id, at.into_inner())).collect()
    }
}

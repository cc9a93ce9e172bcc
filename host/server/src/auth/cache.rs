//! Keys that were looked up lately, so that a busy caller costs no query.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use moka::sync::Cache;
use parking_lot::RwLock;

use crate::auth::model::{KeyId, KeyRow};
use crate::clock::Millis;
use crate::values::NetworkId;

/// A revocation made anywhere, also by another process on the same database, is in effect after this time; one made
/// through this process at once.
const FRESH_FOR: Duration = Duration::from_millis(500);
const CAPACITY: u64 = 100_000;

/// Rows of keys by id, and when keys were used.
#[derive(Debug)]
pub struct KeyCache {
    rows: Cache<KeyId, Arc<KeyRow>>,
    used: RwLock<HashMap<KeyId, (NetworkId, AtomicI64)>>,
}

impl Default for KeyCache {
    fn default() -> Self {
        Self { rows: Cache::builder().max_capacity(CAPACITY).time_to_live(FRESH_FOR).build(), used: RwLock::default() }
    }
}

impl KeyCache {
    pub(super) fn get(&self, id: &KeyId) -> Option<Arc<KeyRow>> {
        self.rows.get(id)
    }

    pub(super) fn put(&self, row: Arc<KeyRow>) {
        self.rows.insert(row.key_id.clone(), row);
    }

    pub(crate) fn forget(&self, id: &KeyId) {
        self.rows.invalidate(id);
    }

    pub(super) fn note_use(&self, network: NetworkId, id: &KeyId, at: Millis) {
        if let Some((_, last)) = self.used.read().get(id) {
            last.fetch_max(at, Ordering::Relaxed);
            return;
        }
        self.used.write().insert(id.clone(), (network, AtomicI64::new(at)));
    }

    /// The uses noted since the last call.
    pub(super) fn take_uses(&self) -> Vec<(NetworkId, KeyId, Millis)> {
        let used = std::mem::take(&mut *self.used.write());
        used.into_iter().map(|(id, (network, at))| (network, id, at.into_inner())).collect()
    }
}

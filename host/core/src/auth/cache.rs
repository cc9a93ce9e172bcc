//! Cache of recently used keys, so that a busy client costs no query.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use moka::sync::Cache;
use parking_lot::RwLock;

use crate::auth::model::{KeyId, KeyRow};
use crate::clock::Millis;
use crate::values::NetworkId;

/// Delay after which revocations by other processes take effect; those by this process take effect immediately.
const TTL: Duration = Duration::from_millis(500);
/// Longer than a row is remembered, with the query that read it.
const CHANGE_TTL: Duration = Duration::from_mins(1);
const CAPACITY: u64 = 100_000;

/// Key rows by the ids of credentials, and the keys' latest uses.
///
/// Rows of a holder or a network are not searched for when something about it changes: rows that were read before the
/// change no longer count. So a network's changes cost other networks no query.
#[derive(Debug)]
pub struct KeyCache {
    rows: Cache<KeyId, CachedRow>,
    /// Numbers of the latest changes.
    changes: Cache<Subject, u64>,
    /// Number of the latest change of anything, and of everything.
    latest: AtomicU64,
    cleared: AtomicU64,
    last_used: RwLock<HashMap<KeyId, (NetworkId, AtomicI64)>>,
}

/// A row, and the number of the latest change when its query began.
#[derive(Clone, Debug)]
struct CachedRow {
    row: Arc<KeyRow>,
    read_at: ReadAt,
}

/// Number of the latest change when a query began.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadAt(u64);

/// Subject of a change: a key or person, or a whole network.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject {
    Holder(KeyId),
    Network(NetworkId),
}

impl Default for KeyCache {
    fn default() -> Self {
        Self {
            rows: Cache::builder().max_capacity(CAPACITY).time_to_live(TTL).build(),
            changes: Cache::builder().max_capacity(CAPACITY).time_to_live(CHANGE_TTL).build(),
            latest: AtomicU64::new(0),
            cleared: AtomicU64::new(0),
            last_used: RwLock::default(),
        }
    }
}

impl KeyCache {
    pub(super) fn get(&self, id: &KeyId) -> Option<Arc<KeyRow>> {
        let CachedRow { row, read_at: ReadAt(read_at) } = self.rows.get(id)?;
        if read_at == self.latest.load(Ordering::Acquire) {
            return Some(row);
        }
        let holder = self.changes.get(&Subject::Holder(row.key_id.clone())).unwrap_or(0);
        let network = self.changes.get(&Subject::Network(row.network_id)).unwrap_or(0);
        let changed = holder.max(network).max(self.cleared.load(Ordering::Acquire));
        (changed <= read_at).then_some(row)
    }

    /// Mark for [`KeyCache::put`], taken before the query.
    pub(super) fn begin_read(&self) -> ReadAt {
        ReadAt(self.latest.load(Ordering::Acquire))
    }

    pub(super) fn put(&self, id: KeyId, row: Arc<KeyRow>, read_at: ReadAt) {
        self.rows.insert(id, CachedRow { row, read_at });
    }

    fn note(&self, subject: Subject) {
        let number = self.latest.fetch_add(1, Ordering::AcqRel) + 1;
        let later = |known: Option<moka::Entry<Subject, u64>>| known.map_or(number, |it| it.into_value().max(number));
        self.changes.entry(subject).and_upsert_with(later);
    }

    /// Forgets a key, or all sessions of a person.
    pub fn invalidate(&self, holder: &KeyId) {
        self.note(Subject::Holder(holder.clone()));
    }

    /// Forgets a network's keys and members.
    pub fn invalidate_network(&self, network: NetworkId) {
        self.note(Subject::Network(network));
    }

    /// Clears the cache.
    pub fn clear(&self) {
        let number = self.latest.fetch_add(1, Ordering::AcqRel) + 1;
        self.cleared.fetch_max(number, Ordering::AcqRel);
        self.rows.invalidate_all();
    }

    pub(super) fn record_use(&self, network: NetworkId, id: &KeyId, at: Millis) {
        if let Some((_, last)) = self.last_used.read().get(id) {
            last.fetch_max(at, Ordering::Relaxed);
            return;
        }
        self.last_used.write().insert(id.clone(), (network, AtomicI64::new(at)));
    }

    /// Forgets the uses of a network's keys: its rows are another hub's.
    pub fn forget_uses(&self, network: NetworkId) {
        self.last_used.write().retain(|_, (of, _)| *of != network);
    }

    /// Takes the uses recorded since the last call.
    pub(super) fn take_uses(&self) -> Vec<(NetworkId, KeyId, Millis)> {
        let used = std::mem::take(&mut *self.last_used.write());
        used.into_iter().map(|(id, (network, at))| (network, id, at.into_inner())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(network: NetworkId, holder: &str) -> Arc<KeyRow> {
        Arc::new(KeyRow {
            network_id: network,
            key_id: KeyId(holder.to_owned()),
            name: String::new(),
            scopes: String::new(),
            sha256: vec![],
            previous_sha256: None,
            previous_until: None,
            created_at: 0,
            created_by: None,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
            servers: None,
            addresses: None,
            suspended: false,
            move_state: None,
            moved_to: None,
        })
    }

    #[test]
    fn changes_of_one_network_or_holder_leave_the_others() {
        let cache = KeyCache::default();
        let networks = [1, 2].map(|it| NetworkId(uuid::Uuid::from_u128(it)));
        let put = |network: usize, holder: &str| {
            let id = KeyId(format!("{holder} {network}"));
            cache.put(id, row(networks[network], holder), cache.begin_read());
        };
        let known = |network: usize, holder: &str| cache.get(&KeyId(format!("{holder} {network}"))).is_some();
        for network in [0, 1] {
            put(network, "alex");
            put(network, "key");
        }
        cache.invalidate_network(networks[0]);
        assert_eq!([known(0, "alex"), known(0, "key"), known(1, "alex"), known(1, "key")], [false, false, true, true]);
        put(0, "alex");
        cache.invalidate(&KeyId("alex".to_owned()));
        assert_eq!([known(0, "alex"), known(1, "alex"), known(1, "key")], [false, false, true]);
        // A query that began before the change.
        let before = cache.begin_read();
        cache.invalidate(&KeyId("alex".to_owned()));
        cache.put(KeyId("alex 0".to_owned()), row(networks[0], "alex"), before);
        assert!(!known(0, "alex"));
        put(0, "alex");
        assert!(known(0, "alex"));
        cache.clear();
        assert!(!known(0, "alex") && !known(1, "key"));
    }
}

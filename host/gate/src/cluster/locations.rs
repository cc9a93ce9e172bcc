//! Owner of each shard, as known to this node.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::clock::Uptime;
use crate::cluster::lease::ShardLease;
use crate::values::SHARDS;

/// Location of a shard.
#[derive(Clone, Debug)]
pub(super) enum ShardLocation {
    /// No known owner.
    Unowned,
    /// This node owns it.
    Local(Arc<ShardLease>),
    /// Another node owns it.
    Remote {
        /// Name of the node.
        node: Arc<str>,
        /// URL of the node.
        url: Arc<str>,
    },
}

/// Locations of all shards.
#[derive(Debug)]
pub(super) struct ShardLocations {
    locations: RwLock<Vec<ShardLocation>>,
    gained: AtomicU64,
    lost: AtomicU64,
}

impl Default for ShardLocations {
    fn default() -> Self {
        let locations = RwLock::new(vec![ShardLocation::Unowned; usize::from(SHARDS)]);
        Self { locations, gained: AtomicU64::new(0), lost: AtomicU64::new(0) }
    }
}

impl ShardLocations {
    pub(super) fn get(&self, shard: u16) -> ShardLocation {
        self.locations.read().get(usize::from(shard)).cloned().unwrap_or(ShardLocation::Unowned)
    }

    pub(super) fn local_leases(&self) -> Vec<Arc<ShardLease>> {
        let leases = |location: &ShardLocation| match location {
            ShardLocation::Local(lease) => Some(Arc::clone(lease)),
            _ => None,
        };
        self.locations.read().iter().filter_map(leases).collect()
    }

    pub(super) fn unowned(&self) -> Vec<u16> {
        let locations = self.locations.read();
        let unowned = (0..SHARDS).zip(locations.iter()).filter(|(_, known)| matches!(known, ShardLocation::Unowned));
        unowned.map(|(shard, _)| shard).collect()
    }

    /// Number of shards without a known owner, including shards with expired leases of this node.
    pub(super) fn without_owner(&self) -> usize {
        let is_unowned = |location: &&ShardLocation| match location {
            ShardLocation::Unowned => true,
            ShardLocation::Local(lease) => lease.has_expired(),
            ShardLocation::Remote { .. } => false,
        };
        self.locations.read().iter().filter(is_unowned).count()
    }

    /// Number of shards owned by each other node.
    pub(super) fn remote_counts(&self) -> HashMap<Arc<str>, usize> {
        let mut counts = HashMap::new();
        for location in self.locations.read().iter() {
            if let ShardLocation::Remote { node, .. } = location {
                *counts.entry(Arc::clone(node)).or_default() += 1;
            }
        }
        counts
    }

    /// Records that this node holds the lease: extends the known one, or adds a new one. Returns the lease that ended
    /// by it, whose networks must be evicted before another lease begins here.
    pub(super) fn record_lease(&self, shard: u16, fence: i64, expires_at: Uptime) -> Option<Arc<ShardLease>> {
        let mut locations = self.locations.write();
        let location = locations.get_mut(usize::from(shard))?;
        match location {
            ShardLocation::Local(lease) if lease.fence == fence => {
                if lease.has_expired() {
                    // An ended lease must not become valid again, and no other may begin with its fence: it stays
                    // until the database has released it.
                    return Some(Arc::clone(lease));
                }
                lease.extend(expires_at);
                None
            }
            ShardLocation::Local(lease) => {
                let ended = Arc::clone(lease);
                *location = ShardLocation::Unowned;
                self.lost.fetch_add(1, Ordering::Relaxed);
                Some(ended)
            }
            _ => {
                *location = ShardLocation::Local(Arc::new(ShardLease::new(shard, fence, expires_at)));
                self.gained.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// Sets a location on another node or none. Returns this node's lease if it ended by that.
    pub(super) fn set(&self, shard: u16, location: ShardLocation) -> Option<Arc<ShardLease>> {
        let mut locations = self.locations.write();
        let known = locations.get_mut(usize::from(shard))?;
        match std::mem::replace(known, location) {
            ShardLocation::Local(lease) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
                Some(lease)
            }
            _ => None,
        }
    }

    /// Numbers of shards that this node gained and lost.
    pub(super) fn moves(&self) -> (u64, u64) {
        (self.gained.load(Ordering::Relaxed), self.lost.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_expired_lease_stays_expired_until_it_is_released() {
        let locations = ShardLocations::default();
        let is_valid = || matches!(locations.get(7), ShardLocation::Local(lease) if lease.is_valid());
        let later = || Uptime::now() + Duration::from_secs(4);
        assert!(locations.record_lease(7, 1, Uptime::now()).is_none());
        let ended = locations.record_lease(7, 1, later()).unwrap();
        assert!(ended.fence == 1 && !is_valid());
        assert!(locations.record_lease(7, 1, later()).is_some() && !is_valid(), "its fence is used up");
        assert_eq!(locations.local_leases().len(), 1, "the release finds it");
        assert!(locations.set(7, ShardLocation::Unowned).is_some());
        assert!(locations.record_lease(7, 2, later()).is_none() && is_valid());
        // Another lease replaced it in the database: the shard left and came back.
        assert!(locations.record_lease(7, 4, later()).is_some_and(|ended| ended.fence == 2) && !is_valid());
        assert!(locations.record_lease(7, 4, later()).is_none() && is_valid());
    }
}

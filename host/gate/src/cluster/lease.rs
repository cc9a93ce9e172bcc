//! Lease of a shard, as known to its holder.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::clock::Uptime;
use crate::cluster::arrivals::Arrivals;
use crate::values::NetworkId;

/// This node's lease on a shard, from claim to end.
#[derive(Debug)]
pub(super) struct ShardLease {
    pub(super) shard: u16,
    pub(super) fence: i64,
    expires_at: Mutex<Uptime>,
    /// Cancelled when the lease ends or is about to end.
    pub(super) ending: CancellationToken,
    /// Requests served under the lease.
    pub(super) requests: TaskTracker,
    /// Origin of the shard's requests.
    pub(super) arrivals: Arrivals,
    /// True if the shard did not follow its requests just now.
    pub(super) may_follow: AtomicBool,
    networks: Mutex<HashMap<NetworkId, Arc<OnceCell<()>>>>,
}

impl ShardLease {
    pub(super) fn new(shard: u16, fence: i64, expires_at: Uptime) -> Self {
        Self {
            shard,
            fence,
            expires_at: Mutex::new(expires_at),
            ending: CancellationToken::new(),
            requests: TaskTracker::new(),
            arrivals: Arrivals::new(),
            may_follow: AtomicBool::new(false),
            networks: Mutex::default(),
        }
    }

    /// True if this node certainly owns the shard.
    pub(super) fn is_valid(&self) -> bool {
        !self.ending.is_cancelled() && !self.has_expired()
    }

    /// True if the lease ran out or was ended. A lease being transferred is neither valid nor expired.
    pub(super) fn has_expired(&self) -> bool {
        Uptime::now() >= *self.expires_at.lock()
    }

    /// Waits until the lease was not renewed for `grace` after its expiry: the database is unreachable, and requests
    /// waiting for it may wait for long. A lease that ended otherwise is never lost.
    pub(super) async fn lost(&self, grace: Duration) {
        loop {
            let left = self.expires_at.lock().saturating_since(Uptime::now());
            if !left.is_zero() {
                tokio::time::sleep(left).await;
                continue;
            }
            // The grace starts now, not at the expiry: after a pause of the process the database may answer
            // immediately.
            tokio::time::sleep(grace).await;
            if self.ending.is_cancelled() {
                return std::future::pending().await;
            }
            if self.has_expired() {
                return;
            }
        }
    }

    /// Counts a request as served under the lease until the token is dropped; `None` if the lease is not valid. The
    /// token is created first: a task that ends the lease and then waits for its requests is either seen here or waits
    /// for this request.
    pub(super) fn admit(&self) -> Option<TaskTrackerToken> {
        let admitted = self.requests.token();
        self.is_valid().then_some(admitted)
    }

    pub(super) fn extend(&self, expires_at: Uptime) {
        let mut current = self.expires_at.lock();
        if !self.ending.is_cancelled() {
            *current = expires_at;
        }
    }

    /// Ends the lease: running requests get the error that the network moved.
    pub(super) fn end(&self) {
        self.ending.cancel();
        *self.expires_at.lock() = Uptime::now();
    }

    /// Set once the network's state is restored under this lease.
    pub(super) fn restored(&self, network: NetworkId) -> Arc<OnceCell<()>> {
        Arc::clone(self.networks.lock().entry(network).or_default())
    }

    /// Networks that had requests.
    pub(super) fn networks(&self) -> Vec<NetworkId> {
        self.networks.lock().keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_lease_is_lost_when_it_expires_and_is_neither_extended_nor_ended() {
        let expiring = || ShardLease::new(1, 1, Uptime::now() + GRACE);
        let is_lost = async |lease: &ShardLease| tokio::time::timeout(10 * GRACE, lease.lost(GRACE)).await.is_ok();
        assert!(is_lost(&expiring()).await);
        let extended = expiring();
        extended.extend(Uptime::now() + 100 * GRACE);
        assert!(!is_lost(&extended).await);
        let ended = expiring();
        ended.end();
        assert!(!is_lost(&ended).await);
    }
}

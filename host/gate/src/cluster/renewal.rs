//! Renews this node's leases and reads the others', in a separate task: slow work, such as transfers, does not delay
//! it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::app::App;
use crate::clock::{Millis, Uptime, millis};
use crate::cluster::locations::ShardLocation;
use crate::cluster::registry::{LEASE_TTL, Node};
use crate::cluster::shared_options;
use crate::cluster::store::{self, Fitness, LeaseRow};
use crate::timekeeping::Reading;
use crate::values::SHARDS;

const REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// Margin by which the holder considers a lease expired earlier: clocks run at slightly different rates.
const CLOCK_MARGIN: Duration = Duration::from_millis(250);

/// Renews until the hub stops.
pub(super) async fn run(app: App, node: Arc<Node>) {
    let mut pause = REFRESH_INTERVAL;
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = node.refresh.notified() => {}
        }
        pause = refresh(&app, &node).await.unwrap_or(REFRESH_INTERVAL);
    }
}

/// Renews this node's leases, reads the others' and sends a heartbeat. Returns the time until the next refresh: when
/// the next lease of another node expires, within a second.
pub(super) async fn refresh(app: &App, node: &Node) -> Option<Duration> {
    let refreshed = node.refresh_leases(app).await;
    if refreshed.is_ok() {
        node.database.note();
    }
    let reported = report(app, node).await;
    node.refreshed.notify_one();
    if let Err(error) = reported {
        tracing::warn!(%error, "could not send a heartbeat to the other nodes");
    }
    refreshed.inspect_err(|error| tracing::warn!(%error, "could not refresh the shard leases")).ok()
}

/// Reads the database's clock and reports the node's fitness for shards.
async fn report(app: &App, node: &Node) -> Result<(), hub_db::Error> {
    node.clock_watch.observe(&Reading::take(&app.db).await?);
    if node.is_draining() {
        return Ok(());
    }
    let fitness = Fitness {
        reaches_bus: node.bus_health.observe(app.bus.is_reachable(), tokio::time::Instant::now()),
        is_clock_right: !node.clock_watch.is_off(),
    };
    let options = shared_options::of(&app.settings);
    store::upsert_node(&app.db, &node.name, &node.url, fitness, (&node.peers.reached(), &options)).await
}

impl Node {
    /// Renews this node's leases and reads the others'. Returns the time until the next one of another node expires,
    /// at most a second.
    async fn refresh_leases(&self, app: &App) -> Result<Duration, hub_db::Error> {
        let mut far = self.lease_lock.lock().await;
        let expired = self.release_expired(app).await;
        let asked_at = Uptime::now();
        let renewed = store::renew(&app.db, &self.name, millis(LEASE_TTL), &expired).await?;
        self.record_leases(app, renewed, asked_at);
        // Also those that expired here meanwhile although the database renewed them in time.
        self.release_expired(app).await;
        let leases = store::leases(&app.db).await?;
        let abandoned = far.observe(&leases, Uptime::now());
        let mut next = REFRESH_INTERVAL;
        let mut missing: Vec<_> = (0..SHARDS).collect();
        for lease in leases {
            let Ok(shard) = u16::try_from(lease.shard) else { continue };
            missing.retain(|other| *other != shard);
            let is_valid = lease.left > 0 && !abandoned.contains(&lease.shard);
            if is_valid && lease.node == self.name {
                // It was renewed above, or is locked for a moment.
                if let ShardLocation::Local(own) = self.locations.get(shard) {
                    own.may_follow.store(lease.may_follow(), Ordering::Relaxed);
                }
                continue;
            }
            let location = match lease.url {
                Some(url) if is_valid => {
                    next = next.min(Duration::from_millis(lease.left.unsigned_abs()));
                    ShardLocation::Remote { node: lease.node.into(), url: url.into() }
                }
                _ => ShardLocation::Unowned,
            };
            self.set_location(app, shard, location);
        }
        for shard in &missing {
            self.set_location(app, *shard, ShardLocation::Unowned);
        }
        if !missing.is_empty() {
            store::insert_shards(&app.db, &missing, &self.name).await?;
        }
        Ok(next)
    }

    /// Ends leases that expired unrenewed: another node may own their shards by now. Leases that the database still
    /// has are released there, so that the next ones have other fences. Returns the shards of all. If the database
    /// fails, they are released the next time.
    async fn release_expired(&self, app: &App) -> Vec<u16> {
        let leases = self.locations.local_leases().into_iter();
        let expired: Vec<_> =
            leases.filter(|lease| lease.has_expired()).map(|lease| (lease.shard, lease.fence)).collect();
        if !expired.is_empty() {
            match store::release(&app.db, &self.name, &expired).await {
                Ok(released) => {
                    for shard in released.into_iter().filter_map(|(shard,)| u16::try_from(shard).ok()) {
                        self.set_location(app, shard, ShardLocation::Unowned);
                    }
                }
                Err(error) => tracing::warn!(%error, "could not release expired shard leases yet"),
            }
        }
        expired.into_iter().map(|(shard, _)| shard).collect()
    }

    /// Records leases granted by the database, valid from the time of the request.
    pub(super) fn record_leases(&self, app: &App, leases: Vec<(i32, i64)>, asked_at: Uptime) {
        let expires_at = asked_at + LEASE_TTL.saturating_sub(CLOCK_MARGIN);
        for (shard, fence) in leases {
            let Ok(shard) = u16::try_from(shard) else { continue };
            if let Some(ended) = self.locations.record_lease(shard, fence, expires_at) {
                self.evict(app, &ended);
            }
        }
    }
}

/// Leases that last longer than possible because the database's clock was set back: their holders renew them to the
/// right time within a second, unless they died.
#[derive(Debug, Default)]
pub(super) struct FarLeases(HashMap<i32, FarLease>);

/// Such a lease, and the time since when this node has seen it unchanged.
#[derive(Debug)]
struct FarLease {
    fence: i64,
    expires_at: Millis,
    since: Uptime,
}

impl FarLeases {
    /// Returns the shards of leases that were not renewed for the duration of a lease, by this machine's own clock.
    fn observe(&mut self, leases: &[LeaseRow], now: Uptime) -> Vec<i32> {
        let mut before = std::mem::take(&mut self.0);
        for lease in leases.iter().filter(|lease| lease.left > 2 * millis(LEASE_TTL)) {
            let (fence, expires_at) = (lease.fence, lease.expires_at);
            let same = |seen: &FarLease| (seen.fence, seen.expires_at) == (fence, expires_at);
            let seen = before.remove(&lease.shard).filter(same);
            self.0.insert(lease.shard, seen.unwrap_or(FarLease { fence, expires_at, since: now }));
        }
        self.0.iter().filter(|(_, seen)| now >= seen.since + LEASE_TTL).map(|(shard, _)| *shard).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_too_far_ahead_is_abandoned_when_nobody_renews_it() {
        let begin = Uptime::now();
        let lease = |left: Millis, expires_at| LeaseRow {
            shard: 3,
            node: "dead".to_owned(),
            url: None,
            fence: 1,
            expires_at,
            left,
            followed: 0,
        };
        let mut far = FarLeases::default();
        let mut observe = |seconds, lease: LeaseRow| far.observe(&[lease], begin + Duration::from_secs(seconds));
        assert!(observe(0, lease(44_000, 1)).is_empty() && observe(3, lease(41_000, 1)).is_empty());
        assert_eq!(observe(4, lease(40_000, 1)), [3]);
        assert!(observe(5, lease(44_000, 2)).is_empty() && observe(8, lease(44_000, 3)).is_empty(), "it was renewed");
        assert!(observe(13, lease(8_000, 3)).is_empty(), "soon it expires by itself");
    }
}

//! Reachability of the other nodes by HTTP.
//!
//! A forwarded request may legitimately take a minute, so its silence does not show that its node is lost. Probes do:
//! each node probes every other one once a second.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request};
use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::cluster::client::HttpClient;
use crate::cluster::store::NodeRow;

/// Request header that asks for the name of the answering node.
pub(super) static PROBE: HeaderName = HeaderName::from_static("x-hub-probe");
/// Name of the node that answers a probe or forwards a request.
pub(super) static NODE: HeaderName = HeaderName::from_static("x-hub-node");
/// Nodes of every version answer it.
const PROBE_PATH: &str = "/healthz";
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// Consecutive failed probes after which a node counts as lost.
const LOST_AFTER: u32 = 3;
/// Consecutive successful probes after which a lost node counts as reached.
const BACK_AFTER: u32 = 3;

/// Time during which a node that left may still answer earlier requests: it stops within a minute.
const LEAVE_GRACE: Duration = Duration::from_secs(65);

/// The other nodes and their reachability.
#[derive(Debug, Default)]
pub(super) struct Peers {
    by_name: Mutex<HashMap<String, Peer>>,
    /// Starts a round of probes now.
    wake: Notify,
    /// True if the set of reached nodes has changed since the last report.
    has_changed: AtomicBool,
}

#[derive(Debug)]
struct Peer {
    url: String,
    /// True if it recently sent a heartbeat.
    is_live: bool,
    reach: Reach,
    /// Consecutive probes that contradict `reach`.
    contrary: u32,
    /// Cancelled when the node is lost or has left.
    lost: CancellationToken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    NotYet,
    Reached,
    Lost,
}

impl Peer {
    fn new(row: &NodeRow) -> Self {
        Self { url: row.url.clone(), is_live: false, reach: Reach::NotYet, contrary: 0, lost: CancellationToken::new() }
    }

    /// Handles a node that left: it is not probed, and refuses connections while it still answers earlier requests.
    /// Requests that wait longer were lost.
    fn leave(&self) {
        let lost = self.lost.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LEAVE_GRACE).await;
            lost.cancel();
        });
    }

    /// Counts a probe. True if it changed the node's state.
    fn record(&mut self, is_success: bool) -> bool {
        let is_expected = match self.reach {
            Reach::Reached => is_success,
            Reach::Lost => !is_success,
            Reach::NotYet => false,
        };
        if is_expected {
            self.contrary = 0;
            return false;
        }
        self.contrary += 1;
        let needed = match (self.reach, is_success) {
            (Reach::NotYet, true) => 1,
            (_, true) => BACK_AFTER,
            (_, false) => LOST_AFTER,
        };
        if self.contrary < needed {
            return false;
        }
        self.contrary = 0;
        if is_success {
            self.reach = Reach::Reached;
            self.lost = CancellationToken::new();
        } else {
            self.reach = Reach::Lost;
            self.lost.cancel();
        }
        true
    }
}

impl Peers {
    /// Sets the known nodes; `live_within` is the maximum silence of a live node.
    pub(super) fn set(&self, own: &str, nodes: &[NodeRow], live_within: i64) {
        let mut peers = self.by_name.lock();
        peers.retain(|name, peer| {
            let is_there = nodes.iter().any(|row| row.node == *name && row.url == peer.url);
            if !is_there {
                peer.leave();
            }
            is_there
        });
        for row in nodes.iter().filter(|row| row.node != own) {
            let peer = peers.entry(row.node.clone()).or_insert_with(|| {
                self.wake.notify_one();
                Peer::new(row)
            });
            peer.is_live = row.is_live(live_within);
        }
    }

    /// Names of the reached nodes.
    pub(super) fn reached(&self) -> Vec<String> {
        let peers = self.by_name.lock();
        let reached: BTreeSet<_> =
            peers.iter().filter(|(_, peer)| peer.reach == Reach::Reached).map(|(name, _)| name).collect();
        reached.into_iter().cloned().collect()
    }

    /// Number of live nodes that are not reached, and of all live nodes.
    pub(super) fn unreached(&self) -> (usize, usize) {
        let peers = self.by_name.lock();
        let live = || peers.values().filter(|peer| peer.is_live);
        (live().filter(|peer| peer.reach != Reach::Reached).count(), live().count())
    }

    /// Cancelled once a node is lost.
    pub(super) fn lost(&self, name: &str) -> CancellationToken {
        self.by_name.lock().get(name).map_or_else(CancellationToken::new, |peer| peer.lost.clone())
    }

    /// True if the set of reached nodes has changed since the last call.
    pub(super) fn take_changed(&self) -> bool {
        self.has_changed.swap(false, Ordering::Relaxed)
    }

    /// Probes all nodes repeatedly and calls `on_change` when the set of reached nodes changes.
    pub(super) async fn run(&self, http: &HttpClient, on_change: impl Fn()) {
        loop {
            let began = Instant::now();
            if self.probe_all(http).await {
                on_change();
            }
            tokio::select! {
                () = tokio::time::sleep_until(began + PROBE_INTERVAL) => {}
                () = self.wake.notified() => {}
            }
        }
    }

    /// Probes each node once. True if the set of reached nodes has changed.
    pub(super) async fn probe_all(&self, http: &HttpClient) -> bool {
        let targets: Vec<_> = {
            let peers = self.by_name.lock();
            peers.iter().map(|(name, peer)| (name.clone(), peer.url.clone())).collect()
        };
        let probes = targets.iter().map(async |(name, url)| {
            let result = timeout(PROBE_TIMEOUT, probe(http, name, url)).await;
            result.unwrap_or_else(|_| Err("no answer in time".into()))
        });
        let results = join_all(probes).await;
        let mut has_changed = false;
        let mut peers = self.by_name.lock();
        for ((name, url), result) in targets.iter().zip(results) {
            let Some(peer) = peers.get_mut(name).filter(|peer| peer.url == *url) else { continue };
            if !peer.record(result.is_ok()) {
                continue;
            }
            has_changed = true;
            match result {
                Ok(()) => tracing::info!(node = name, url, "reached another node"),
                Err(error) => tracing::warn!(node = name, url, %error, "cannot reach another node"),
            }
        }
        self.has_changed.fetch_or(has_changed, Ordering::Relaxed);
        has_changed
    }
}

/// Checks that this node, and no other, answers at the URL.
async fn probe(http: &HttpClient, name: &str, url: &str) -> Result<(), Arc<str>> {
    let request = Request::get(format!("{url}{PROBE_PATH}")).header(PROBE.clone(), "1").body(Body::empty());
    let request = request.map_err(|error| error.to_string())?;
    let response = http.request(request).await.map_err(|error| error.to_string())?;
    match response.headers().get(&NODE).map(HeaderValue::as_bytes) {
        Some(answers) if answers == name.as_bytes() => Ok(()),
        Some(_) => Err("another node answers there; see --node-url".into()),
        None => Err("something else answers there; see --node-url".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::store::Fitness;

    fn row() -> NodeRow {
        let fitness = Fitness { reaches_bus: true, is_clock_right: true };
        NodeRow { node: "n".into(), url: "u".into(), fitness, reached: "[]".into(), options: "{}".into(), silent: 0 }
    }

    fn peer() -> Peer {
        Peer::new(&row())
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_left_is_lost() {
        let peers = Peers::default();
        peers.set("own", &[row()], 1_000);
        let lost = peers.lost("n");
        peers.set("own", &[row()], 1_000);
        tokio::time::sleep(10 * LEAVE_GRACE).await;
        assert!(!lost.is_cancelled(), "it is there");
        peers.set("own", &[], 1_000);
        tokio::time::sleep(LEAVE_GRACE / 2).await;
        assert!(!lost.is_cancelled(), "its last answers may arrive");
        tokio::time::timeout(LEAVE_GRACE, lost.cancelled()).await.unwrap();
    }

    #[test]
    fn a_node_is_reached_once_a_probe_succeeds_and_lost_after_three_that_fail() {
        let mut peer = peer();
        assert!(peer.record(true));
        let lost = peer.lost.clone();
        for is_success in [false, false, true, false, false] {
            assert!(!peer.record(is_success), "two in a row are no loss");
        }
        assert!(!lost.is_cancelled());
        assert!(peer.record(false) && lost.is_cancelled());
    }

    #[test]
    fn a_node_that_was_lost_is_back_after_three_probes_in_a_row() {
        let mut peer = peer();
        assert!(!peer.record(false) && !peer.record(false) && peer.record(false));
        assert!(!peer.record(true) && !peer.record(true) && !peer.record(false), "it is not stable");
        assert!(!peer.record(true) && !peer.record(true) && peer.record(true));
        assert!(!peer.lost.is_cancelled());
    }
}

//! This node's view of the cluster: its name, its leases, and the owners of the other shards.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use hub_bus::{Cluster, ClusterError, Inbox};
use hub_db::{Db, Tx};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::clock::{Millis, Uptime, millis};
use crate::cluster::bus_health::BusHealth;
use crate::cluster::client::{self, HttpClient};
use crate::cluster::database_contact::DatabaseContact;
use crate::cluster::lease::ShardLease;
use crate::cluster::locations::{ShardLocation, ShardLocations};
use crate::cluster::named::NamedNetworks;
use crate::cluster::node_clock::ClockWatch;
use crate::cluster::peers::Peers;
use crate::cluster::renewal::FarLeases;
use crate::cluster::roll_call::RollCall;
use crate::cluster::shared_options::SharedOptions;
use crate::cluster::store::{self, Target, Transferred};
use crate::component::NetworkState;
use crate::fault::{Fault, FaultKind};
use crate::identity::SoleLease;
use crate::values::{NetworkId, SHARDS};

/// Duration of a lease from each renewal.
pub(super) const LEASE_TTL: Duration = Duration::from_secs(4);
/// Topic of notifications about changed leases.
pub(super) const LEASES_TOPIC: &str = "homes";
/// Maximum delay of a transfer by running requests.
const TRANSFER_GRACE: Duration = Duration::from_secs(1);
/// Networks of a shard whose state is saved at once.
const SAVED_AT_ONCE: usize = 8;
/// Time for a network's state to be saved at a move: meanwhile nobody serves the networks of its shard.
const SAVE_TIMEOUT: Duration = Duration::from_secs(1);
const ANNOUNCE_TIMEOUT: Duration = Duration::from_secs(1);
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// Owners of networks. A single node owns them all, on a shared database while it has the lease of the only node.
#[derive(Clone, Default)]
pub struct ShardRegistry(Option<Arc<Node>>, Option<Arc<SoleLease>>);

/// Lease of this node, to be checked against the database.
pub struct HeldLease {
    pub shard: u16,
    pub fence: i64,
    pub node: String,
    lease: Arc<ShardLease>,
}

impl HeldLease {
    /// Called if the database does not know the lease: another node has the shard.
    pub fn end(&self) {
        self.lease.end();
    }
}

/// Shard counts of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardCounts {
    pub owned: usize,
    pub gained: u64,
    pub lost: u64,
}

/// Node of a cluster.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) cluster: Cluster,
    pub(super) bus_health: BusHealth,
    pub(super) database: DatabaseContact,
    pub(super) peers: Peers,
    pub(super) roll_call: RollCall,
    pub(super) shared_options: SharedOptions,
    /// True if it gets no shards because it and other nodes do not reach each other.
    is_cut_off: AtomicBool,
    pub(super) clock_watch: ClockWatch,
    pub(super) locations: ShardLocations,
    pub(super) named: NamedNetworks,
    states: OnceLock<&'static [&'static dyn NetworkState]>,
    /// Held from a lease query until `locations` agrees with it: a late answer would undo changes by other tasks.
    pub(super) lease_lock: tokio::sync::Mutex<FarLeases>,
    /// Starts a refresh of the leases now.
    pub(super) refresh: Notify,
    /// Notified after each refresh.
    pub(super) refreshed: Notify,
    pub(super) http: HttpClient,
    /// True if it transfers its shards and claims no more.
    pub(super) draining: AtomicBool,
    /// Unanswered requests on this node's connections, including forwarded ones.
    pub(super) requests: TaskTracker,
}

impl std::fmt::Debug for ShardRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ShardRegistry").field(&self.0.as_ref().map(|node| &node.name)).finish()
    }
}

impl ShardRegistry {
    /// Creates the registry of a cluster's node, which the others reach at `url`.
    pub fn clustered(cluster: Cluster, url: &str) -> Self {
        let node = Node {
            name: cluster.node().to_owned(),
            url: url.to_owned(),
            cluster,
            bus_health: BusHealth::new(),
            database: DatabaseContact::new(),
            peers: Peers::default(),
            roll_call: RollCall::default(),
            shared_options: SharedOptions::default(),
            is_cut_off: AtomicBool::new(false),
            clock_watch: ClockWatch::default(),
            named: NamedNetworks::default(),
            locations: ShardLocations::default(),
            states: OnceLock::new(),
            lease_lock: tokio::sync::Mutex::default(),
            refresh: Notify::new(),
            refreshed: Notify::new(),
            http: client::new(),
            draining: AtomicBool::new(false),
            requests: TaskTracker::new(),
        };
        Self(Some(Arc::new(node)), None)
    }

    /// Creates the registry of a single node, with its lease if others could serve the database.
    pub(super) fn alone(sole: Option<Arc<SoleLease>>) -> Self {
        Self(None, sole)
    }

    /// True unless another process may serve the database alone instead of this one.
    pub(super) fn may_serve(&self) -> bool {
        self.1.as_ref().is_none_or(|sole| sole.is_valid())
    }

    pub(super) fn node(&self) -> Option<&Arc<Node>> {
        self.0.as_ref()
    }

    /// True if this node owns the network and does its background work.
    pub fn owns(&self, network: NetworkId) -> bool {
        self.0.as_ref().map_or_else(|| self.may_serve(), |node| node.valid_lease(network).is_some())
    }

    /// True if the database says that this node owns the network; the lease then stays locked until the transaction
    /// ends. In-memory state is written under this lock, so that a node that was paused writes nothing outdated.
    pub async fn lock_lease(&self, tx: &mut Tx, network: NetworkId) -> Result<bool, hub_db::Error> {
        let Some(node) = &self.0 else { return self.check_sole() };
        let ShardLocation::Local(lease) = node.locations.get(network.shard()) else { return Ok(false) };
        let is_held = store::lock_lease(tx, lease.shard, lease.fence, &node.name).await?;
        if !is_held {
            lease.end();
        }
        Ok(is_held)
    }

    /// The same for work behind no request, which a network that is suspended or moves to another hub has no more.
    pub async fn lock_work(&self, tx: &mut Tx, network: NetworkId) -> Result<bool, hub_db::Error> {
        Ok(self.lock_lease(tx, network).await? && store::lock_open(tx, network).await?)
    }

    fn check_sole(&self) -> Result<bool, hub_db::Error> {
        match &self.1 {
            Some(sole) if sole.is_lost() => Ok(false),
            // After a pause: the next renewal tells.
            Some(sole) if !sole.is_valid() => Err(hub_db::Error::Busy),
            _ => Ok(true),
        }
    }

    /// Lease for a single statement that writes as under [`Self::lock_lease`]. `None` if this node does not own the
    /// network, or is the only one.
    pub fn held_lease(&self, network: NetworkId) -> Option<HeldLease> {
        let node = self.0.as_ref()?;
        let ShardLocation::Local(lease) = node.locations.get(network.shard()) else { return None };
        Some(HeldLease { shard: lease.shard, fence: lease.fence, node: node.name.clone(), lease })
    }

    /// Name of this node of a cluster.
    pub(crate) fn node_name(&self) -> Option<&str> {
        self.0.as_ref().map(|node| node.name.as_str())
    }

    /// True without a cluster.
    pub fn is_single_node(&self) -> bool {
        self.0.is_none()
    }

    /// True while this node transfers its networks to the others before it stops.
    pub fn is_draining(&self) -> bool {
        self.0.as_ref().is_some_and(|node| node.is_draining())
    }

    /// Numbers of shards owned, gained and lost by this node.
    pub fn counts(&self) -> ShardCounts {
        let Some(node) = &self.0 else {
            return ShardCounts { owned: usize::from(SHARDS), gained: 0, lost: 0 };
        };
        let (gained, lost) = node.locations.moves();
        ShardCounts { owned: node.locations.local_leases().len(), gained, lost }
    }

    /// Sends a message to all nodes including this one; does nothing on a single node.
    pub async fn broadcast(&self, topic: &str, payload: Bytes) -> Result<(), ClusterError> {
        match &self.0 {
            Some(node) => node.cluster.broadcast(topic, payload).await,
            None => Ok(()),
        }
    }

    /// Records for the other nodes that all erasures of players until then are done in this node's memory.
    pub async fn note_forgotten(&self, db: &Db, until: Millis) -> Result<(), hub_db::Error> {
        match &self.0 {
            Some(node) => store::note_forgotten(db, &node.name, until).await,
            None => Ok(()),
        }
    }

    /// Receives broadcasts on a topic; `None` on a single node.
    pub async fn listen(&self, topic: &str) -> Result<Option<Inbox>, ClusterError> {
        match &self.0 {
            Some(node) => node.cluster.listen(topic).await.map(Some),
            None => Ok(None),
        }
    }

    /// Waits until all requests on this node's connections are answered.
    pub async fn wait_for_requests(&self) {
        if let Some(node) = &self.0 {
            node.requests.close();
            node.requests.wait().await;
        }
    }

    /// True if other nodes reach the bus and know that this one does not.
    pub fn others_reach_bus(&self) -> bool {
        self.0.as_ref().is_some_and(|node| node.bus_health.is_outvoted.load(Ordering::Relaxed))
    }

    /// Faults of this node's part in the cluster.
    pub fn faults(&self) -> Vec<Fault> {
        let Some(node) = &self.0 else { return vec![] };
        let mut faults = vec![];
        if node.clock_watch.is_off() {
            let message = "The machine's clock differs from the database's by more than a second; check NTP.";
            // If no node has a correct clock, this one continues.
            let is_outvoted = node.clock_watch.is_outvoted.load(Ordering::Relaxed);
            let fault = if is_outvoted { Fault::disabling } else { Fault::tolerable };
            faults.push(fault(FaultKind::Clock, message));
        }
        faults.extend(node.roll_call.fault().or_else(|| node.shared_options.fault()));
        let unowned = node.locations.without_owner();
        if unowned > 0 {
            let verb = if unowned == 1 { "has" } else { "have" };
            let message = format!("{unowned} of {SHARDS} shards {verb} no known owner.");
            // No other node knows an owner either.
            faults.push(Fault::tolerable(FaultKind::Homes, message));
        }
        let (unreached, others) = node.peers.unreached();
        if node.is_cut_off() {
            let message = "This node and others cannot reach each other, so it gets no networks. See the log, \
                           --node-url and the network between them.";
            faults.push(Fault::disabling(FaultKind::Peers, message));
        } else if unreached > 0 {
            let verb = if unreached == 1 { "is" } else { "are" };
            let message = format!("{unreached} of {others} other nodes {verb} not reached; see the log.");
            faults.push(Fault::tolerable(FaultKind::Peers, message));
        }
        faults
    }
}

impl Node {
    /// Lease under which this node certainly owns the network.
    pub(super) fn valid_lease(&self, network: NetworkId) -> Option<Arc<ShardLease>> {
        match self.locations.get(network.shard()) {
            ShardLocation::Local(lease) if lease.is_valid() => Some(lease),
            _ => None,
        }
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// True if other nodes should own the shards because this one and some of them do not reach each other.
    pub(super) fn is_cut_off(&self) -> bool {
        self.is_cut_off.load(Ordering::Relaxed)
    }

    pub(super) fn set_cut_off(&self, is_cut_off: bool) {
        self.is_cut_off.store(is_cut_off, Ordering::Relaxed);
    }

    /// Sets the states that follow networks from owner to owner, once, before the first lease.
    pub(super) fn set_states(&self, states: &'static [&'static dyn NetworkState]) {
        self.states.get_or_init(|| states);
    }

    fn states(&self) -> &'static [&'static dyn NetworkState] {
        self.states.get().copied().unwrap_or_default()
    }

    /// Claims those of the shards that still have no owner.
    pub(super) async fn claim(&self, app: &App, shards: &[u16]) -> Result<(), hub_db::Error> {
        let _guard = self.lease_lock.lock().await;
        let is_unowned = |shard: &u16| matches!(self.locations.get(*shard), ShardLocation::Unowned);
        let shards: Vec<_> = shards.iter().copied().filter(is_unowned).collect();
        if shards.is_empty() || self.is_draining() || self.is_cut_off() {
            return Ok(());
        }
        let asked_at = Uptime::now();
        let claimed = store::claim(&app.db, &shards, &self.name, millis(LEASE_TTL)).await?;
        self.record_leases(app, claimed, asked_at);
        Ok(())
    }

    pub(super) fn set_location(&self, app: &App, shard: u16, location: ShardLocation) {
        if let Some(ended) = self.locations.set(shard, location) {
            self.evict(app, &ended);
        }
    }

    /// Transfers a shard: ends its requests and saves its state.
    pub(super) async fn transfer(&self, app: &App, lease: &ShardLease, to: &Target) -> Result<(), hub_db::Error> {
        lease.ending.cancel();
        lease.requests.close();
        // Longer requests get the error that the network moved.
        let _ = tokio::time::timeout(TRANSFER_GRACE, lease.requests.wait()).await;
        stream::iter(lease.networks())
            .for_each_concurrent(SAVED_AT_ONCE, async |network| {
                // Its next owner restores what was saved before, as after a crash; the fence keeps late writes out.
                match tokio::time::timeout(SAVE_TIMEOUT, self.save(app, network)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::warn!(%error, %network, "could not save a network that moves"),
                    Err(_) => tracing::warn!(%network, "could not save a network that moves in time"),
                }
            })
            .await;
        let given_up_at = Uptime::now() + LEASE_TTL;
        loop {
            let guard = self.lease_lock.lock().await;
            let of = (lease.shard, lease.fence);
            let transferred = store::transfer(&app.db, of, &self.name, to, millis(LEASE_TTL)).await?;
            if transferred != Transferred::Locked {
                self.set_location(app, lease.shard, ShardLocation::Unowned);
                return Ok(());
            }
            drop(guard);
            if Uptime::now() >= given_up_at {
                // It is not renewed any more, and is released when it has expired.
                return Ok(());
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    async fn save(&self, app: &App, network: NetworkId) -> Result<(), hub_db::Error> {
        for state in self.states() {
            state.save(app, network).await?;
        }
        Ok(())
    }

    /// Asks the other nodes to refresh their leases.
    pub(super) async fn announce_change(&self) {
        // Without the bus it may wait for a connection.
        let broadcast = self.cluster.broadcast(LEASES_TOPIC, Bytes::new());
        if let Ok(Err(error)) = tokio::time::timeout(ANNOUNCE_TIMEOUT, broadcast).await {
            tracing::debug!(%error, "could not notify the other nodes of changed leases");
        }
    }

    /// Loads a network's state into memory, after dropping leftovers of late requests from its previous stay.
    pub(super) async fn restore(&self, app: &App, network: NetworkId) -> Result<(), hub_db::Error> {
        self.evict_network(app, network);
        for state in self.states() {
            state.restore(app, network).await?;
        }
        Ok(())
    }

    /// Ends a lease and drops the state of its networks.
    pub(super) fn evict(&self, app: &App, lease: &ShardLease) {
        lease.end();
        for network in lease.networks() {
            self.evict_network(app, network);
        }
    }

    fn evict_network(&self, app: &App, network: NetworkId) {
        for state in self.states() {
            state.evict(app, network);
        }
    }
}

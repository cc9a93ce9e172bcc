//! This node's part in the whole: its name, its leases, what it knows of the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use hub_bus::{Cluster, ClusterError, Inbox};
use hub_db::Tx;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::clock::millis;
use crate::cluster::bus_watch::BusWatch;
use crate::cluster::forward::{Http, client};
use crate::cluster::secret::Secret;
use crate::cluster::store;
use crate::cluster::table::{Place, Stay, Table, shard_of};
use crate::values::NetworkId;

/// How long a lease lasts from each renewal.
const LEASE: Duration = Duration::from_secs(4);
/// By so much earlier its holder takes it for lost: clocks run at slightly different rates.
const MARGIN: Duration = Duration::from_millis(250);
/// Where nodes tell each other that homes changed.
pub(super) const TOPIC: &str = "homes";
/// How long what is under way may take before a shard moves.
const GIVE_WITHIN: Duration = Duration::from_secs(1);

/// Where networks live. A hub that is alone is everybody's home.
#[derive(Clone, Default)]
pub struct Homes(Option<Arc<Node>>);

/// One of several nodes.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) cluster: Cluster,
    pub(super) bus: BusWatch,
    pub(super) table: Table,
    /// Held by whoever asks the database about leases until the table says the same: an answer that came late would undo
    /// what another has changed since.
    turn: tokio::sync::Mutex<()>,
    /// Look again now.
    pub(super) look: Notify,
    pub(super) secret: Secret,
    pub(super) http: Http,
    /// It gives away what it has and takes nothing more.
    pub(super) leaving: AtomicBool,
    /// The requests of its connections that are not answered yet, wherever they are served.
    pub(super) requests: TaskTracker,
}

impl std::fmt::Debug for Homes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Homes").field(&self.0.as_ref().map(|node| &node.name)).finish()
    }
}

impl Homes {
    /// A node of several, reached by the others at `url`.
    pub(crate) fn of_node(cluster: Cluster, url: &str) -> Self {
        Self(Some(Arc::new(Node {
            name: cluster.node().to_owned(),
            url: url.to_owned(),
            cluster,
            bus: BusWatch::new(),
            table: Table::default(),
            turn: tokio::sync::Mutex::default(),
            look: Notify::new(),
            secret: Secret::default(),
            http: client(),
            leaving: AtomicBool::new(false),
            requests: TaskTracker::new(),
        })))
    }

    pub(super) fn node(&self) -> Option<&Arc<Node>> {
        self.0.as_ref()
    }

    /// Whether this node is the network's home, where its background work is done.
    pub(crate) fn is_here(&self, network: NetworkId) -> bool {
        self.0.as_ref().is_none_or(|node| node.stay(network).is_some())
    }

    /// Whether this node is the network's home by the database's word, until the transaction ends. What is written
    /// down of memory is written under it, so that a node that stood still does not write what is long over.
    pub(crate) async fn holds(&self, tx: &mut Tx, network: NetworkId) -> Result<bool, hub_db::Error> {
        let Some(node) = &self.0 else { return Ok(true) };
        let Place::Here(stay) = node.table.place(shard_of(network)) else { return Ok(false) };
        let held = store::holds(tx, stay.shard, stay.fence, &node.name).await?;
        if !held {
            stay.end();
        }
        Ok(held)
    }

    /// Whether several nodes are one hub.
    pub(crate) fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this node is giving its networks to the others, before it stops.
    pub(crate) fn is_leaving(&self) -> bool {
        self.0.as_ref().is_some_and(|node| node.is_leaving())
    }

    /// Tells all nodes something, this one included; at a hub that is alone nobody is told.
    pub(crate) async fn tell(&self, topic: &str, payload: Bytes) -> Result<(), ClusterError> {
        match &self.0 {
            Some(node) => node.cluster.broadcast(topic, payload).await,
            None => Ok(()),
        }
    }

    /// What nodes tell each other on a topic; none at a hub that is alone.
    pub(crate) async fn listen(&self, topic: &str) -> Result<Option<Inbox>, ClusterError> {
        match &self.0 {
            Some(node) => node.cluster.listen(topic).await.map(Some),
            None => Ok(None),
        }
    }

    /// Waits until all who asked this node were answered.
    pub(crate) async fn all_answered(&self) {
        if let Some(node) = &self.0 {
            node.requests.close();
            node.requests.wait().await;
        }
    }

    /// What this node lacks to do its part.
    pub(crate) fn lacks(&self) -> Option<&'static str> {
        let node = self.0.as_ref()?;
        let settled = (0..crate::cluster::SHARDS).all(|shard| !matches!(node.table.place(shard), Place::Nobody));
        (!settled).then_some("homes")
    }
}

impl Node {
    /// The network's stay here, where it is here for sure.
    pub(super) fn stay(&self, network: NetworkId) -> Option<Arc<Stay>> {
        match self.table.place(shard_of(network)) {
            Place::Here(stay) if stay.is_good() => Some(stay),
            _ => None,
        }
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed)
    }

    /// Takes shards that are nobody's, as far as they still are.
    pub(super) async fn claim(&self, app: &App, shards: &[u16]) -> Result<(), hub_db::Error> {
        let _turn = self.turn.lock().await;
        let is_free = |shard: &u16| matches!(self.table.place(*shard), Place::Nobody);
        let shards: Vec<_> = shards.iter().copied().filter(is_free).collect();
        if shards.is_empty() || self.is_leaving() {
            return Ok(());
        }
        let asked_at = Instant::now();
        let claimed = store::claim(&app.db, &shards, &self.name, millis(LEASE)).await?;
        self.hold(app, claimed, asked_at);
        Ok(())
    }

    fn hold(&self, app: &App, leases: Vec<(i32, i64)>, asked_at: Instant) {
        for (shard, fence) in leases {
            let Ok(shard) = u16::try_from(shard) else { continue };
            if let Some(over) = self.table.hold(shard, fence, asked_at, LEASE.saturating_sub(MARGIN)) {
                forget(app, &over);
            }
        }
    }

    /// Renews this node's leases, and looks at the others'.
    pub(super) async fn look(&self, app: &App) -> Result<(), hub_db::Error> {
        let _turn = self.turn.lock().await;
        let asked_at = Instant::now();
        if !self.is_leaving() {
            let has_bus = self.bus.note(app.bus.is_reachable(), asked_at);
            store::note_node(&app.db, &self.name, &self.url, has_bus).await?;
        }
        self.lapse(app).await?;
        let renewed = store::renew(&app.db, &self.name, millis(LEASE)).await?;
        self.hold(app, renewed, asked_at);
        let leases = store::leases(&app.db).await?;
        let mut seen = vec![false; usize::from(crate::cluster::SHARDS)];
        for lease in leases {
            let Ok(shard) = u16::try_from(lease.shard) else { continue };
            let Some(seen) = seen.get_mut(usize::from(shard)) else { continue };
            *seen = true;
            let is_good = lease.left > 0;
            if is_good && lease.node == self.name {
                // It was renewed above.
                continue;
            }
            let place = match lease.url {
                Some(url) if is_good => Place::There { node: lease.node.into(), url: url.into() },
                _ => Place::Nobody,
            };
            self.put(app, shard, place);
        }
        for (shard, _) in (0..).zip(seen).filter(|(_, seen)| !seen) {
            self.put(app, shard, Place::Nobody);
        }
        Ok(())
    }

    /// Ends the stays whose time ran out unrenewed: somebody else may be there by now. Where the lease is still this
    /// node's it is given back, so that the next stay has another fence.
    async fn lapse(&self, app: &App) -> Result<(), hub_db::Error> {
        for stay in self.table.stays().into_iter().filter(|stay| stay.is_over()) {
            store::hand_over(&app.db, stay.shard, stay.fence, &self.name, None, 0).await?;
            self.put(app, stay.shard, Place::Nobody);
        }
        Ok(())
    }

    pub(super) fn put(&self, app: &App, shard: u16, place: Place) {
        if let Some(over) = self.table.is_elsewhere(shard, place) {
            forget(app, &over);
        }
    }

    /// Gives a shard to another node, or to whoever wants it: what is under way ends, what is in memory is saved.
    pub(super) async fn give(&self, app: &App, stay: &Arc<Stay>, to: Option<&str>) -> Result<(), hub_db::Error> {
        stay.ended.cancel();
        stay.requests.close();
        // What goes on for longer than this is told that the network moved.
        let _ = tokio::time::timeout(GIVE_WITHIN, stay.requests.wait()).await;
        for network in stay.networks() {
            crate::servers::save(app, network).await?;
            crate::control::save(app, network).await?;
        }
        let _turn = self.turn.lock().await;
        store::hand_over(&app.db, stay.shard, stay.fence, &self.name, to, millis(LEASE)).await?;
        self.put(app, stay.shard, Place::Nobody);
        Ok(())
    }

    /// Tells the others to look.
    pub(super) async fn tell(&self) {
        if let Err(error) = self.cluster.broadcast(TOPIC, Bytes::new()).await {
            tracing::debug!(%error, "the other nodes were not told that homes changed");
        }
    }
}

/// Lets go of everything in memory about the networks of a stay that is over.
fn forget(app: &App, stay: &Stay) {
    stay.end();
    for network in stay.networks() {
        app.forget(network);
    }
}

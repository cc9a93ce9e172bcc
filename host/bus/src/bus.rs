use crate::cluster::feed::Feed;
use crate::cluster::{Cluster, ClusterError};
use crate::config::BusConfig;
use crate::event::{Event, PublishError};
use crate::id::EventId;
use crate::network::Network;
use crate::nodes::{self, Nodes};
use crate::stats::{Counters, Stats};
use crate::subscription::Subscription;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The events of all networks of this process. Clones are the same bus.
///
/// A network is named by its id as a number, a server by its id within its network.
#[derive(Clone)]
pub struct Bus {
    config: Arc<BusConfig>,
    counters: Arc<Counters>,
    registry: Arc<RwLock<Registry>>,
    /// What ties it to other nodes; none where this process is alone.
    nodes: Option<Arc<Nodes>>,
}

pub(crate) struct Registry {
    pub(crate) networks: HashMap<u128, Arc<Network>>,
    /// Of the networks whose events are copied from the bus between nodes.
    pub(crate) feeds: HashMap<u128, Arc<OnceCell<Feed>>>,
    /// Which sequence the networks' numbers belong to.
    pub(crate) epoch: u64,
    /// The highest sequence of any network that was forgotten. New ones go on from here, so that
    /// an id is never given out twice and an old one is never taken for a newer one's.
    floor: u64,
    pub(crate) closed: bool,
}

impl Bus {
    /// An empty bus of this process alone.
    pub fn new(config: BusConfig) -> Self {
        let epoch = config.epoch;
        Self::with(config, None, epoch)
    }

    /// A bus that shares its events with every node of the cluster. Must be called inside of a tokio runtime.
    ///
    /// # Errors
    /// Where the cluster's bus does not answer.
    pub async fn clustered(config: BusConfig, cluster: Cluster) -> Result<Self, ClusterError> {
        let epoch = cluster.epoch().await?;
        let heard = cluster.listen(nodes::STREAMS).await?;
        let nodes = Arc::new(Nodes::new(cluster));
        let bus = Self::with(config, Some(Arc::clone(&nodes)), epoch);
        nodes.start(&bus.registry, heard);
        Ok(bus)
    }

    fn with(config: BusConfig, nodes: Option<Arc<Nodes>>, epoch: u64) -> Self {
        let registry = Registry { networks: HashMap::new(), feeds: HashMap::new(), epoch, floor: 0, closed: false };
        let registry = Arc::new(RwLock::new(registry));
        Self { config: Arc::new(config), counters: Arc::default(), registry, nodes }
    }

    /// Appends an event to the network's sequence and wakes the streams it is for.
    ///
    /// Returns the event's number in the sequence.
    ///
    /// # Errors
    /// [`PublishError::NotOneFrame`] for an event that is not one frame, [`PublishError::Closed`]
    /// after [`close`](Self::close), the others where nodes share their events.
    pub async fn publish(&self, network: u128, event: Event, now_ms: i64) -> Result<u64, PublishError> {
        event.check()?;
        let sequence = match &self.nodes {
            None => self.network(network).publish(&self.config, &event, now_ms)?,
            Some(_) if self.registry.read().closed => return Err(PublishError::Closed),
            Some(nodes) => nodes.cluster.publish(network, &event, now_ms).await?,
        };
        self.counters.published();
        Ok(sequence)
    }

    /// Opens a stream of the network's events: of those for every stream, and of those for
    /// `server_id`, whose earlier subscription it replaces.
    ///
    /// With the id of the last event a client has, it goes on after it; where the bus no longer
    /// has everything since, or never gave out that id, it begins with [`Next::Resync`]. Without
    /// (or with an empty one) it begins now.
    ///
    /// # Errors
    /// Where nodes share their events and their bus does not answer.
    ///
    /// [`Next::Resync`]: crate::Next::Resync
    pub async fn subscribe(
        &self,
        network: u128,
        server_id: Option<&str>,
        last_event_id: Option<&str>,
        now_ms: i64,
    ) -> Result<Subscription, ClusterError> {
        let last = last_event_id.filter(|id| !id.is_empty());
        let asked = last.and_then(EventId::parse);
        let id = network;
        let network = match &self.nodes {
            None => self.network(id),
            Some(nodes) => self.copied(&nodes.cluster, id, asked).await?,
        };
        let asked = asked.filter(|id| id.epoch == network.epoch);
        let joined = network.join(&self.config, server_id, asked.map(|id| id.sequence), now_ms);
        self.counters.subscribed(last.is_some() && joined.resumed.is_none(), joined.replaced);
        if let (Some(nodes), Some(server)) = (&self.nodes, &joined.listener.server_id) {
            nodes.opened((id, Arc::clone(server)), now_ms).await;
        }
        Ok(Subscription::new(
            network,
            Arc::clone(&self.config),
            Arc::clone(&self.counters),
            joined,
            asked,
            last.is_some(),
            now_ms,
        ))
    }

    /// The network's copy at this node, with everything up to what is asked for.
    async fn copied(&self, cluster: &Cluster, id: u128, asked: Option<EventId>) -> Result<Arc<Network>, ClusterError> {
        let network = self.network(id);
        let feed = Arc::clone(self.registry.write().feeds.entry(id).or_default());
        let open = || Feed::open(cluster.clone(), id, &network, Arc::clone(&self.config));
        let feed = feed.get_or_try_init(open).await?;
        if let Some(asked) = asked.filter(|asked| asked.epoch == network.epoch) {
            feed.reach(asked.sequence).await?;
        }
        Ok(network)
    }

    /// Whether the server has an open stream, at whichever node, or is about to have one again: its node closed it, to
    /// be replaced.
    pub fn is_connected(&self, network: u128, server_id: &str) -> bool {
        let here = self.existing(network).is_some_and(|network| network.state.lock().is_connected(server_id));
        here || self.nodes.as_ref().is_some_and(|nodes| nodes.roster.has(&(network, Arc::from(server_id))))
    }

    /// Whether the bus between nodes can be reached; a process that is alone needs none.
    pub fn is_reachable(&self) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| nodes.cluster.is_connected())
    }

    /// To be called about once a second: frees what has expired, and cuts off subscriptions that
    /// are too far behind, also those whose readers no longer ask for anything.
    pub fn sweep(&self, now_ms: i64) {
        let networks: Vec<_> = {
            let registry = self.registry.read();
            let networks = registry.networks.iter();
            networks.map(|(id, it)| (*id, Arc::clone(it))).collect()
        };
        let mut forgettable = Vec::new();
        for (id, network) in networks {
            self.counters.too_slow(network.sweep(&self.config, now_ms));
            if network.state.lock().is_forgettable(&self.config, now_ms) {
                forgettable.push(id);
            }
        }
        if !forgettable.is_empty() {
            self.forget(&forgettable, now_ms);
        }
    }

    /// Ends all streams of a network and drops its events, when it is suspended or deleted.
    pub fn close_network(&self, network: u128) {
        let mut registry = self.registry.write();
        registry.feeds.remove(&network);
        if let Some(network) = registry.networks.remove(&network) {
            registry.floor = registry.floor.max(network.close());
        }
    }

    /// Ends all streams of all networks, for good.
    pub fn close(&self) {
        let mut registry = self.registry.write();
        registry.closed = true;
        for network in registry.networks.values() {
            network.close();
        }
    }

    /// What the bus holds and what it did, for metrics.
    pub fn stats(&self) -> Stats {
        let mut stats = self.counters.read();
        for network in self.registry.read().networks.values() {
            let kept = network.state.lock().kept();
            stats.networks += 1;
            stats.subscriptions += network.subscriptions() as u64;
            stats.kept_events += kept.events;
            stats.kept_bytes += kept.bytes;
        }
        stats
    }

    fn existing(&self, network: u128) -> Option<Arc<Network>> {
        self.registry.read().networks.get(&network).cloned()
    }

    fn network(&self, id: u128) -> Arc<Network> {
        self.existing(id).unwrap_or_else(|| {
            let mut registry = self.registry.write();
            let (epoch, closed) = (registry.epoch, registry.closed);
            // A copy's numbers are another's: nothing is known of it until it is read.
            let floor = if self.nodes.is_some() { 0 } else { registry.floor };
            let network = registry.networks.entry(id).or_insert_with(|| {
                let network = Network::new(epoch, floor);
                if closed {
                    network.close();
                }
                Arc::new(network)
            });
            Arc::clone(network)
        })
    }

    /// While the registry is locked nobody else can come by a network that it alone holds.
    fn forget(&self, networks: &[u128], now_ms: i64) {
        let mut registry = self.registry.write();
        for id in networks {
            let idle = registry.networks.get(id).is_some_and(|network| {
                Arc::strong_count(network) == 1 && network.state.lock().is_forgettable(&self.config, now_ms)
            });
            if idle && let Some(network) = registry.networks.remove(id) {
                registry.feeds.remove(id);
                registry.floor = registry.floor.max(network.state.lock().head());
            }
        }
    }
}

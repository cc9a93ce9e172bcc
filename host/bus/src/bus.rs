use crate::cluster::mirror::StreamMirror;
use crate::cluster::peers::{Peers, STREAMS_TOPIC};
use crate::cluster::watch::StreamWatch;
use crate::cluster::{Cluster, ClusterError};
use crate::config::BusConfig;
use crate::event::{Event, EventRef, PublishError, StoredEvent};
use crate::id::EventId;
use crate::network::Network;
use crate::registry::Registry;
use crate::stats::{Counters, Stats};
use crate::subscription::Subscription;
use futures_util::future::BoxFuture;
use parking_lot::RwLock;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum time to open a stream at the bus between nodes.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// The events of all networks of this process. Clones share one bus.
///
/// A network is identified by its id as a number, a server by its id within its network.
#[derive(Clone)]
pub struct Bus {
    config: Arc<BusConfig>,
    counters: Arc<Counters>,
    registry: Arc<RwLock<Registry>>,
    /// The other nodes; `None` in a single process.
    peers: Option<Arc<Peers>>,
}

impl Bus {
    /// An empty bus of this process alone.
    pub fn new(config: BusConfig) -> Self {
        let registry = Arc::new(RwLock::new(Registry::new(config.epoch)));
        Self { config: Arc::new(config), counters: Arc::default(), registry, peers: None }
    }

    /// A bus that shares its events with every node of the cluster. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// The cluster's bus does not answer.
    pub fn clustered(config: BusConfig, cluster: Cluster) -> BoxFuture<'static, Result<Self, ClusterError>> {
        Box::pin(async move {
            let inbox = cluster.listen(STREAMS_TOPIC).await?;
            let (epoch, head) = cluster.position().await?;
            let registry = Arc::new(RwLock::new(Registry::new(epoch.number)));
            let peers = Arc::new(Peers::new(StreamWatch::new(cluster, &registry, epoch, head)));
            peers.start(&registry, inbox);
            Ok(Self { config: Arc::new(config), counters: Arc::default(), registry, peers: Some(peers) })
        })
    }

    /// Appends an event to the network's sequence and wakes the streams it is for.
    ///
    /// Returns the event's number in the sequence.
    ///
    /// # Errors
    /// [`PublishError::Malformed`] for an event that is not one frame, [`PublishError::Closed`]
    /// after [`close`](Self::close), the others only in a cluster.
    pub async fn publish(&self, network: u128, event: Event, now_ms: i64) -> Result<u64, PublishError> {
        let event = EventRef::from(&event);
        event.check()?;
        let sequence = match &self.peers {
            None => self.network(network).publish(&self.config, event, now_ms)?,
            Some(peers) => self.publish_to(peers, network, event, None, now_ms).await?,
        };
        self.counters.record_published();
        Ok(sequence)
    }

    /// Variant of [`publish`](Self::publish) for an event that is stored elsewhere until it is published: it may be
    /// published again after a failure or by another process.
    ///
    /// # Errors
    /// Same as for [`publish`](Self::publish).
    pub async fn publish_stored(
        &self,
        network: u128,
        stored: StoredEvent<'_>,
        now_ms: i64,
    ) -> Result<u64, PublishError> {
        let StoredEvent { message_id, is_left_over, event } = stored;
        event.check()?;
        let sequence = match &self.peers {
            None if is_left_over => self.network(network).publish_left_over(&self.config, event, now_ms)?,
            None => self.network(network).publish(&self.config, event, now_ms)?,
            Some(peers) => self.publish_to(peers, network, event, Some(message_id), now_ms).await?,
        };
        self.counters.record_published();
        Ok(sequence)
    }

    async fn publish_to(
        &self,
        peers: &Peers,
        network: u128,
        event: EventRef<'_>,
        message_id: Option<&str>,
        now_ms: i64,
    ) -> Result<u64, PublishError> {
        if self.registry.read().closed {
            return Err(PublishError::Closed);
        }
        peers.watch.publish(network, event, message_id, now_ms).await
    }

    /// Opens a stream of the network's events: those for every stream, and those for `server_id`,
    /// whose earlier subscription it replaces.
    ///
    /// With the id of the client's last event, it continues after that event; where events since
    /// were dropped, or the id is not one of this bus, it begins with a `RESYNC` frame. Without an id
    /// (or with an empty one) it begins now.
    ///
    /// # Errors
    /// The bus between nodes does not answer.
    pub async fn subscribe(
        &self,
        network: u128,
        server_id: Option<&str>,
        last_event_id: Option<&str>,
        now_ms: i64,
    ) -> Result<Subscription, ClusterError> {
        let last = last_event_id.filter(|id| !id.is_empty());
        let requested = last.and_then(EventId::parse);
        let id = network;
        let network = match &self.peers {
            None => self.network(id),
            Some(peers) => self.mirror(&peers.watch, id, requested).await?,
        };
        let opening_time =
            |(peers, server): (&Arc<Peers>, _)| peers.roster.opening_time(&(id, Arc::from(server)), now_ms);
        let opened_at = self.peers.as_ref().zip(server_id).map_or(now_ms, opening_time);
        let joined = network.join(&self.config, server_id, requested, opened_at, now_ms);
        let requested = requested.filter(|id| id.epoch == network.epoch);
        self.counters.record_subscribed(last.is_some() && joined.resumed.is_none(), joined.replaced);
        if let (Some(peers), Some(server)) = (&self.peers, &joined.listener.server_id) {
            peers.announce_opened((id, Arc::clone(server)), joined.listener.opened_at).await;
        }
        Ok(Subscription::new(
            network,
            Arc::clone(&self.config),
            Arc::clone(&self.counters),
            joined,
            requested,
            last.is_some(),
            now_ms,
        ))
    }

    /// This node's mirror of the network, with everything up to the requested event.
    fn mirror<'a>(
        &'a self,
        watch: &'a Arc<StreamWatch>,
        id: u128,
        requested: Option<EventId>,
    ) -> BoxFuture<'a, Result<Arc<Network>, ClusterError>> {
        Box::pin(async move {
            let opening = async {
                if let Ok(network) = self.open_mirror(watch, id, requested).await {
                    return Ok(network);
                }
                // The stream may have restarted.
                watch.check(Instant::now(), None).await?;
                self.open_mirror(watch, id, requested).await
            };
            let opened = tokio::time::timeout(OPEN_TIMEOUT, opening).await;
            opened.unwrap_or_else(|_| Err(ClusterError::Stream("no answer in time".to_owned())))
        })
    }

    async fn open_mirror(
        &self,
        watch: &Arc<StreamWatch>,
        id: u128,
        requested: Option<EventId>,
    ) -> Result<Arc<Network>, ClusterError> {
        let (network, mirror) = self.registry.write().open_mirrored(id);
        let open = || StreamMirror::open(Arc::clone(watch), id, &network, Arc::clone(&self.config));
        let mirror = mirror.get_or_try_init(open).await?;
        let requested = requested.filter(|requested| requested.epoch == network.epoch);
        mirror.reach(requested.map_or(0, |requested| requested.sequence)).await?;
        Ok(network)
    }

    /// True if the server has an open stream at any node, or its node closed it to be replaced and it is about to
    /// reconnect.
    pub fn is_connected(&self, network: u128, server_id: &str) -> bool {
        let here = self.existing(network).is_some_and(|network| network.log.lock().is_connected(server_id));
        here || self.peers.as_ref().is_some_and(|peers| peers.roster.has(&(network, Arc::from(server_id))))
    }

    /// True if the bus between nodes can be reached and keeps events; always true in a single process.
    pub fn is_reachable(&self) -> bool {
        self.peers.as_ref().is_none_or(|peers| peers.cluster.is_connected() && peers.watch.is_answering())
    }

    /// Frees expired events, and disconnects subscriptions that lag too far, including those whose readers stopped
    /// polling. Call it about once a second.
    pub fn sweep(&self, now_ms: i64) {
        let networks: Vec<_> = {
            let registry = self.registry.read();
            registry.networks.iter().map(|(id, network)| (*id, Arc::clone(network))).collect()
        };
        let mut idle = Vec::new();
        for (id, network) in networks {
            self.counters.record_too_slow(network.sweep(&self.config, now_ms));
            if network.log.lock().is_idle(&self.config, now_ms) {
                idle.push(id);
            }
        }
        if !idle.is_empty() {
            self.registry.write().remove_idle(&idle, &self.config, now_ms);
        }
    }

    /// Ends all streams of a network and drops its events, when it is suspended or deleted.
    pub fn close_network(&self, network: u128) {
        self.registry.write().close_network(network);
    }

    /// Empties the retained events of a network for whose frames `is_redacted` returns true: streams that resume get
    /// their ids alone. Events stored by the bus between nodes stay until they expire.
    pub fn redact(&self, network: u128, is_redacted: impl Fn(&[u8]) -> bool) {
        if let Some(network) = self.existing(network) {
            network.log.lock().redact(&is_redacted);
        }
    }

    /// Begins all streams anew, with RESYNC, because the database went back: in a cluster once for each epoch of the
    /// database.
    ///
    /// # Errors
    /// The bus between nodes does not answer; it is done once it does.
    pub fn follow_database(&self, epoch: u64) -> BoxFuture<'_, Result<(), ClusterError>> {
        Box::pin(async move {
            let Some(peers) = &self.peers else {
                let mut registry = self.registry.write();
                let next = registry.epoch + 1;
                registry.restart(next);
                return Ok(());
            };
            peers.watch.follow_database(epoch).await
        })
    }

    /// Ends all streams of all networks, for good.
    pub fn close(&self) {
        self.registry.write().close();
    }

    /// Current state and totals of the bus, for metrics.
    pub fn stats(&self) -> Stats {
        let mut stats = self.counters.read();
        for network in self.registry.read().networks.values() {
            let retained = network.log.lock().retained();
            stats.networks += 1;
            stats.subscriptions += network.subscriptions() as u64;
            stats.retained_events += retained.events;
            stats.retained_bytes += retained.bytes;
            stats.max_unread_events = stats.max_unread_events.max(network.max_unread_events());
        }
        stats
    }

    fn existing(&self, network: u128) -> Option<Arc<Network>> {
        self.registry.read().networks.get(&network).cloned()
    }

    fn network(&self, id: u128) -> Arc<Network> {
        self.existing(id).unwrap_or_else(|| self.registry.write().open(id, self.peers.is_some()))
    }
}

#[cfg(test)]
mod counts {
    use super::*;
    use futures_util::FutureExt as _;

    /// Measured by `scripts/counts`, from the call until it returns.
    #[inline(never)]
    fn measured<T>(work: impl FnOnce() -> T) -> T {
        work()
    }

    #[test]
    fn publish_an_event() {
        let bus = Bus::new(BusConfig::new(1));
        let subscribe = |server: u32| bus.subscribe(1, Some(&format!("lobby-{server}")), None, 0).now_or_never();
        let mut streams: Vec<_> = (0..10).map(|server| subscribe(server).unwrap().unwrap()).collect();
        let event = || {
            let data = format!(r#"{{"type":"CHAT","at":5,"message":"{}"}}"#, "hello ".repeat(20));
            Event { name: "CHAT", target: None, data }
        };
        let publish = |event| bus.publish(1, event, 5).now_or_never().unwrap();
        publish(event()).unwrap();
        let next = event();
        assert_eq!(measured(|| publish(next)), Ok(2));
        let mut frames = vec![];
        for stream in &mut streams {
            stream.next_batch(&mut frames, 2).now_or_never().unwrap().unwrap();
        }
        assert_eq!(frames.len(), 20);
    }
}

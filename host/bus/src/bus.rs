use crate::config::BusConfig;
use crate::event::{Event, PublishError};
use crate::id::EventId;
use crate::network::Network;
use crate::stats::{Counters, Stats};
use crate::subscription::Subscription;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

/// The events of all networks of this process. Clones are the same bus.
///
/// A network is named by its id as a number, a server by its id within its network.
#[derive(Clone)]
pub struct Bus {
    config: Arc<BusConfig>,
    counters: Arc<Counters>,
    registry: Arc<RwLock<Registry>>,
}

#[derive(Default)]
struct Registry {
    networks: HashMap<u128, Arc<Network>>,
    /// The highest sequence of any network that was forgotten. New ones go on from here, so that
    /// an id is never given out twice and an old one is never taken for a newer one's.
    floor: u64,
    closed: bool,
}

impl Bus {
    /// An empty bus.
    pub fn new(config: BusConfig) -> Self {
        Self { config: Arc::new(config), counters: Arc::default(), registry: Arc::default() }
    }

    /// Appends an event to the network's sequence and wakes the streams it is for.
    ///
    /// Returns the event's number in the sequence.
    ///
    /// # Errors
    /// [`PublishError::NotOneFrame`] for an event that is not one frame, [`PublishError::Closed`]
    /// after [`close`](Self::close).
    #[expect(clippy::unused_async, reason = "a bus between nodes waits for its acknowledgement")]
    pub async fn publish(&self, network: u128, event: Event, now_ms: i64) -> Result<u64, PublishError> {
        event.check()?;
        let sequence = self.network(network).publish(&self.config, &event, now_ms)?;
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
    /// [`Next::Resync`]: crate::Next::Resync
    pub fn subscribe(
        &self,
        network: u128,
        server_id: Option<&str>,
        last_event_id: Option<&str>,
        now_ms: i64,
    ) -> Subscription {
        let last = last_event_id.filter(|id| !id.is_empty());
        let asked = last.and_then(EventId::parse).filter(|id| id.epoch == self.config.epoch);
        let network = self.network(network);
        let joined = network.join(&self.config, server_id, asked.map(|id| id.sequence), now_ms);
        self.counters.subscribed(last.is_some() && joined.resumed.is_none(), joined.replaced);
        Subscription::new(
            network,
            Arc::clone(&self.config),
            Arc::clone(&self.counters),
            joined,
            asked,
            last.is_some(),
            now_ms,
        )
    }

    /// Whether the server has an open stream.
    pub fn is_connected(&self, network: u128, server_id: &str) -> bool {
        self.existing(network).is_some_and(|network| network.state.lock().is_connected(server_id))
    }

    /// The servers of a network that have an open stream, in no order.
    pub fn connected_servers(&self, network: u128) -> Vec<String> {
        self.existing(network).map(|network| network.state.lock().connected_servers()).unwrap_or_default()
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
            let (floor, closed) = (registry.floor, registry.closed);
            let network = registry.networks.entry(id).or_insert_with(|| {
                let network = Network::new(floor);
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
                registry.floor = registry.floor.max(network.state.lock().head());
            }
        }
    }
}

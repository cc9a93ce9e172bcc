use crate::cluster::mirror::StreamMirror;
use crate::config::BusConfig;
use crate::network::Network;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The networks of this process.
pub(crate) struct Registry {
    pub(crate) networks: HashMap<u128, Arc<Network>>,
    /// The mirrors of networks whose events come from the bus between nodes.
    pub(crate) mirrors: HashMap<u128, Arc<OnceCell<StreamMirror>>>,
    /// Epoch of the networks' numbers.
    pub(crate) epoch: u64,
    /// The highest sequence of any removed network. New networks continue after it, so that no id is
    /// ever assigned twice.
    floor: u64,
    pub(crate) closed: bool,
}

impl Registry {
    pub(crate) fn new(epoch: u64) -> Self {
        Self { networks: HashMap::new(), mirrors: HashMap::new(), epoch, floor: 0, closed: false }
    }

    /// The network, added if it is missing. A mirrored one begins empty: its stream assigns the numbers.
    pub(crate) fn open(&mut self, id: u128, mirrored: bool) -> Arc<Network> {
        let floor = if mirrored { 0 } else { self.floor };
        let (epoch, closed) = (self.epoch, self.closed);
        let network = self.networks.entry(id).or_insert_with(|| {
            let network = Network::starting_after(epoch, floor);
            if closed {
                network.close();
            }
            Arc::new(network)
        });
        Arc::clone(network)
    }

    /// Same as [`open`](Self::open), with the network's mirror: one of the same epoch.
    pub(crate) fn open_mirrored(&mut self, id: u128) -> (Arc<Network>, Arc<OnceCell<StreamMirror>>) {
        (self.open(id, true), Arc::clone(self.mirrors.entry(id).or_default()))
    }

    /// Removes a network and ends its streams.
    pub(crate) fn close_network(&mut self, id: u128) {
        self.mirrors.remove(&id);
        if let Some(network) = self.networks.remove(&id) {
            self.floor = self.floor.max(network.close());
        }
    }

    /// Removes those of the networks that are idle and referenced only by the registry; its lock
    /// prevents new references.
    pub(crate) fn remove_idle(&mut self, ids: &[u128], config: &BusConfig, now_ms: i64) {
        for id in ids {
            let network = self.networks.get(id).filter(|network| Arc::strong_count(network) == 1);
            let Some(head) = network.and_then(|network| {
                let log = network.log.lock();
                log.is_idle(config, now_ms).then(|| log.head())
            }) else {
                continue;
            };
            self.networks.remove(id);
            self.mirrors.remove(id);
            self.floor = self.floor.max(head);
        }
    }

    /// Ends all streams and starts a new sequence.
    pub(crate) fn restart(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.mirrors.clear();
        for (_, network) in self.networks.drain() {
            network.close();
        }
    }

    /// Ends all streams of all networks, for good.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        for network in self.networks.values() {
            network.close();
        }
    }
}

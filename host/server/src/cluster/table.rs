//! Where each shard lives, as this node knows it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::cluster::SHARDS;
use crate::values::NetworkId;

/// A shard's home.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Nobody's, as far as is known.
    Nobody,
    /// This node.
    Here(Arc<Stay>),
    /// Another node.
    There {
        /// Its name.
        node: Arc<str>,
        /// Where it is reached.
        url: Arc<str>,
    },
}

/// A shard's time at this node, from one claim to its end.
#[derive(Debug)]
pub(super) struct Stay {
    pub(super) shard: u16,
    pub(super) fence: i64,
    until: Mutex<Instant>,
    /// It is over, or about to be.
    pub(super) ended: CancellationToken,
    /// The requests that are under way.
    pub(super) requests: TaskTracker,
    networks: Mutex<HashMap<NetworkId, Arc<OnceCell<()>>>>,
}

impl Stay {
    pub(super) fn new(shard: u16, fence: i64, until: Instant) -> Self {
        Self {
            shard,
            fence,
            until: Mutex::new(until),
            ended: CancellationToken::new(),
            requests: TaskTracker::new(),
            networks: Mutex::default(),
        }
    }

    /// Whether this node is the shard's home for sure.
    pub(super) fn is_good(&self) -> bool {
        !self.ended.is_cancelled() && Instant::now() < self.until()
    }

    /// Whether its time ran out, or it was ended. One that is being given away is neither good nor over.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.until()
    }

    /// A request is under way here until the token is dropped; none where this node is not the home for sure. In this order:
    /// whoever ends the stay and then waits for what is under way either is seen here or waits for this.
    pub(super) fn enter(&self) -> Option<TaskTrackerToken> {
        let under_way = self.requests.token();
        self.is_good().then_some(under_way)
    }

    pub(super) fn until(&self) -> Instant {
        *self.until.lock()
    }

    fn prolong(&self, until: Instant) {
        let mut known = self.until.lock();
        if !self.ended.is_cancelled() {
            *known = until;
        }
    }

    /// It is over: what is still under way is answered that the network moved.
    pub(super) fn end(&self) {
        self.ended.cancel();
        *self.until.lock() = Instant::now();
    }

    /// Set once what the node needs to know of the network is in memory.
    pub(super) fn network(&self, network: NetworkId) -> Arc<OnceCell<()>> {
        Arc::clone(self.networks.lock().entry(network).or_default())
    }

    /// The networks that were asked for.
    pub(super) fn networks(&self) -> Vec<NetworkId> {
        self.networks.lock().keys().copied().collect()
    }
}

/// All shards.
#[derive(Debug)]
pub(super) struct Table(RwLock<Vec<Place>>);

impl Default for Table {
    fn default() -> Self {
        Self(RwLock::new(vec![Place::Nobody; usize::from(SHARDS)]))
    }
}

/// The shard of a network.
pub(super) fn shard_of(network: NetworkId) -> u16 {
    // Ids are random in their last bytes.
    (network.0.as_u128() % u128::from(SHARDS)) as u16
}

impl Table {
    pub(super) fn place(&self, shard: u16) -> Place {
        self.0.read().get(usize::from(shard)).cloned().unwrap_or(Place::Nobody)
    }

    pub(super) fn stays(&self) -> Vec<Arc<Stay>> {
        let places = self.0.read();
        let here = places.iter().filter_map(|place| if let Place::Here(stay) = place { Some(stay) } else { None });
        here.cloned().collect()
    }

    /// Shards that are nobody's.
    pub(super) fn free(&self) -> Vec<u16> {
        let places = self.0.read();
        let free = (0..SHARDS).zip(places.iter()).filter(|(_, place)| matches!(place, Place::Nobody));
        free.map(|(shard, _)| shard).collect()
    }

    /// How many shards each other node has.
    pub(super) fn others(&self) -> HashMap<Arc<str>, usize> {
        let mut others = HashMap::new();
        for place in self.0.read().iter() {
            if let Place::There { node, .. } = place {
                *others.entry(Arc::clone(node)).or_default() += 1;
            }
        }
        others
    }

    /// This node has the lease: the stay it has goes on, or a new one begins. One that ends by it is given back.
    pub(super) fn hold(&self, shard: u16, fence: i64, asked_at: Instant, good_for: Duration) -> Option<Arc<Stay>> {
        let until = asked_at + good_for;
        let mut places = self.0.write();
        let place = places.get_mut(usize::from(shard))?;
        match place {
            Place::Here(stay) if stay.fence == fence && !stay.is_over() => {
                stay.prolong(until);
                None
            }
            // One that has lapsed ended for those who looked, and must not come back to life; and before another begins
            // here, what is in memory of this one is to be forgotten.
            Place::Here(stay) => {
                stay.ended.cancel();
                let ended = Arc::clone(stay);
                *place = Place::Nobody;
                Some(ended)
            }
            _ => {
                *place = Place::Here(Arc::new(Stay::new(shard, fence, until)));
                None
            }
        }
    }

    /// A shard is somewhere else, or nobody's. The stay that ended with it, if it was here.
    pub(super) fn is_elsewhere(&self, shard: u16, place: Place) -> Option<Arc<Stay>> {
        let mut places = self.0.write();
        let known = places.get_mut(usize::from(shard))?;
        match std::mem::replace(known, place) {
            Place::Here(stay) => Some(stay),
            _ => None,
        }
    }
}

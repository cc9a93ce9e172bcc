//! Counters of networks. Finding those of a network takes no lock: maps are copied when a network is first seen.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use tokio::sync::Mutex;

use crate::auth::OPERATOR_NETWORK;
use crate::clock::Millis;
use crate::metering::amounts::Amounts;
use crate::metering::flush::Unsent;
use crate::values::NetworkId;

/// Number of maps: a new network copies only one of them.
const SHARDS: usize = 64;

type Shard = ArcSwap<HashMap<NetworkId, Arc<NetworkCounters>>>;

/// Usage since the last batch, and the batches waiting to be stored.
#[derive(Debug)]
pub struct Metering {
    shards: [Shard; SHARDS],
    pub(super) unsent: Mutex<Unsent>,
    /// Time of this node's last storage measurement.
    pub(super) storage_noted_at: AtomicI64,
}

/// One network's usage since the last batch.
#[derive(Debug, Default)]
pub(crate) struct NetworkCounters {
    requests: AtomicU64,
    events: AtomicU64,
    module_calls: AtomicU64,
    module_micros: AtomicU64,
    fuel: AtomicU64,
}

impl Metering {
    /// Empty counters. `node` is this process's alone.
    pub(crate) fn new(node: String) -> Self {
        let shards = std::array::from_fn(|_| Shard::default());
        Self { shards, unsent: Mutex::new(Unsent::new(node)), storage_noted_at: AtomicI64::new(Millis::MIN) }
    }

    /// The counters of a network.
    pub(crate) fn network(&self, network: NetworkId) -> Arc<NetworkCounters> {
        let shard = &self.shards[usize::from(network.0.as_bytes()[15]) % SHARDS];
        if let Some(counters) = shard.load().get(&network) {
            return Arc::clone(counters);
        }
        let new = Arc::<NetworkCounters>::default();
        let before = shard.rcu(|map| {
            let mut map = HashMap::clone(map);
            map.entry(network).or_insert_with(|| Arc::clone(&new));
            map
        });
        before.get(&network).map_or(new, Arc::clone)
    }

    /// Counts a request of this network unless it is cancelled. The operator's requests are not counted.
    pub(crate) fn begin_request(&self, network: NetworkId) -> CountedRequest {
        CountedRequest((network != OPERATOR_NETWORK).then(|| self.network(network)))
    }

    /// Takes the counts of all networks.
    pub(super) fn drain(&self) -> Vec<(NetworkId, Amounts)> {
        let mut drained = vec![];
        for shard in &self.shards {
            let taken = shard.load().iter().map(|(network, counters)| (*network, counters.take())).collect::<Vec<_>>();
            drained.extend(taken.into_iter().filter(|(_, amounts)| !amounts.is_empty()));
        }
        drained
    }
}

impl NetworkCounters {
    /// Counts an event sent to a stream.
    pub(crate) fn add_event(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts module calls and their computation.
    pub(crate) fn add_module_calls(&self, calls: u64, micros: u64, fuel: u64) {
        self.module_calls.fetch_add(calls, Ordering::Relaxed);
        self.module_micros.fetch_add(micros, Ordering::Relaxed);
        self.fuel.fetch_add(fuel, Ordering::Relaxed);
    }

    fn take(&self) -> Amounts {
        let take = |counter: &AtomicU64| {
            // A read is cheaper than an exchange, and most networks are idle.
            let value = if counter.load(Ordering::Relaxed) == 0 { 0 } else { counter.swap(0, Ordering::Relaxed) };
            i64::try_from(value).unwrap_or(i64::MAX)
        };
        Amounts {
            requests: take(&self.requests),
            events: take(&self.events),
            module_calls: take(&self.module_calls),
            module_micros: take(&self.module_micros),
            fuel: take(&self.fuel),
            ..Amounts::default()
        }
    }
}

/// A request that is counted when this is dropped, also after its client disconnects.
#[derive(Debug)]
pub(crate) struct CountedRequest(Option<Arc<NetworkCounters>>);

impl CountedRequest {
    /// Does not count the request: another node does, or it was refused.
    pub(crate) fn cancel(mut self) {
        self.0 = None;
    }
}

impl Drop for CountedRequest {
    fn drop(&mut self) {
        if let Some(counters) = &self.0 {
            counters.requests.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn concurrent_counts_are_exact() {
        let metering = Metering::new("n".to_owned());
        let networks: Vec<_> = (0..200).map(|n| NetworkId(Uuid::from_u128(n))).collect();
        let drained = std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        for network in &networks {
                            drop(metering.begin_request(*network));
                        }
                    }
                });
            }
            let mut sum = 0;
            for _ in 0..1_000 {
                sum += metering.drain().iter().map(|(_, amounts)| amounts.requests).sum::<i64>();
            }
            sum
        });
        let rest: i64 = metering.drain().iter().map(|(_, amounts)| amounts.requests).sum();
        // The first network is the operator's.
        assert_eq!(drained + rest, 4 * 50 * 199);
        metering.begin_request(networks[1]).cancel();
        assert!(metering.drain().is_empty());
    }
}

//! Usage of networks since it was last stored, which `metering` does. Finding that of a network takes no lock: maps are copied
//! when a network is first seen.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;

use crate::values::{NetworkId, OPERATOR_NETWORK};

/// Number of maps: a new network copies only one of them.
const SHARDS: usize = 64;

type Shard = ArcSwap<HashMap<NetworkId, Arc<NetworkCounters>>>;

/// The counters of all networks.
#[derive(Debug)]
pub struct UsageCounters {
    shards: [Shard; SHARDS],
}

/// Usage of one network since it was last taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountedUsage {
    pub requests: i64,
    pub events: i64,
    pub module_calls: i64,
    pub module_micros: i64,
    pub fuel: i64,
}

/// The counters of one network.
#[derive(Debug, Default)]
pub struct NetworkCounters {
    requests: AtomicU64,
    events: AtomicU64,
    module_calls: AtomicU64,
    module_micros: AtomicU64,
    fuel: AtomicU64,
}

impl Default for UsageCounters {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Shard::default()) }
    }
}

impl UsageCounters {
    /// The counters of a network.
    pub fn network(&self, network: NetworkId) -> Arc<NetworkCounters> {
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
    pub fn begin_request(&self, network: NetworkId) -> CountedRequest {
        CountedRequest((network != OPERATOR_NETWORK).then(|| self.network(network)))
    }

    /// Takes the counts of all networks.
    pub fn drain(&self) -> Vec<(NetworkId, CountedUsage)> {
        let mut drained = vec![];
        for shard in &self.shards {
            let taken = shard.load().iter().map(|(network, counters)| (*network, counters.take())).collect::<Vec<_>>();
            drained.extend(taken.into_iter().filter(|(_, usage)| *usage != CountedUsage::default()));
        }
        drained
    }
}

impl NetworkCounters {
    /// Counts an event sent to a stream.
    pub fn add_event(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts module calls and their computation.
    pub fn add_module_calls(&self, calls: u64, micros: u64, fuel: u64) {
        self.module_calls.fetch_add(calls, Ordering::Relaxed);
        self.module_micros.fetch_add(micros, Ordering::Relaxed);
        self.fuel.fetch_add(fuel, Ordering::Relaxed);
    }

    fn take(&self) -> CountedUsage {
        let take = |counter: &AtomicU64| {
            // A read is cheaper than an exchange, and most networks are idle.
            let value = if counter.load(Ordering::Relaxed) == 0 { 0 } else { counter.swap(0, Ordering::Relaxed) };
            i64::try_from(value).unwrap_or(i64::MAX)
        };
        CountedUsage {
            requests: take(&self.requests),
            events: take(&self.events),
            module_calls: take(&self.module_calls),
            module_micros: take(&self.module_micros),
            fuel: take(&self.fuel),
        }
    }
}

/// A request that is counted when this is dropped, also after its client disconnects.
#[derive(Debug)]
pub struct CountedRequest(Option<Arc<NetworkCounters>>);

impl CountedRequest {
    /// Does not count the request: another node does, or it was refused.
    pub fn cancel(mut self) {
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
        let counters = UsageCounters::default();
        let networks: Vec<_> = (0..200).map(|n| NetworkId(Uuid::from_u128(n))).collect();
        let drained = std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        for network in &networks {
                            drop(counters.begin_request(*network));
                        }
                    }
                });
            }
            let mut sum = 0;
            for _ in 0..1_000 {
                sum += counters.drain().iter().map(|(_, usage)| usage.requests).sum::<i64>();
            }
            sum
        });
        let rest: i64 = counters.drain().iter().map(|(_, usage)| usage.requests).sum();
        // The first network is the operator's.
        assert_eq!(drained + rest, 4 * 50 * 199);
        counters.begin_request(networks[1]).cancel();
        assert!(counters.drain().is_empty());
    }
}

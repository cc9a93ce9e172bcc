//! Counts the nodes at which a shard's requests arrive, so that the shard can move there: a request that arrives at
//! another node costs an extra hop.
//!
//! Each network of the shard has one vote, so that none moves its neighbours alone.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::values::NetworkId;

/// Counting time before a shard may move.
const WINDOW: Duration = Duration::from_secs(10);
/// A network with fewer requests in a window has no vote.
const FEWEST: u64 = 20;
/// Further nodes are not distinguished.
const MOST_NODES: usize = 64;

/// Origin of most requests of a shard's networks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// No window has ended since this node became the owner.
    Unknown,
    /// Few requests.
    Quiet,
    /// No node is the source of more than two thirds of the networks.
    Mixed,
    /// The owner.
    Here,
    /// Another node.
    Node(String),
}

/// Counts a shard's requests by network and by the node of arrival.
#[derive(Debug)]
pub(super) struct Arrivals(Mutex<Window>);

#[derive(Debug)]
struct Window {
    began: Instant,
    counts: HashMap<NetworkId, Counts>,
    /// Result of the previous window.
    source: Source,
}

/// Requests of one network.
#[derive(Debug, Default)]
struct Counts {
    here: u64,
    forwarded: HashMap<String, u64>,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Window { began: Instant::now(), counts: HashMap::new(), source: Source::Unknown }))
    }

    /// Counts a request that arrived at the owner.
    pub(super) fn count_here(&self, network: NetworkId) {
        self.0.lock().counts.entry(network).or_default().here += 1;
    }

    /// Counts a request forwarded by another node.
    pub(super) fn count_forwarded(&self, network: NetworkId, node: &str) {
        let mut window = self.0.lock();
        let forwarded = &mut window.counts.entry(network).or_default().forwarded;
        if let Some(count) = forwarded.get_mut(node) {
            *count += 1;
        } else if forwarded.len() < MOST_NODES {
            forwarded.insert(node.to_owned(), 1);
        }
    }

    /// Origin of most requests in the last complete window.
    pub(super) fn source(&self, now: Instant) -> Source {
        let mut window = self.0.lock();
        if now >= window.began + WINDOW {
            window.began = now;
            window.source = elected(std::mem::take(&mut window.counts).into_values().map(Counts::source));
        }
        window.source.clone()
    }
}

impl Counts {
    /// Origin of more than two thirds of a network's requests.
    fn source(self) -> Source {
        let total = self.here + self.forwarded.values().sum::<u64>();
        let is_most = |count: u64| 3 * count > 2 * total;
        if total < FEWEST {
            return Source::Quiet;
        }
        if is_most(self.here) {
            return Source::Here;
        }
        let most = self.forwarded.into_iter().find(|(_, count)| is_most(*count));
        most.map_or(Source::Mixed, |(node, _)| Source::Node(node))
    }
}

/// The source of more than two thirds of the networks that have a vote.
fn elected(sources: impl Iterator<Item = Source>) -> Source {
    let votes: Vec<_> = sources.filter(|source| *source != Source::Quiet).collect();
    if votes.is_empty() {
        return Source::Quiet;
    }
    let is_most = |source: &&Source| 3 * votes.iter().filter(|vote| vote == source).count() > 2 * votes.len();
    votes.iter().find(is_most).cloned().unwrap_or(Source::Mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u128) -> NetworkId {
        NetworkId(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn requests_count_by_whole_windows() {
        let arrivals = Arrivals::new();
        let began = Instant::now();
        let count = |here, one, other| {
            (0..here).for_each(|_| arrivals.count_here(network(1)));
            (0..one).for_each(|_| arrivals.count_forwarded(network(1), "one"));
            (0..other).for_each(|_| arrivals.count_forwarded(network(1), "other"));
        };
        let window = |number| arrivals.source(began + (WINDOW + Duration::from_millis(1)) * number);
        count(2, 16, 0);
        assert_eq!((window(0), window(1)), (Source::Unknown, Source::Quiet), "too few are not significant");
        count(10, 80, 10);
        assert_eq!(arrivals.source(began + WINDOW + Duration::from_secs(2)), Source::Quiet, "the window is not over");
        assert_eq!(window(2), Source::Node("one".to_owned()));
        count(33, 33, 33);
        assert_eq!(window(3), Source::Mixed);
        count(101, 40, 10);
        assert_eq!(window(4), Source::Here);
        assert_eq!(window(5), Source::Quiet);
    }

    #[test]
    fn a_network_with_most_requests_does_not_move_its_neighbours() {
        let arrivals = Arrivals::new();
        let began = Instant::now();
        let window = |number| arrivals.source(began + (WINDOW + Duration::from_millis(1)) * number);
        (0..5_000).for_each(|_| arrivals.count_forwarded(network(1), "one"));
        (0..FEWEST).for_each(|_| arrivals.count_here(network(2)));
        assert_eq!(window(1), Source::Mixed);
        (0..5_000).for_each(|_| arrivals.count_forwarded(network(1), "one"));
        (1..FEWEST).for_each(|_| arrivals.count_here(network(2)));
        assert_eq!(window(2), Source::Node("one".to_owned()), "a quiet neighbour has no vote");
    }
}

//! Counts the nodes at which a shard's requests arrive, so that the shard can move there: a request that arrives at
//! another node costs an extra hop.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Counting time before a shard may move.
const WINDOW: Duration = Duration::from_secs(10);
/// Fewer requests in a window are not significant.
const FEWEST: u64 = 20;
/// Further nodes are not distinguished.
const MOST_NODES: usize = 64;

/// Origin of most requests of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// No window has ended since this node became the owner.
    Unknown,
    /// Few requests.
    Quiet,
    /// No node has twice as many as all others together.
    Mixed,
    /// The owner.
    Here,
    /// Another node.
    Node(String),
}

/// Counts a shard's requests by the node of arrival.
#[derive(Debug)]
pub(super) struct Arrivals {
    here: AtomicU64,
    window: Mutex<Window>,
}

#[derive(Debug)]
struct Window {
    began: Instant,
    forwarded: HashMap<String, u64>,
    /// Result of the previous window.
    source: Source,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        let window = Window { began: Instant::now(), forwarded: HashMap::new(), source: Source::Unknown };
        Self { here: AtomicU64::new(0), window: Mutex::new(window) }
    }

    /// Counts a request that arrived at the owner.
    pub(super) fn count_here(&self) {
        self.here.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request forwarded by another node.
    pub(super) fn count_forwarded(&self, node: &str) {
        let forwarded = &mut self.window.lock().forwarded;
        if let Some(count) = forwarded.get_mut(node) {
            *count += 1;
        } else if forwarded.len() < MOST_NODES {
            forwarded.insert(node.to_owned(), 1);
        }
    }

    /// Origin of most requests in the last complete window.
    pub(super) fn source(&self, now: Instant) -> Source {
        let mut window = self.window.lock();
        if now >= window.began + WINDOW {
            let here = self.here.swap(0, Ordering::Relaxed);
            let forwarded = std::mem::take(&mut window.forwarded);
            window.began = now;
            window.source = main_source(here, forwarded);
        }
        window.source.clone()
    }
}

fn main_source(here: u64, forwarded: HashMap<String, u64>) -> Source {
    let total = here + forwarded.values().sum::<u64>();
    let is_most = |count: u64| 3 * count > 2 * total;
    if total < FEWEST {
        Source::Quiet
    } else if is_most(here) {
        Source::Here
    } else {
        let most = forwarded.into_iter().find(|(_, count)| is_most(*count));
        most.map_or(Source::Mixed, |(node, _)| Source::Node(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_by_whole_windows() {
        let arrivals = Arrivals::new();
        let began = Instant::now();
        let count = |here, one, other| {
            (0..here).for_each(|_| arrivals.count_here());
            (0..one).for_each(|_| arrivals.count_forwarded("one"));
            (0..other).for_each(|_| arrivals.count_forwarded("other"));
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
}

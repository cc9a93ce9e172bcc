//! Networks with waiting events, and the relay of each.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use crate::events::EventConsumer;
use crate::values::NetworkId;

/// Maximum time to wait for the relay, which is close behind unless the bus is unreachable.
const SETTLE_TIMEOUT: Duration = Duration::from_millis(250);

/// Networks with committed events that wait to be published.
#[derive(Clone, Debug, Default)]
pub struct Outbox(Arc<Inner>);

#[derive(Default)]
struct Inner {
    networks: Mutex<Networks>,
    consumers: Mutex<Vec<&'static dyn EventConsumer>>,
    /// Notified when a network needs a relay.
    due: Notify,
    left_over_up_to: AtomicI64,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").field("networks", &self.networks).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Networks {
    /// Number of marks so far.
    marks: u64,
    /// Networks without a relay.
    due: Vec<NetworkId>,
    marked: HashMap<NetworkId, MarkedNetwork>,
}

/// A network from its first mark until the end of its relay.
#[derive(Debug)]
struct MarkedNetwork {
    last_mark: u64,
    /// True if marked since its relay began to read.
    is_dirty: bool,
    /// Wakes the relay.
    wake: Arc<Notify>,
    /// Marks up to this one are published.
    settled: watch::Sender<u64>,
}

impl Outbox {
    /// Records that events of the network may wait to be published.
    pub fn mark(&self, network: NetworkId) {
        let mut networks = self.0.networks.lock();
        let Networks { marks, due, marked } = &mut *networks;
        *marks += 1;
        let entry = marked.entry(network).or_insert_with(|| {
            due.push(network);
            self.0.due.notify_one();
            let (wake, settled) = (Arc::default(), watch::Sender::new(0));
            MarkedNetwork { last_mark: 0, is_dirty: true, wake, settled }
        });
        entry.last_mark = *marks;
        entry.is_dirty = true;
        entry.wake.notify_one();
    }

    /// Waits, for a short time, until the events committed on this node so far are published.
    pub(super) async fn settled(&self, network: NetworkId) {
        let (last_mark, mut settled) = match self.0.networks.lock().marked.get(&network) {
            Some(entry) => (entry.last_mark, entry.settled.subscribe()),
            None => return,
        };
        // The sender is gone if the relay has ended.
        let _ = tokio::time::timeout(SETTLE_TIMEOUT, settled.wait_for(|settled| *settled >= last_mark)).await;
    }

    /// Waits until some networks need a relay. The caller runs one for each.
    pub(super) async fn due(&self) -> Vec<Relay> {
        loop {
            let due = mem::take(&mut self.0.networks.lock().due);
            if !due.is_empty() {
                return due.into_iter().map(|network| Relay { network, outbox: self.clone() }).collect();
            }
            self.0.due.notified().await;
        }
    }

    /// Adds a receiver of subscribers' events.
    pub fn add_consumer(&self, consumer: &'static dyn EventConsumer) {
        self.0.consumers.lock().push(consumer);
    }

    pub(super) fn consumers(&self) -> Vec<&'static dyn EventConsumer> {
        self.0.consumers.lock().clone()
    }

    /// Events up to this one were left by an earlier process.
    pub(super) fn set_left_over(&self, up_to: i64) {
        self.0.left_over_up_to.store(up_to, Ordering::Relaxed);
    }

    pub(super) fn is_left_over(&self, id: i64) -> bool {
        id <= self.0.left_over_up_to.load(Ordering::Relaxed)
    }
}

/// Exclusive right to publish one network's events.
pub(super) struct Relay {
    pub(super) network: NetworkId,
    outbox: Outbox,
}

impl Relay {
    fn with<T>(&self, change: impl FnOnce(&mut MarkedNetwork) -> T) -> Option<T> {
        self.outbox.0.networks.lock().marked.get_mut(&self.network).map(change)
    }

    /// Notified when the network is marked.
    pub(super) fn wake(&self) -> Arc<Notify> {
        self.with(|entry| Arc::clone(&entry.wake)).unwrap_or_default()
    }

    /// Begins to read the waiting events. Returns the last mark covered by this.
    pub(super) fn begin_reading(&self) -> u64 {
        let begin = |entry: &mut MarkedNetwork| {
            entry.is_dirty = false;
            entry.last_mark
        };
        self.with(begin).unwrap_or_default()
    }

    /// Records that everything up to this mark is published.
    pub(super) fn settle(&self, mark: u64) {
        self.with(|entry| entry.settled.send_replace(mark));
    }

    /// True if the network was marked since the relay began to read.
    pub(super) fn is_dirty(&self) -> bool {
        self.with(|entry| entry.is_dirty).unwrap_or_default()
    }
}

impl Drop for Relay {
    /// A mark set at the last moment, or left by a panic, gets another relay.
    fn drop(&mut self) {
        let entry = self.outbox.0.networks.lock().marked.remove(&self.network);
        if entry.is_some_and(|entry| entry.is_dirty) {
            self.outbox.mark(self.network);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_mark_is_never_lost_and_a_network_has_one_relay() {
        let outbox = Outbox::default();
        let network = NetworkId(Uuid::from_u128(7));
        outbox.mark(network);
        outbox.mark(network);
        let relay = outbox.due().await.pop().unwrap();
        assert!(outbox.due().now_or_never().is_none());
        let mark = relay.begin_reading();
        assert!(!relay.is_dirty());
        assert!(outbox.settled(network).now_or_never().is_none());
        relay.settle(mark);
        outbox.settled(network).now_or_never().unwrap();
        outbox.mark(network);
        assert!(outbox.settled(network).now_or_never().is_none());
        relay.wake().notified().await;
        assert!(relay.is_dirty());
        assert!(outbox.due().now_or_never().is_none(), "it has a relay");
        // Marked just before its end.
        drop(relay);
        let relay = outbox.due().await.pop().unwrap();
        relay.begin_reading();
        drop(relay);
        assert!(outbox.due().now_or_never().is_none());
        outbox.settled(network).now_or_never().unwrap();
    }
}

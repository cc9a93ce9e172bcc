//! Publishing an event with the change it reports, and which networks have such events waiting.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use hub_db::{Error, Tx};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::Notify;

use crate::app::App;
use crate::cluster::NetworkState;
use crate::events::model::EventKind;
use crate::events::service::data;
use crate::events::store;
use crate::values::NetworkId;

/// Publishes an event with the change it reports: never if `tx` is rolled back; once it is committed, whatever becomes of
/// the caller or of this process. To the network's streams, or to that of the server `target` alone: the fields of
/// `payload`, with the event's name as `type` and the time as `at`.
///
/// Call it after the change is written. Then streams see the events of one row in the order of its changes.
pub async fn publish_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    kind: EventKind,
    target: Option<&str>,
    payload: impl Serialize,
) -> Result<(), Error> {
    let now = app.clock.now();
    let data = data(kind, now, payload).map_err(|error| sqlx::Error::Encode(error.into()))?;
    store::insert(tx, network, kind.name(), target, &data, now).await?;
    let outbox = app.outbox.clone();
    tx.on_end(move || outbox.mark(network));
    Ok(())
}

/// The networks whose committed events wait to be published.
#[derive(Clone, Debug, Default)]
pub struct Outbox(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    networks: Mutex<Networks>,
    /// Some network needs a relay.
    due: Notify,
    left_over_up_to: AtomicI64,
}

#[derive(Debug, Default)]
struct Networks {
    due: Vec<NetworkId>,
    relays: HashMap<NetworkId, RelayState>,
}

#[derive(Debug)]
enum RelayState {
    Due,
    Running {
        /// Marked since it last read.
        marked: bool,
        wake: Arc<Notify>,
    },
}

impl Outbox {
    /// Notes that events of the network may wait to be published.
    pub(crate) fn mark(&self, network: NetworkId) {
        let mut networks = self.0.networks.lock();
        let Networks { due, relays } = &mut *networks;
        match relays.entry(network) {
            Entry::Vacant(entry) => {
                entry.insert(RelayState::Due);
                due.push(network);
                self.0.due.notify_one();
            }
            Entry::Occupied(mut entry) => {
                if let RelayState::Running { marked, wake } = entry.get_mut() {
                    *marked = true;
                    wake.notify_one();
                }
            }
        }
    }

    /// Waits until some networks need a relay. The caller runs one for each.
    pub(super) async fn due(&self) -> Vec<Relay> {
        loop {
            let due = mem::take(&mut self.0.networks.lock().due);
            if !due.is_empty() {
                return due.into_iter().map(|network| self.begin(network)).collect();
            }
            self.0.due.notified().await;
        }
    }

    fn begin(&self, network: NetworkId) -> Relay {
        let wake = Arc::new(Notify::new());
        let state = RelayState::Running { marked: false, wake: Arc::clone(&wake) };
        self.0.networks.lock().relays.insert(network, state);
        Relay { network, outbox: self.clone(), wake }
    }

    /// Events up to this one are left over from an earlier process.
    pub(super) fn set_left_over(&self, up_to: i64) {
        self.0.left_over_up_to.store(up_to, Ordering::Relaxed);
    }

    pub(super) fn is_left_over(&self, id: i64) -> bool {
        id <= self.0.left_over_up_to.load(Ordering::Relaxed)
    }
}

/// The right to publish one network's events, which one task has at a time.
pub(super) struct Relay {
    pub(super) network: NetworkId,
    outbox: Outbox,
    wake: Arc<Notify>,
}

impl Relay {
    /// Waits until the network is marked.
    pub(super) async fn marked(&self) {
        self.wake.notified().await;
    }

    /// Whether the network was marked since this was last asked.
    pub(super) fn take_mark(&self) -> bool {
        match self.outbox.0.networks.lock().relays.get_mut(&self.network) {
            Some(RelayState::Running { marked, .. }) => mem::take(marked),
            _ => false,
        }
    }
}

impl Drop for Relay {
    /// A mark that came at the last moment, or that a panic left, gets another relay.
    fn drop(&mut self) {
        let state = self.outbox.0.networks.lock().relays.remove(&self.network);
        if matches!(state, Some(RelayState::Running { marked: true, .. })) {
            self.outbox.mark(self.network);
        }
    }
}

/// The events of a network wait for its owner.
pub(crate) struct WaitingEvents;

impl NetworkState for WaitingEvents {
    /// What an earlier owner left is published before anything new.
    fn restore<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        app.outbox.mark(network);
        ready(Ok(())).boxed()
    }

    fn evict(&self, _app: &App, _network: NetworkId) {}
}

#[cfg(test)]
mod tests {
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
        assert!(!relay.take_mark());
        outbox.mark(network);
        relay.marked().await;
        assert!(relay.take_mark());
        assert!(outbox.due().now_or_never().is_none(), "it has a relay");
        // Just before its end.
        outbox.mark(network);
        drop(relay);
        let relay = outbox.due().await.pop().unwrap();
        drop(relay);
        assert!(outbox.due().now_or_never().is_none());
    }
}

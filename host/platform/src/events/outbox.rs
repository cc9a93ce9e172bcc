//! Publication of events together with their changes, and the networks with waiting events.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use hub_db::{Error, Tx};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{Notify, watch};

use crate::app::App;
use crate::clock::Millis;
use crate::cluster::NetworkState;
use crate::events::Subscriptions;
use crate::events::model::EventKind;
use crate::events::service::{data, resync};
use crate::events::store::{self, SubscribedEvent};
use crate::values::NetworkId;

/// Maximum time to wait for the relay, which is close behind unless the bus is unreachable.
const SETTLE_TIMEOUT: Duration = Duration::from_millis(250);
/// Maximum number of events for subscribers per transaction: SQLite's writer waits for it.
const MOST_GIVEN: usize = 500;

/// Publishes an event with its change: never if `tx` is rolled back, always once it is committed, regardless of the
/// client or of this process. It goes to all of the network's streams, or only to that of the server `target`: the
/// fields of `payload`, with the event's name as `type` and the time as `at`. An event that must be requested is
/// dropped if no stream or subscriber requests it.
///
/// Call it after the change is written, so that streams see the events of one row in the order of its changes.
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
    if kind.needs_listener() {
        if !store::insert_if_wanted(tx, network, kind.name(), target, &data, now).await? {
            return Ok(());
        }
    } else {
        store::insert(tx, network, kind.name(), target, &data, now).await?;
    }
    mark_on_end(app, tx, network);
    Ok(())
}

/// Publishes events like [`publish_in`], of one kind that must be requested, if it is.
pub async fn publish_many_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    kind: EventKind,
    payloads: impl Iterator<Item = impl Serialize>,
) -> Result<(), Error> {
    let now = app.clock.now();
    for payload in payloads {
        let data = data(kind, now, payload).map_err(|error| sqlx::Error::Encode(error.into()))?;
        if !store::insert_if_wanted(tx, network, kind.name(), None, &data, now).await? {
            return Ok(());
        }
        mark_on_end(app, tx, network);
    }
    Ok(())
}

/// Event data up to the fields known to the statement: JSON of an unclosed object.
pub fn open_data(kind: EventKind, now: Millis, payload: impl Serialize) -> Result<String, Error> {
    let mut data = data(kind, now, payload).map_err(|error| sqlx::Error::Encode(error.into()))?;
    data.pop();
    Ok(data)
}

/// Triggers publication of the event that this task's statement wrote with [`insert_event`](super::insert_event).
pub async fn publish_written(app: &App, network: NetworkId) {
    let outbox = app.state::<Outbox>().clone();
    app.db.on_end(move || outbox.mark(network)).await;
}

/// Publishes an event with this name and data once `tx` is committed.
pub(super) async fn insert_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    (name, target, data): (&str, Option<&str>, &str),
    now: Millis,
) -> Result<(), Error> {
    store::insert(tx, network, name, target, data, now).await?;
    mark_on_end(app, tx, network);
    Ok(())
}

/// Asks all streams of the network, together with a change, to reload everything.
pub async fn publish_resync_in(app: &App, tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    let now = app.clock.now();
    let (name, data) = resync(now);
    insert_in(app, tx, network, (name, None, &data), now).await
}

fn mark_on_end(app: &App, tx: &Tx, network: NetworkId) {
    let outbox = app.state::<Outbox>().clone();
    tx.on_end(move || outbox.mark(network));
}

/// Receives the events of subscribers when they leave the outbox.
pub trait EventConsumer: Sync {
    /// Receives events of a network, in order, in the transaction that deletes them.
    fn take<'a>(
        &'a self,
        app: &'a App,
        tx: &'a mut Tx,
        network: NetworkId,
        events: &'a [SubscribedEvent],
    ) -> BoxFuture<'a, Result<(), Error>>;
}

/// Deletes published events and passes them to their subscribers.
pub(super) async fn delete(app: &App, network: NetworkId, ids: &HashSet<i64>) -> Result<(), Error> {
    let subscribed = store::subscribed(&app.db, network, ids).await?;
    let Some(consumer) = app.state::<Outbox>().consumer().filter(|_| !subscribed.is_empty()) else {
        return store::delete(&app.db, network, ids).await;
    };
    for part in parts(ids, &subscribed) {
        app.db
            .transaction(async |mut tx| {
                // Another node may have been faster and passed them on.
                let deleted = store::delete_returning(&mut tx, network, &part).await?;
                let taken: Vec<_> = subscribed.iter().filter(|event| deleted.contains(&event.id)).cloned().collect();
                if taken.is_empty() {
                    return Ok(());
                }
                consumer.take(app, &mut tx, network, &taken).await
            })
            .await?;
    }
    Ok(())
}

/// Splits the events, in order, into parts for at most [`MOST_GIVEN`] subscribers.
fn parts(ids: &HashSet<i64>, subscribed: &[SubscribedEvent]) -> Vec<HashSet<i64>> {
    let mut subscribers = HashMap::new();
    for event in subscribed {
        *subscribers.entry(event.id).or_insert(0_usize) += 1;
    }
    let mut ids: Vec<_> = ids.iter().copied().collect();
    ids.sort_unstable();
    let (mut parts, mut given) = (vec![HashSet::new()], 0);
    for id in ids {
        let of_event = subscribers.get(&id).copied().unwrap_or(0);
        if given > 0 && given + of_event > MOST_GIVEN {
            parts.push(HashSet::new());
            given = 0;
        }
        given += of_event;
        if let Some(part) = parts.last_mut() {
            part.insert(id);
        }
    }
    parts
}

/// If more than `most` events wait, replaces the oldest with a RESYNC. Their subscribers still get them all. Returns
/// the number of replaced events.
pub(super) async fn trim(app: &App, network: NetworkId, most: i64) -> Result<u64, Error> {
    let (name, data) = resync(app.clock.now());
    app.db
        .transaction(async |mut tx| {
            let Some(last) = store::excess(&mut tx, network, most).await? else { return Ok(0) };
            let taken = store::subscribed_up_to(&mut tx, network, last).await?;
            let replaced = store::replace_up_to(&mut tx, network, last, (name, &data)).await?;
            if let Some(consumer) = app.state::<Outbox>().consumer().filter(|_| !taken.is_empty()) {
                consumer.take(app, &mut tx, network, &taken).await?;
            }
            Ok::<_, Error>(replaced)
        })
        .await
}

/// Networks with committed events that wait to be published.
#[derive(Clone, Debug, Default)]
pub struct Outbox(Arc<Inner>);

#[derive(Default)]
struct Inner {
    networks: Mutex<Networks>,
    consumer: OnceLock<&'static dyn EventConsumer>,
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

    /// Sets the receiver of subscribers' events.
    pub(super) fn set_consumer(&self, consumer: &'static dyn EventConsumer) {
        // It is set only once.
        let _ = self.0.consumer.set(consumer);
    }

    fn consumer(&self) -> Option<&'static dyn EventConsumer> {
        self.0.consumer.get().copied()
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

/// Waiting events of a network, which follow its owner.
pub struct WaitingEvents;

impl NetworkState for WaitingEvents {
    /// Publishes events left by an earlier owner before new ones, and reads the subscriptions made there.
    fn restore<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        app.state::<Outbox>().mark(network);
        app.state::<Subscriptions>().forget();
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

//! Publishes events from the outbox and deletes them.
//!
//! One task per network, at the network's owner, in the order of event ids: so a stream sees the changes of one row in
//! order. An event may be published twice only after a failure or by another node, and then with the same message id,
//! so that the bus drops it.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use hub_bus::{EventRef, Inbox, PublishError, StoredEvent};
use thiserror::Error;
use tokio::time::Instant;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::app::App;
use crate::cluster::ShardRegistry;
use crate::events::outbox::Relay;
use crate::events::publish::{can_open, opened};
use crate::events::store::{self, WaitingEvent};
use crate::events::{Outbox, deletion};
use crate::secrets;
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

/// Maximum number of events read at once.
const BATCH: usize = 200;
/// Maximum number of published events waiting for deletion; at this number reading pauses.
const MAX_PUBLISHED: usize = 1_000;
/// Interval between reads, so that under load one read finds several events. The first event does not wait.
const READ_INTERVAL: Duration = Duration::from_millis(5);
/// Delay from a publication to the deletion of events published meanwhile.
const DELETE_INTERVAL: Duration = Duration::from_millis(50);
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// Maximum number of events waiting for an unreachable bus: as many as streams can resume from.
const MAX_WAITING: i64 = 10_000;
/// Topic for notifying owners of waiting events.
pub(super) const TOPIC: &str = "outbox";

#[derive(Debug, Error)]
enum RelayError {
    #[error("the bus between nodes is unreachable")]
    Unreachable,
    #[error("this node lacks the newest secrets key")]
    NoKey,
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

/// Starts a relay for each network that needs one.
pub(super) async fn run(app: App) {
    loop {
        for relay in app.state::<Outbox>().due().await {
            // Not aborted when the hub stops: the next process would publish its events again.
            app.spawn_until_done(run_relay(app.clone(), relay));
        }
        // A runtime that ends drops what is spawned: the network is due again at once, and without this it never ends.
        tokio::task::yield_now().await;
    }
}

/// Marks networks with events committed or left by another node.
pub(super) async fn listen(app: App, mut inbox: Inbox) {
    while let Some(payload) = inbox.next().await {
        if let Ok(network) = Uuid::from_slice(&payload).map(NetworkId)
            && app.state::<ShardRegistry>().owns(network)
        {
            app.state::<Outbox>().mark(network);
        }
    }
}

/// Marks networks with waiting events that may have no relay: their process ended, or the database was unreachable.
/// Drops the oldest if too many gather for an unreachable bus; a RESYNC replaces them.
pub(super) async fn sweep(app: App) -> Result<(), hub_db::Error> {
    let networks = store::networks(&app.db).await?.into_iter();
    let own = networks.filter(|network| app.state::<ShardRegistry>().owns(*network)).map(|network| (network, ()));
    for_each_network(own, "drop events that waited too long", |network, ()| look_after(&app, network)).await;
    Ok(())
}

async fn look_after(app: &App, network: NetworkId) -> Result<(), hub_db::Error> {
    if !app.bus.is_reachable() {
        let dropped = deletion::trim(app, network, MAX_WAITING).await?;
        if dropped > 0 {
            tracing::warn!(%network, dropped, "dropped events that waited too long; a RESYNC replaces them");
        }
    }
    app.state::<Outbox>().mark(network);
    Ok(())
}

/// Remaining work after a round.
enum Round {
    /// All events that existed when it read were relayed.
    Complete,
    /// There may be more to read.
    Partial,
    /// Ended: another node owns the network, or the hub stops.
    Over,
}

async fn run_relay(app: App, relay: Relay) {
    let network = relay.network;
    if !app.state::<ShardRegistry>().owns(network) {
        return announce(&app, network).await;
    }
    let (stopping, wake) = (app.stopping(), relay.wake());
    // Published, but not deleted yet.
    let mut published = HashSet::new();
    let mut deleting: Option<BoxFuture<'static, Result<HashSet<i64>, hub_db::Error>>> = None;
    let (mut may_read, mut paused_until) = (true, None);
    let (mut read_at, mut delete_at) = (None, None);
    loop {
        if may_read && paused_until.is_none() && is_due(read_at) && published.len() < MAX_PUBLISHED {
            read_at = Some(Instant::now() + READ_INTERVAL);
            let mark = relay.begin_reading();
            match publish_waiting(&app, network, &mut published).await {
                Ok(Round::Complete) => {
                    relay.settle(mark);
                    may_read = false;
                }
                Ok(Round::Partial) => {}
                Ok(Round::Over) => break,
                Err(error) => {
                    tracing::warn!(%error, %network, "could not publish events; they wait");
                    paused_until = Some(Instant::now() + RETRY_DELAY);
                }
            }
        }
        if published.is_empty() {
            delete_at = None;
        } else {
            delete_at.get_or_insert_with(|| Instant::now() + DELETE_INTERVAL);
        }
        let may_delete = is_due(delete_at) || published.len() >= MAX_PUBLISHED;
        if deleting.is_none() && paused_until.is_none() && may_delete && !published.is_empty() {
            delete_at = None;
            deleting = Some(delete(app.clone(), network, published.clone()));
        }
        if published.is_empty() && !may_read {
            if !relay.is_dirty() {
                return;
            }
            may_read = true;
        }
        let read_next = read_at.filter(|_| may_read && published.len() < MAX_PUBLISHED);
        let delete_next = delete_at.filter(|_| deleting.is_none());
        let next = paused_until.or(read_next.into_iter().chain(delete_next).min());
        tokio::select! {
            deleted = finish(&mut deleting) => {
                deleting = None;
                match deleted {
                    Ok(ids) => published.retain(|id| !ids.contains(id)),
                    Err(error) => {
                        tracing::warn!(%error, %network, "could not delete published events yet");
                        paused_until = Some(Instant::now() + RETRY_DELAY);
                    }
                }
            }
            () = wake.notified() => may_read = true,
            () = sleep_until(next) => paused_until = None,
            () = stopping.cancelled() => break,
        }
    }
    // The next relay begins with the remaining events.
    if let Some(deleting) = deleting
        && let Ok(ids) = deleting.await
    {
        published.retain(|id| !ids.contains(id));
    }
    if !published.is_empty()
        && let Err(error) = delete(app, network, published).await
    {
        tracing::warn!(%error, %network, "could not delete published events");
    }
}

/// Notifies the network's owner on another node of waiting events.
async fn announce(app: &App, network: NetworkId) {
    if let Err(error) =
        app.state::<ShardRegistry>().broadcast(TOPIC, Bytes::copy_from_slice(network.0.as_bytes())).await
    {
        tracing::debug!(%error, %network, "could not notify the owner of waiting events; it will find them");
    }
}

/// Publishes waiting events that are not published yet.
async fn publish_waiting(app: &App, network: NetworkId, published: &mut HashSet<i64>) -> Result<Round, RelayError> {
    let limit = BATCH + published.len();
    let waiting = store::waiting(&app.db, network, i64::try_from(limit).unwrap_or(i64::MAX)).await?;
    let is_complete = waiting.len() < limit;
    for mut event in waiting {
        if published.contains(&event.id) {
            continue;
        }
        // Another node may have a newer key, which this one gets soon: the event waits for it.
        if !can_open(app, network, &event.data) && !secrets::is_key_current(app).await? {
            return Err(RelayError::NoKey);
        }
        let Some(data) = opened(app, network, std::mem::take(&mut event.data)) else {
            tracing::error!(%network, id = event.id, name = event.name, "the secrets key of an event is lost");
            published.insert(event.id);
            continue;
        };
        event.data = data;
        if !app.state::<ShardRegistry>().owns(network) {
            return Ok(Round::Over);
        }
        match publish(app, network, &event).await {
            Ok(_) => {}
            Err(PublishError::Unreachable) => return Err(RelayError::Unreachable),
            Err(PublishError::Closed) => return Ok(Round::Over),
            // It would fail repeatedly and block the others.
            Err(error @ (PublishError::Malformed | PublishError::TooLarge)) => {
                tracing::error!(%error, %network, id = event.id, name = event.name, "an event cannot be published");
            }
        }
        published.insert(event.id);
    }
    Ok(if is_complete { Round::Complete } else { Round::Partial })
}

async fn publish(app: &App, network: NetworkId, waiting: &WaitingEvent) -> Result<u64, PublishError> {
    let WaitingEvent { id, name, target, data, created_at } = waiting;
    // The id contains the name, because a RESYNC may replace an event that may have been published.
    let message_id = format!("{network}-{id}-{created_at}-{name}");
    let event = EventRef { name, target: target.as_deref(), data };
    let stored = StoredEvent { message_id: &message_id, is_left_over: app.state::<Outbox>().is_left_over(*id), event };
    let span = tracing::trace_span!(target: "hub_trace", "publish", event = name);
    app.bus.publish_stored(network.0.as_u128(), stored, app.clock.now()).instrument(span).await
}

fn delete(app: App, network: NetworkId, ids: HashSet<i64>) -> BoxFuture<'static, Result<HashSet<i64>, hub_db::Error>> {
    Box::pin(async move {
        deletion::delete(&app, network, &ids).await?;
        Ok(ids)
    })
}

/// True if this moment has come.
fn is_due(at: Option<Instant>) -> bool {
    at.is_none_or(|at| at <= Instant::now())
}

async fn sleep_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Waits for the end of a deletion in progress, if any.
async fn finish<T>(work: &mut Option<BoxFuture<'static, T>>) -> T {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

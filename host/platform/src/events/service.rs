//! Publishes events and maintains open streams.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use hub_bus::Event;
use parking_lot::Mutex;
use serde::Serialize;
use thiserror::Error;
use tracing::Instrument as _;

use crate::app::App;
use crate::auth::{self, Scope};
use crate::background::every;
use crate::clock::Millis;
use crate::cluster::ShardRegistry;
use crate::events::model::EventKind;
use crate::events::outbox::{self, EventConsumer};
use crate::events::stream::OpenStream;
use crate::events::{Outbox, Subscriptions, listeners, relay, store};
use crate::http::error::ApiError;
use crate::values::NetworkId;

/// Twice a second, so that the stream of a revoked key ends within a second.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Catches missed events: normally they are published right after their commit.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
const RENEW_INTERVAL: Duration = Duration::from_mins(1);

/// Reason for not publishing an event.
#[derive(Debug, Error)]
pub enum PublishError {
    /// The caller is in a transaction that may still be rolled back.
    #[error("the event of a change must be published in the change's transaction")]
    Uncommitted,
    /// It has subscribers, and the database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
    /// The payload has no JSON form.
    #[error("the event has no JSON form: {0}")]
    Payload(#[from] serde_json::Error),
    /// The bus refused it.
    #[error(transparent)]
    Bus(#[from] hub_bus::PublishError),
}

impl From<PublishError> for ApiError {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Bus(hub_bus::PublishError::Closed) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "The hub is stopping; try again in a moment.")
                    .retry_after(1)
            }
            // NATS may have it and deliver it after recovering.
            PublishError::Bus(hub_bus::PublishError::Unreachable) => bus_error(
                "no answer in time",
                "Events are currently unavailable; this one may still be delivered, so a retry may duplicate it.",
            ),
            PublishError::Database(error) => error.into(),
            other => Self::internal(other),
        }
    }
}

/// Temporary: the bus recovers, or another node reaches it.
pub(super) fn bus_unreachable(why: impl std::fmt::Display) -> ApiError {
    bus_error(why, "Events are currently unavailable; try again in a moment.")
}

fn bus_error(why: impl std::fmt::Display, message: &'static str) -> ApiError {
    tracing::warn!(%why, "the bus between nodes is unreachable");
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "bus_unreachable", message).retry_after(1)
}

#[derive(Serialize)]
struct Envelope<P> {
    r#type: &'static str,
    at: Millis,
    #[serde(flatten)]
    payload: P,
}

/// Data of an event.
pub(super) fn data(kind: EventKind, at: Millis, payload: impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Envelope { r#type: kind.name(), at, payload })
}

/// Name and data of an event that asks all clients to reload everything.
pub(super) fn resync(at: Millis) -> (&'static str, String) {
    ("RESYNC", format!(r#"{{"type":"RESYNC","at":{at}}}"#))
}

/// Publishes an event without a stored change, immediately: it is lost with the process unless it has subscribers. For
/// changes use [`publish_in`](super::publish_in).
pub async fn publish(
    app: &App,
    network: NetworkId,
    kind: EventKind,
    target: Option<&str>,
    payload: impl Serialize,
) -> Result<(), PublishError> {
    if hub_db::has_uncommitted_writes() {
        return Err(PublishError::Uncommitted);
    }
    let now = app.clock.now();
    let data = data(kind, now, payload)?;
    if kind.is_subscribable() && app.state::<Subscriptions>().include(&app.db, network, kind).await? {
        let write = async |mut tx| outbox::insert_in(app, &mut tx, network, (kind.name(), target, &data), now).await;
        return Ok(app.db.transaction(write).await?);
    }
    // After the events of changes whose requests were answered.
    app.state::<Outbox>().settled(network).await;
    let event = Event { name: kind.name(), target: target.map(str::to_owned), data };
    let span = tracing::trace_span!(target: "hub_trace", "publish", event = event.name);
    app.bus.publish(network.0.as_u128(), event, now).instrument(span).await?;
    Ok(())
}

/// Subscribes to these events from now on, and to no others.
pub async fn subscribe_in(
    app: &App,
    tx: &mut hub_db::Tx,
    network: NetworkId,
    subscriber: &str,
    kinds: &[EventKind],
) -> Result<(), hub_db::Error> {
    app.state::<Subscriptions>().forget_on_end(tx);
    store::unsubscribe(tx, network, subscriber).await?;
    for kind in kinds {
        store::subscribe(tx, network, subscriber, kind.name()).await?;
    }
    Ok(())
}

/// Number of committed events waiting to be published, at most 10,000.
pub async fn waiting_events(app: &App) -> Result<i64, hub_db::Error> {
    store::count_waiting(&app.db).await
}

/// Open streams of this process.
#[derive(Debug, Default)]
pub struct Streams {
    open: Mutex<HashMap<usize, Arc<OpenStream>>>,
}

impl Streams {
    /// Number of open streams.
    pub fn count(&self) -> usize {
        self.open.lock().len()
    }

    pub(super) fn add(&self, stream: Arc<OpenStream>) {
        self.open.lock().insert(Arc::as_ptr(&stream).addr(), stream);
    }

    pub(super) fn remove(&self, stream: &Arc<OpenStream>) {
        self.open.lock().remove(&Arc::as_ptr(stream).addr());
    }

    pub(super) fn all(&self) -> Vec<Arc<OpenStream>> {
        self.open.lock().values().cloned().collect()
    }
}

/// Starts publishing the outbox and maintaining the open streams. Events with subscribers go to `consumer` when they
/// leave the outbox.
pub async fn start(app: &App, consumer: &'static dyn EventConsumer) -> anyhow::Result<()> {
    app.state::<Outbox>().set_consumer(consumer);
    app.state::<Outbox>().set_left_over(store::newest(&app.db).await?.unwrap_or_default());
    if let Some(inbox) = app.state::<ShardRegistry>().listen(relay::TOPIC).await? {
        app.spawn(relay::listen(app.clone(), inbox));
    }
    app.spawn(relay::run(app.clone()));
    every(app, SWEEP_INTERVAL, "look for events that were not published", relay::sweep);
    every(app, CHECK_INTERVAL, "maintain the open streams", tick);
    every(app, RENEW_INTERVAL, "renew what streams listen to", listeners::renew);
    every(app, CHECK_INTERVAL, "check the keys of open streams", check_keys);
    Ok(())
}

/// One loop for all streams, so that a stream needs no timer: sweeps the bus and makes pings due.
async fn tick(app: App) -> Result<(), Infallible> {
    let now = app.clock.now();
    app.bus.sweep(now);
    for stream in app.state::<Streams>().all() {
        stream.tick(now);
    }
    Ok(())
}

/// Ends streams whose key is no longer valid. Separate from `tick`, so that no ping waits for the database.
async fn check_keys(app: App) -> Result<(), hub_db::Error> {
    let streams = app.state::<Streams>().all();
    for scope in [Scope::EventsRead, Scope::Plugin] {
        let of_scope = || streams.iter().filter(|stream| stream.scope == scope);
        let revoked = auth::revoked(&app, of_scope().map(|stream| &stream.credential).collect(), scope).await?;
        of_scope().filter(|stream| revoked.contains(&stream.credential)).for_each(|stream| stream.end());
    }
    Ok(())
}

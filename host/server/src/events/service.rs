//! Publishes events and maintains the open streams.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use hub_bus::Event;
use parking_lot::Mutex;
use serde::Serialize;
use thiserror::Error;

use crate::app::App;
use crate::auth::{self, Scope};
use crate::background::every;
use crate::clock::Millis;
use crate::events::model::EventKind;
use crate::events::stream::OpenStream;
use crate::http::error::ApiError;
use crate::values::NetworkId;

/// Twice a second, so that the stream of a revoked key ends within one.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Why an event was not published.
#[derive(Debug, Error)]
pub enum PublishError {
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
            PublishError::Bus(hub_bus::PublishError::Unreachable) => bus_unreachable("no answer in time"),
            other => Self::internal(other),
        }
    }
}

/// Temporary: the bus between nodes comes back, or another node reaches it.
pub(super) fn bus_unreachable(why: impl std::fmt::Display) -> ApiError {
    tracing::warn!(%why, "the bus between nodes can't be reached");
    ApiError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "bus_unreachable",
        "Events are unavailable right now; try again in a moment.",
    )
    .retry_after(1)
}

#[derive(Serialize)]
struct Envelope<P> {
    r#type: &'static str,
    at: Millis,
    #[serde(flatten)]
    payload: P,
}

/// Publishes an event to the network's streams, or to that of the server `target` alone: the fields of `payload`, with
/// the event's name as `type` and the time as `at`. Inside a transaction it waits for the commit.
pub async fn publish(
    app: &App,
    network: NetworkId,
    kind: EventKind,
    target: Option<&str>,
    payload: impl Serialize,
) -> Result<(), PublishError> {
    let now = app.clock.now();
    let data = serde_json::to_string(&Envelope { r#type: kind.name(), at: now, payload })?;
    let event = Event { name: kind.name(), target: target.map(str::to_owned), data };
    if hub_db::has_uncommitted_writes() {
        let app = app.clone();
        hub_db::after_commit(async move {
            if let Err(error) = app.bus.publish(network.0.as_u128(), event, now).await {
                tracing::warn!(%error, %network, event = kind.name(), "an event was not published");
            }
        })
        .await;
        return Ok(());
    }
    app.bus.publish(network.0.as_u128(), event, now).await?;
    Ok(())
}

/// The open streams of this process.
#[derive(Debug, Default)]
pub struct Streams {
    open: Mutex<HashMap<usize, Arc<OpenStream>>>,
}

impl Streams {
    /// How many are open.
    pub fn count(&self) -> usize {
        self.open.lock().len()
    }

    pub(super) fn add(&self, stream: Arc<OpenStream>) {
        self.open.lock().insert(Arc::as_ptr(&stream).addr(), stream);
    }

    pub(super) fn remove(&self, stream: &Arc<OpenStream>) {
        self.open.lock().remove(&Arc::as_ptr(stream).addr());
    }

    fn all(&self) -> Vec<Arc<OpenStream>> {
        self.open.lock().values().cloned().collect()
    }
}

/// Starts the maintenance of the open streams.
pub(crate) fn start(app: &App) {
    every(app, CHECK_INTERVAL, "maintain the open streams", tick);
    every(app, CHECK_INTERVAL, "check the keys of open streams", check_keys);
}

/// One loop for all streams, so that a stream costs no timer: sweeps the bus and makes pings due.
async fn tick(app: App) -> Result<(), Infallible> {
    let now = app.clock.now();
    app.bus.sweep(now);
    for stream in app.streams.all() {
        stream.tick(now);
    }
    Ok(())
}

/// Ends the streams whose key is no longer valid. Separate from `tick`, so that no ping waits for the database.
async fn check_keys(app: App) -> Result<(), hub_db::Error> {
    let streams = app.streams.all();
    let shown = streams.iter().map(|stream| &stream.credential).collect();
    let revoked = auth::revoked(&app, shown, Scope::EventsRead).await?;
    if !revoked.is_empty() {
        let ended = streams.iter().filter(|stream| revoked.contains(&stream.credential));
        ended.for_each(|stream| stream.end());
    }
    Ok(())
}

//! The event stream: open while it has a listener.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt as _};
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;
use sse_stream::{Sse, SseByteStream};
use tokio::time::{Instant, sleep_until, timeout};

use crate::{HubClient, HubError, RetryPolicy};

/// The hub pings every 15 s; a stream that is silent for longer is taken for dead.
const SILENCE: Duration = Duration::from_secs(40);
const OPENING: Duration = Duration::from_secs(10);
const DELAYS: RetryPolicy = RetryPolicy::delays(1, 500, 10_000);

/// An event of the hub. A clone shares its data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HubEvent {
    /// Its type, such as `CHAT`.
    pub kind: String,
    /// When it happened, in milliseconds since the epoch by the hub's clock.
    pub at: i64,
    /// All its fields.
    pub data: Arc<Value>,
}

impl HubEvent {
    /// Its fields as a model, such as [`ChatMessage`](crate::model::ChatMessage) for `CHAT`.
    ///
    /// # Errors
    /// [`HubError::InvalidAnswer`] for another shape.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, HubError> {
        T::deserialize(&*self.data).map_err(|error| HubError::InvalidAnswer(format!("{}: {error}", self.kind)))
    }

    /// A text field.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.data[field].as_str()
    }

    fn of_frame(event: Option<String>, data: &str) -> Self {
        let data: Value = serde_json::from_str(data).unwrap_or_default();
        let kind = event.or_else(|| data["type"].as_str().map(str::to_owned)).unwrap_or_default();
        Self { kind, at: data["at"].as_i64().unwrap_or(0), data: Arc::new(data) }
    }
}

/// A step of a stream.
#[derive(Debug)]
pub enum StreamUpdate {
    /// It is open.
    Opened,
    /// An event, `PING` and `RESYNC` included.
    Event(HubEvent),
    /// It ended or could not be opened; the next call tries again.
    Lost(HubError),
}

enum State {
    Waiting(Instant),
    Open(SseByteStream<BoxStream<'static, reqwest::Result<Bytes>>>),
}

/// An event stream that reconnects by itself, with growing and random delays, and resumes after the last event that was handled.
/// If the hub can no longer do that, `RESYNC` comes first, and cached state has to be read again.
pub struct EventStream {
    client: HubClient,
    server_id: Option<String>,
    types: Vec<String>,
    silence: Duration,
    state: State,
    last_event_id: Option<String>,
    /// Id of the event that is being handled.
    unconfirmed_id: Option<String>,
    /// Wait that the hub asks for before reconnecting.
    retry: Option<Duration>,
    failures: u32,
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").field("server_id", &self.server_id).finish_non_exhaustive()
    }
}

impl HubClient {
    /// The event stream, for the commands to a server, too, where one is given. `types` are the events it carries; empty: the hub's
    /// usual ones. It is opened by the first [`EventStream::next`].
    pub fn events(&self, server_id: Option<&str>, types: &[&str]) -> EventStream {
        EventStream {
            client: self.with_timeout(None).with_retries(RetryPolicy::NONE),
            server_id: server_id.map(str::to_owned),
            types: types.iter().map(|&name| name.to_owned()).collect(),
            silence: SILENCE,
            state: State::Waiting(Instant::now()),
            last_event_id: None,
            unconfirmed_id: None,
            retry: None,
            failures: 0,
        }
    }
}

impl EventStream {
    /// Changes for how long a stream may be silent before it is opened again; 40 s unless set. The hub pings every 15 s.
    #[must_use]
    pub fn with_silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Changes the events to carry, from the next connection on.
    pub fn set_types(&mut self, types: &[&str]) {
        self.types = types.iter().map(|&name| name.to_owned()).collect();
    }

    /// Waits for the next step. The call also says that the previous event was handled: from then on the stream resumes after it. May be
    /// cancelled, such as by `select!`, without losing an event.
    pub async fn next(&mut self) -> StreamUpdate {
        if let Some(id) = self.unconfirmed_id.take() {
            self.last_event_id = Some(id);
        }
        loop {
            match &mut self.state {
                State::Waiting(until) => {
                    sleep_until(*until).await;
                    return match self.open().await {
                        Ok(()) => StreamUpdate::Opened,
                        Err(error) => self.lost(error),
                    };
                }
                State::Open(stream) => {
                    let why = match timeout(self.silence, stream.next()).await {
                        Ok(Some(Ok(frame))) => match self.take(frame) {
                            Some(event) => return StreamUpdate::Event(event),
                            None => continue,
                        },
                        Ok(Some(Err(error))) => io::Error::other(error),
                        Ok(None) => io::Error::other("the hub ended the event stream"),
                        Err(_) => io::Error::other(format!("nothing came for {:?}", self.silence)),
                    };
                    let error = HubError::unreachable(&self.client.connection.base, why);
                    return self.lost(error);
                }
            }
        }
    }

    /// An event has data; other frames only set the id and the delay.
    fn take(&mut self, frame: Sse) -> Option<HubEvent> {
        if let Some(retry) = frame.retry {
            self.retry = Some(Duration::from_millis(retry));
        }
        if frame.data.is_some() {
            self.unconfirmed_id = frame.id;
        } else if frame.id.is_some() {
            self.last_event_id = frame.id;
        }
        Some(HubEvent::of_frame(frame.event, &frame.data?))
    }

    async fn open(&mut self) -> Result<(), HubError> {
        let types = (!self.types.is_empty()).then(|| self.types.join(","));
        let mut request = self.client.request(Method::GET, "/api/plugin/events").header("accept", "text/event-stream");
        request = request.query_if("serverId", self.server_id.as_deref()).query_if("types", types);
        if let Some(id) = &self.last_event_id {
            request = request.header("last-event-id", id);
        }
        let silent = |_| HubError::unreachable(&self.client.connection.base, "the event stream was not opened in time");
        let response = timeout(OPENING, request.response()).await.map_err(silent)??;
        self.state = State::Open(SseByteStream::new(response.bytes_stream().boxed()));
        self.failures = 0;
        Ok(())
    }

    fn lost(&mut self, error: HubError) -> StreamUpdate {
        self.failures += 1;
        let was_open = matches!(self.state, State::Open(_));
        // A stream that was open ended with many others: the hub has said how to spread out.
        let delay = self.retry.filter(|_| was_open).unwrap_or_else(|| DELAYS.delay(self.failures));
        self.state = State::Waiting(Instant::now() + delay);
        StreamUpdate::Lost(error)
    }
}

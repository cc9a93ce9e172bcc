//! Open stream: the frames sent to its client.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::unfold;
use hub_bus::{EndWatch, Subscription};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::app::App;
use crate::auth::{Caller, Credential, Scope};
use crate::clock::{Millis, Moment};
use crate::events::model::EventTypes;
use crate::events::{EventKind, Streams};
use crate::http::connection::Connection;
use crate::limits::OpenGuard;
use crate::usage_counters::{NetworkCounters, UsageCounters};
use crate::values::{Identifier, NetworkId};

const PING_INTERVAL: Duration = Duration::from_secs(15);
/// Time for a stream to close after its end. Only a stream whose client reads nothing takes longer.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of frames read from the bus at once.
const BATCH_SIZE: usize = 64;
/// Clients wait 2 to 4 s before they reconnect, so that they do not all return at once after a restart.
const RETRY_MS: u64 = 2_000;
/// Beginning of a frame that is not an event.
const COMMENT: &[u8] = b":";

/// Part of a stream that the maintenance loops use.
pub(super) struct OpenStream {
    pub(super) network: NetworkId,
    pub(super) types: EventTypes,
    pub(super) server: Option<Identifier>,
    pub(super) credential: Credential,
    /// Scope that the credential needs until the end, beside those of certain events.
    pub(super) scope: Scope,
    end: EndWatch,
    connection: Option<Connection>,
    next_ping: Mutex<Moment>,
    ended_at: Mutex<Option<Moment>>,
    ping_due: AtomicBool,
    withdrawn: AtomicBool,
    wake: Notify,
}

impl std::fmt::Debug for OpenStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenStream").field("credential", &self.credential).finish_non_exhaustive()
    }
}

impl OpenStream {
    /// Ends the stream because its key is no longer valid.
    pub(super) fn end(&self) {
        self.withdrawn.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// True if the credential needs this scope until the end.
    pub(super) fn needs(&self, scope: Scope) -> bool {
        self.scope == scope || (scope == Scope::ChatRead && self.types.holds(EventKind::ChatVerdict))
    }

    /// True until it ends.
    pub(super) fn is_open(&self) -> bool {
        !self.end.is_over() && !self.withdrawn.load(Ordering::Relaxed)
    }

    /// Makes a due ping pending, and aborts the connection of a stream that does not close after its end.
    pub(super) fn tick(&self, now: Moment) {
        if !self.is_open() {
            let ended_at = *self.ended_at.lock().get_or_insert(now);
            if now.saturating_since(ended_at) >= CLOSE_TIMEOUT
                && let Some(connection) = &self.connection
            {
                connection.abort();
            }
            return;
        }
        let mut next_ping = self.next_ping.lock();
        if now >= *next_ping {
            *next_ping = now + PING_INTERVAL;
            self.ping_due.store(true, Ordering::Relaxed);
            self.wake.notify_one();
        }
    }
}

/// Sending side of a stream.
struct Sender {
    app: App,
    subscription: Subscription,
    types: EventTypes,
    stream: Arc<OpenStream>,
    counters: Arc<NetworkCounters>,
    /// Frames read but not sent, the next one last.
    frames: Vec<Bytes>,
    /// Counts the stream; none if it replaces its server's stream.
    _open: OpenGuard,
    /// Last event read, if the stream does not carry it. The next ping sends its id, so that a stream of rare events
    /// can be resumed.
    skipped: Option<Bytes>,
}

/// Body of a stream. `connection` is not shared by other requests. A client without an id gets one immediately, so
/// that it can resume before its first event.
pub(super) fn body(
    app: &App,
    subscription: Subscription,
    (types, server): (EventTypes, Option<&Identifier>),
    (caller, scope): (Caller, Scope),
    connection: Option<Connection>,
    has_id: bool,
    open: OpenGuard,
) -> Body {
    let stream = Arc::new(OpenStream {
        network: caller.network,
        types,
        server: server.cloned(),
        credential: caller.credential,
        scope,
        end: subscription.watch_end(),
        connection,
        next_ping: Mutex::new(app.clock.moment() + PING_INTERVAL),
        ended_at: Mutex::default(),
        ping_due: AtomicBool::new(false),
        withdrawn: AtomicBool::new(false),
        wake: Notify::new(),
    });
    app.state::<Streams>().add(Arc::clone(&stream));
    let counters = app.state::<UsageCounters>().network(caller.network);
    let preamble = preamble(app, (!has_id).then(|| subscription.start_id()));
    let sender = Sender {
        app: app.clone(),
        subscription,
        types,
        stream,
        counters,
        frames: vec![preamble],
        skipped: None,
        _open: open,
    };
    Body::from_stream(unfold(sender, async |mut sender| {
        let frame = sender.next().await?;
        Some((Ok::<_, Infallible>(frame), sender))
    }))
}

impl Sender {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.stream.withdrawn.load(Ordering::Relaxed) {
                return None;
            }
            // Before the next frame, so that a busy stream pings too.
            if self.stream.ping_due.swap(false, Ordering::Relaxed) {
                return Some(ping(self.app.clock.now(), self.skipped.take().as_deref()));
            }
            if let Some(frame) = self.frames.pop() {
                if !frame.starts_with(COMMENT) {
                    self.counters.add_event();
                }
                return Some(frame);
            }
            tokio::select! {
                read = self.subscription.next_batch(&mut self.frames, BATCH_SIZE) => match read {
                    Ok(()) => {
                        let types = self.types;
                        let carries = |frame: &Bytes| types.include(field(frame, b"event: "));
                        self.skipped = self.frames.last().filter(|frame| !carries(frame)).cloned();
                        self.frames.retain(carries);
                        self.frames.reverse();
                    }
                    Err(_) => return None,
                },
                () = self.stream.wake.notified() => {}
            }
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.app.state::<Streams>().remove(&self.stream);
    }
}

/// Comment, reconnect delay and start id; not an event.
fn preamble(app: &App, start: Option<String>) -> Bytes {
    let retry = RETRY_MS + app.ids.seed() % RETRY_MS;
    let id = start.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!(": open\nretry: {retry}\n{id}\n"))
}

/// Field of a frame of the bus.
fn field<'a>(frame: &'a [u8], name: &[u8]) -> &'a str {
    let value = frame.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name));
    value.and_then(|value| std::str::from_utf8(value).ok()).unwrap_or_default()
}

/// Ping, after the id of an event that the stream does not carry.
fn ping(now: Millis, skipped: Option<&[u8]>) -> Bytes {
    let id = skipped.map(|frame| format!("id: {}\n\n", field(frame, b"id: "))).unwrap_or_default();
    Bytes::from(format!("{id}event: PING\ndata: {{\"type\":\"PING\",\"at\":{now}}}\n\n"))
}

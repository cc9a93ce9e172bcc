//! One open stream: what its client is sent, frame by frame.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::unfold;
use hub_bus::{Ended, Subscription};
use tokio::sync::Notify;

use crate::app::App;
use crate::auth::Credential;
use crate::clock::{Millis, millis};
use crate::http::connection::Connection;

const PING_EVERY: Duration = Duration::from_secs(15);
/// How long a stream that is over may take to say so. Longer takes only one whose client reads nothing.
const END_WITHIN: Duration = Duration::from_secs(2);
/// Frames read from the bus at once.
const BATCH: usize = 64;
/// Clients wait 2 to 4 s before they reconnect: not all at once after a restart.
const RETRY_MS: u64 = 2_000;

/// What the watch over all streams knows of one.
pub(super) struct OpenStream {
    pub(super) credential: Credential,
    ended: Ended,
    connection: Option<Connection>,
    next_ping: AtomicI64,
    over_since: AtomicI64,
    ping_due: AtomicBool,
    withdrawn: AtomicBool,
    news: Notify,
}

const NOT_OVER: Millis = Millis::MAX;

impl std::fmt::Debug for OpenStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenStream").field("credential", &self.credential).finish_non_exhaustive()
    }
}

impl OpenStream {
    /// Ends the stream.
    pub(super) fn end(&self) {
        self.withdrawn.store(true, Ordering::Relaxed);
        self.news.notify_one();
    }

    /// Makes a ping due when it is time for one, and cuts the connection of a stream that is over and does not end.
    pub(super) fn tick(&self, now: Millis) {
        if self.ended.is_over() || self.withdrawn.load(Ordering::Relaxed) {
            let since = self.over_since.fetch_min(now, Ordering::Relaxed).min(now);
            if now - since >= millis(END_WITHIN)
                && let Some(connection) = &self.connection
            {
                connection.abort();
            }
        } else if now >= self.next_ping.load(Ordering::Relaxed) {
            self.next_ping.store(now.saturating_add(millis(PING_EVERY)), Ordering::Relaxed);
            self.ping_due.store(true, Ordering::Relaxed);
            self.news.notify_one();
        }
    }
}

/// The sending side of a stream.
struct Sender {
    app: App,
    subscription: Subscription,
    stream: Arc<OpenStream>,
    /// What was read and not yet sent, the next one last.
    frames: Vec<Bytes>,
}

/// The body of a stream: `subscription` from here on. `connection` is the one it is alone on. A client that has no id
/// yet is told one at once, so that it can resume before its first event.
pub(super) fn body(
    app: &App,
    subscription: Subscription,
    credential: Credential,
    connection: Option<Connection>,
    has_id: bool,
) -> Body {
    let stream = Arc::new(OpenStream {
        credential,
        ended: subscription.ended(),
        connection,
        next_ping: AtomicI64::new(app.clock.now().saturating_add(millis(PING_EVERY))),
        over_since: AtomicI64::new(NOT_OVER),
        ping_due: AtomicBool::new(false),
        withdrawn: AtomicBool::new(false),
        news: Notify::new(),
    });
    app.streams.add(Arc::clone(&stream));
    let opening = opening(app, (!has_id).then(|| subscription.start_id()));
    let sender = Sender { app: app.clone(), subscription, stream, frames: vec![opening] };
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
            // Between batches on a busy stream too.
            if self.stream.ping_due.swap(false, Ordering::Relaxed) {
                return Some(ping(self.app.clock.now()));
            }
            if let Some(frame) = self.frames.pop() {
                return Some(frame);
            }
            tokio::select! {
                read = self.subscription.next_batch(&mut self.frames, BATCH) => match read {
                    Ok(()) => self.frames.reverse(),
                    Err(_) => return None,
                },
                () = self.stream.news.notified() => {}
            }
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.app.streams.remove(&self.stream);
    }
}

/// Not an event: the stream is open, when to reconnect, and where it begins.
fn opening(app: &App, start: Option<String>) -> Bytes {
    let retry = RETRY_MS + app.ids.seed() % RETRY_MS;
    let id = start.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!(": open\nretry: {retry}\n{id}\n"))
}

fn ping(now: Millis) -> Bytes {
    Bytes::from(format!("event: PING\ndata: {{\"type\":\"PING\",\"at\":{now}}}\n\n"))
}

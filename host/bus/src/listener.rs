use crate::lane::Count;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::sync::Notify;

/// Why a subscription ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A newer subscription of the same server took its place.
    Replaced,
    /// Its reader fell too far behind; it can resume.
    TooSlow,
    /// The bus, or the network's part of it, was closed.
    Closed,
}

/// What the bus knows of a subscription while its reader is elsewhere.
pub(crate) struct Listener {
    pub(crate) server_id: Option<Arc<str>>,
    /// Read so far, of what was published since the subscription began. Both are changed and
    /// compared under the network's lock alone, hence relaxed.
    read_events: AtomicU64,
    read_bytes: AtomicU64,
    news: Notify,
    end: OnceLock<Option<End>>,
    ended: Notify,
}

impl Listener {
    pub(crate) fn new(server_id: Option<Arc<str>>) -> Self {
        Self {
            server_id,
            read_events: AtomicU64::new(0),
            read_bytes: AtomicU64::new(0),
            news: Notify::new(),
            end: OnceLock::new(),
            ended: Notify::new(),
        }
    }

    /// Starts counting what is unread from here.
    pub(crate) fn start_at(&self, pushed: Count) {
        self.read_events.store(pushed.events, Relaxed);
        self.read_bytes.store(pushed.bytes, Relaxed);
    }

    pub(crate) fn has_read(&self, bytes: usize) {
        self.read_events.fetch_add(1, Relaxed);
        self.read_bytes.fetch_add(bytes as u64, Relaxed);
    }

    /// What is unread when this much was published in the lanes it reads.
    pub(crate) fn unread(&self, pushed: Count) -> Count {
        Count {
            events: pushed.events - self.read_events.load(Relaxed),
            bytes: pushed.bytes - self.read_bytes.load(Relaxed),
        }
    }

    pub(crate) fn wake(&self) {
        self.news.notify_one();
    }

    /// Returns at once if `wake` was called since the last time.
    pub(crate) async fn news(&self) {
        self.news.notified().await;
    }

    /// Ends the subscription, if nothing has yet; `None` when its reader left by itself.
    pub(crate) fn finish(&self, end: Option<End>) {
        if self.end.set(end).is_ok() {
            self.news.notify_one();
            self.ended.notify_waiters();
        }
    }

    pub(crate) fn end(&self) -> Option<End> {
        self.end.get().copied().flatten()
    }
}

/// Tells whoever is not reading the subscription that it is over.
///
/// A stream whose client reads nothing is stuck in a write and never asks its subscription again:
/// whoever owns the connection waits for this and closes it.
pub struct Ended(pub(crate) Arc<Listener>);

impl Ended {
    /// Whether the end has come, without waiting for it.
    pub fn is_over(&self) -> bool {
        self.0.end.get().is_some()
    }

    /// Waits for the end. `None`: the subscription was dropped.
    pub async fn wait(self) -> Option<End> {
        let notified = self.0.ended.notified();
        // From its creation on, `notified` misses no `notify_waiters`.
        match self.0.end.get() {
            Some(end) => *end,
            None => {
                notified.await;
                self.0.end()
            }
        }
    }
}

use crate::count::{Count, SharedCount};
use futures_util::task::AtomicWaker;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
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
    pub(crate) opened_at_ms: i64,
    /// Everything ever published for this server alone, so that a reader need not look it up to
    /// find that there is nothing new.
    pub(crate) own: SharedCount,
    /// Read so far, of what was published since the subscription began, as if all that was
    /// published before had been read.
    pub(crate) read: SharedCount,
    news: AtomicBool,
    reader: AtomicWaker,
    end: OnceLock<Option<End>>,
    ended: Notify,
}

impl Listener {
    pub(crate) fn new(server_id: Option<Arc<str>>, opened_at_ms: i64) -> Self {
        Self {
            server_id,
            opened_at_ms,
            own: SharedCount::default(),
            read: SharedCount::default(),
            news: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            end: OnceLock::new(),
            ended: Notify::new(),
        }
    }

    /// What is published in the two lanes it reads, given how much there is in the common one.
    pub(crate) fn published(&self, everyone: Count) -> Count {
        let own = self.own.get();
        Count { events: everyone.events + own.events, bytes: everyone.bytes + own.bytes }
    }

    pub(crate) fn unread(&self, everyone: Count) -> Count {
        let (published, read) = (self.published(everyone), self.read.get());
        Count { events: published.events - read.events, bytes: published.bytes - read.bytes }
    }

    /// A reader that was told of news and did not come yet needs no second call.
    pub(crate) fn wake(&self) {
        if !self.news.swap(true, AcqRel) {
            self.reader.wake();
        }
    }

    /// Ready at once if `wake` was called since it was last ready. The reader is registered before
    /// the look, so that a call in between is not missed.
    pub(crate) fn poll_news(&self, context: &Context<'_>) -> Poll<()> {
        self.reader.register(context.waker());
        if self.news.swap(false, AcqRel) { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Ends the subscription, if nothing has yet; `None` when its reader left by itself.
    pub(crate) fn finish(&self, end: Option<End>) {
        if self.end.set(end).is_ok() {
            self.wake();
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
        if self.0.end.get().is_none() {
            notified.await;
        }
        self.0.end()
    }
}

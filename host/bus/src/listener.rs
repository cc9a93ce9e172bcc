use crate::count::{Count, SharedCount};
use futures_util::task::AtomicWaker;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::sync::Notify;

/// Reason for the end of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// A newer subscription of the same server replaced it.
    Replaced,
    /// Its reader lagged too far; it can resume.
    TooSlow,
    /// The bus, or the network's part of it, was closed.
    Closed,
}

/// Part of a subscription that publishers and the sweep see.
pub(crate) struct Listener {
    pub(crate) server_id: Option<Arc<str>>,
    /// Place in the order of openings: milliseconds, or later ones.
    pub(crate) opened_at: i64,
    /// All events ever published for this server alone: without new ones, a reader needs no look-up.
    pub(crate) targeted: SharedCount,
    /// Events read since the subscription began, counted as if all earlier ones had been read.
    pub(crate) read: SharedCount,
    woken: AtomicBool,
    reader: AtomicWaker,
    end: OnceLock<Option<EndReason>>,
    ended: Notify,
}

impl Listener {
    pub(crate) fn new(server_id: Option<Arc<str>>, opened_at: i64) -> Self {
        Self {
            server_id,
            opened_at,
            targeted: SharedCount::default(),
            read: SharedCount::default(),
            woken: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            end: OnceLock::new(),
            ended: Notify::new(),
        }
    }

    /// Everything published in the two queues it reads, given the total of the broadcast queue.
    pub(crate) fn published(&self, broadcast: Count) -> Count {
        let targeted = self.targeted.get();
        Count { events: broadcast.events + targeted.events, bytes: broadcast.bytes + targeted.bytes }
    }

    pub(crate) fn unread(&self, broadcast: Count) -> Count {
        let (published, read) = (self.published(broadcast), self.read.get());
        Count { events: published.events - read.events, bytes: published.bytes - read.bytes }
    }

    /// Wakes the reader, unless it was woken before and has not polled since.
    pub(crate) fn wake(&self) {
        if !self.woken.swap(true, AcqRel) {
            self.reader.wake();
        }
    }

    /// Ready at once if `wake` was called since it was last ready. Registers the reader before it
    /// checks, so that a call in between is not missed.
    pub(crate) fn poll_woken(&self, context: &Context<'_>) -> Poll<()> {
        self.reader.register(context.waker());
        if self.woken.swap(false, AcqRel) { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Ends the subscription if it has not ended yet; `None` when its reader leaves by itself.
    pub(crate) fn finish(&self, end: Option<EndReason>) {
        if self.end.set(end).is_ok() {
            self.wake();
            self.ended.notify_waiters();
        }
    }

    pub(crate) fn end(&self) -> Option<EndReason> {
        self.end.get().copied().flatten()
    }
}

/// Watches for the end of a subscription without reading it.
///
/// A stream whose client reads nothing is stuck in a write and never polls its subscription again:
/// the owner of the connection waits for this and closes it.
pub struct EndWatch(pub(crate) Arc<Listener>);

impl EndWatch {
    /// True once the subscription has ended.
    pub fn is_over(&self) -> bool {
        self.0.end.get().is_some()
    }

    /// Waits for the end. `None`: the subscription was dropped.
    pub async fn wait(self) -> Option<EndReason> {
        let notified = self.0.ended.notified();
        // `notified` misses no `notify_waiters` after its creation.
        if self.0.end.get().is_none() {
            notified.await;
        }
        self.0.end()
    }
}

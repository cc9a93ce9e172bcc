use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Current state of the bus, and its totals since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Networks that have events or streams, or had some recently.
    pub networks: u64,
    /// Open subscriptions.
    pub subscriptions: u64,
    /// Events that can be resumed from.
    pub retained_events: u64,
    /// Unread events of the slowest subscription.
    pub max_unread_events: u64,
    /// The bytes of their frames.
    pub retained_bytes: u64,
    /// Events published.
    pub published: u64,
    /// Subscriptions that could not resume after the requested event.
    pub resyncs: u64,
    /// Subscriptions replaced by a newer one of the same server.
    pub replaced: u64,
    /// Subscriptions disconnected because they lagged too far.
    pub too_slow: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    published: AtomicU64,
    resyncs: AtomicU64,
    replaced: AtomicU64,
    too_slow: AtomicU64,
}

impl Counters {
    pub(crate) fn record_published(&self) {
        self.published.fetch_add(1, Relaxed);
    }

    pub(crate) fn record_subscribed(&self, resync: bool, replaced: bool) {
        self.resyncs.fetch_add(u64::from(resync), Relaxed);
        self.replaced.fetch_add(u64::from(replaced), Relaxed);
    }

    pub(crate) fn record_too_slow(&self, subscriptions: u64) {
        self.too_slow.fetch_add(subscriptions, Relaxed);
    }

    pub(crate) fn read(&self) -> Stats {
        Stats {
            published: self.published.load(Relaxed),
            resyncs: self.resyncs.load(Relaxed),
            replaced: self.replaced.load(Relaxed),
            too_slow: self.too_slow.load(Relaxed),
            ..Stats::default()
        }
    }
}

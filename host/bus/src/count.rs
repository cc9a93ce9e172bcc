use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number of events and the bytes of their frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) events: u64,
    pub(crate) bytes: u64,
}

/// A count outside its network's lock that is only read and changed under that lock: hence relaxed.
#[derive(Default)]
pub(crate) struct SharedCount {
    events: AtomicU64,
    bytes: AtomicU64,
}

impl SharedCount {
    pub(crate) fn get(&self) -> Count {
        Count { events: self.events.load(Relaxed), bytes: self.bytes.load(Relaxed) }
    }

    pub(crate) fn set(&self, count: Count) {
        self.events.store(count.events, Relaxed);
        self.bytes.store(count.bytes, Relaxed);
    }

    pub(crate) fn add(&self, bytes: usize) {
        let before = self.get();
        self.set(Count { events: before.events + 1, bytes: before.bytes + bytes as u64 });
    }
}

use crate::count::Count;
use bytes::Bytes;
use std::collections::VecDeque;

pub(crate) struct Entry {
    pub(crate) sequence: u64,
    pub(crate) at_ms: i64,
    pub(crate) frame: Bytes,
}

/// What is behind the horizon has expired: at or before a time, or at or before a sequence.
#[derive(Clone, Copy)]
pub(crate) struct Horizon {
    pub(crate) at_ms: i64,
    pub(crate) sequence: u64,
}

/// A part of a network's sequence that is read as a whole: the events for every stream, or those
/// for one server. A reader's position in it is the number of entries before it.
///
/// Were there one list for all, a stream would have to skip the events of every other server, and
/// would seem far behind whenever the others are busy.
#[derive(Default)]
pub(crate) struct Lane {
    entries: VecDeque<Entry>,
    pushed: Count,
    bytes: u64,
    /// The newest sequence that may have been in this lane and is gone.
    lost: u64,
}

/// The entry asked for expired before it was read.
pub(crate) struct Lost;

impl Lane {
    /// An empty lane about whose events up to `sequence` nothing is known.
    pub(crate) fn after(sequence: u64) -> Self {
        Self { lost: sequence, ..Self::default() }
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        let bytes = entry.frame.len() as u64;
        self.pushed.events += 1;
        self.pushed.bytes += bytes;
        self.bytes += bytes;
        self.entries.push_back(entry);
    }

    /// Drops the oldest entry; the bytes it took.
    pub(crate) fn drop_oldest(&mut self) -> u64 {
        let Some(entry) = self.entries.pop_front() else {
            return 0;
        };
        let bytes = entry.frame.len() as u64;
        self.bytes -= bytes;
        self.lost = entry.sequence;
        bytes
    }

    /// Drops what has expired; the bytes it took.
    pub(crate) fn expire(&mut self, horizon: Horizon) -> u64 {
        let mut freed = 0;
        while let Some(oldest) = self.entries.front() {
            if oldest.at_ms > horizon.at_ms && oldest.sequence > horizon.sequence {
                break;
            }
            freed += self.drop_oldest();
        }
        freed
    }

    /// Gives the room of a past rush back.
    pub(crate) fn shrink(&mut self) {
        if self.entries.capacity() > 64.max(self.entries.len() * 4) {
            self.entries.shrink_to(self.entries.len() * 2);
        }
    }

    /// The position after everything up to `sequence`; `None` where entries after it are gone.
    pub(crate) fn position_after(&self, sequence: u64) -> Option<u64> {
        let seen = self.entries.partition_point(|entry| entry.sequence <= sequence);
        (sequence >= self.lost).then_some(self.first() + seen as u64)
    }

    /// The entry at a position, or `None` at the end.
    pub(crate) fn get(&self, position: u64) -> Result<Option<&Entry>, Lost> {
        let index = position.checked_sub(self.first()).ok_or(Lost)?;
        Ok(self.entries.get(index as usize))
    }

    fn first(&self) -> u64 {
        self.pushed.events - self.entries.len() as u64
    }

    /// All that was ever pushed. Its `events` is the position at the end.
    pub(crate) fn pushed(&self) -> Count {
        self.pushed
    }

    /// What is kept now.
    pub(crate) fn kept(&self) -> Count {
        Count { events: self.entries.len() as u64, bytes: self.bytes }
    }

    /// The newest sequence that may have been in this lane and is gone.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }
}

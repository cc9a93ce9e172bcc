use crate::count::Count;
use crate::event::empty_frame;
use bytes::Bytes;
use std::collections::VecDeque;

pub(crate) struct QueuedEvent {
    pub(crate) sequence: u64,
    /// Number of its network's events before it.
    pub(crate) ordinal: u64,
    pub(crate) at_ms: i64,
    pub(crate) frame: Bytes,
}

/// Events at or before this time, or before this ordinal, have expired.
#[derive(Clone, Copy)]
pub(crate) struct Cutoff {
    pub(crate) at_ms: i64,
    pub(crate) ordinal: u64,
}

/// The retained events for every stream, or those for one server. A reader's position in it is the
/// number of events before it.
///
/// With one queue for all, a stream would have to skip the events of every other server, and would
/// seem to lag whenever the others are busy.
#[derive(Default)]
pub(crate) struct EventQueue {
    events: VecDeque<QueuedEvent>,
    pushed: Count,
    bytes: u64,
    dropped_up_to: u64,
}

/// The reader lags so far that its next event expired.
pub(crate) struct TooSlow;

impl EventQueue {
    /// An empty queue whose events up to `sequence` are unknown.
    pub(crate) fn starting_after(sequence: u64) -> Self {
        Self { dropped_up_to: sequence, ..Self::default() }
    }

    pub(crate) fn push(&mut self, event: QueuedEvent) {
        let bytes = event.frame.len() as u64;
        self.pushed.events += 1;
        self.pushed.bytes += bytes;
        self.bytes += bytes;
        self.events.push_back(event);
    }

    /// Drops the oldest event; returns the bytes it took.
    pub(crate) fn drop_oldest(&mut self) -> u64 {
        let Some(event) = self.events.pop_front() else {
            return 0;
        };
        let bytes = event.frame.len() as u64;
        self.bytes -= bytes;
        self.dropped_up_to = event.sequence;
        bytes
    }

    /// Drops expired events; returns their bytes.
    pub(crate) fn expire(&mut self, cutoff: Cutoff) -> u64 {
        let mut freed = 0;
        while let Some(oldest) = self.events.front() {
            if oldest.at_ms > cutoff.at_ms && oldest.ordinal >= cutoff.ordinal {
                break;
            }
            freed += self.drop_oldest();
        }
        freed
    }

    /// Replaces the frames of events that must not be sent any more by empty ones of the same length.
    pub(crate) fn redact(&mut self, is_redacted: &dyn Fn(&[u8]) -> bool) {
        for event in &mut self.events {
            if is_redacted(&event.frame) {
                event.frame = empty_frame(&event.frame);
            }
        }
    }

    /// Frees capacity left over from a past burst.
    pub(crate) fn shrink(&mut self) {
        if self.events.capacity() > 64.max(self.events.len() * 4) {
            self.events.shrink_to(self.events.len() * 2);
        }
    }

    /// Position after all events up to `sequence`; `None` if events after it were dropped.
    pub(crate) fn position_after(&self, sequence: u64) -> Option<u64> {
        let seen = self.events.partition_point(|event| event.sequence <= sequence);
        (sequence >= self.dropped_up_to).then_some(self.first() + seen as u64)
    }

    /// The event at a position, or `None` at the end.
    pub(crate) fn get(&self, position: u64) -> Result<Option<&QueuedEvent>, TooSlow> {
        let index = position.checked_sub(self.first()).ok_or(TooSlow)?;
        Ok(self.events.get(index as usize))
    }

    fn first(&self) -> u64 {
        self.pushed.events - self.events.len() as u64
    }

    /// All events ever pushed; `events` is the position at the end.
    pub(crate) fn pushed(&self) -> Count {
        self.pushed
    }

    pub(crate) fn retained(&self) -> Count {
        Count { events: self.events.len() as u64, bytes: self.bytes }
    }

    /// The newest sequence that this queue may have held and no longer has.
    pub(crate) fn dropped_up_to(&self) -> u64 {
        self.dropped_up_to
    }
}

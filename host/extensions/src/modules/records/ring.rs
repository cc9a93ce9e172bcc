//! The recorded calls of one point of one network.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::clock::Millis;
use crate::modules::records::Record;

/// Calls kept.
pub(in crate::modules) const MAX_CALLS: usize = 1000;
const MAX_CALLS_BYTES: usize = 3 << 20;
/// Failed calls kept besides.
const MAX_FAILED: usize = 100;
const MAX_FAILED_BYTES: usize = 1 << 20;
/// Size of a burst of samples before the rate drops to one per interval: all that is kept, and then the calls of 20 s.
const SAMPLE_BURST: i64 = MAX_CALLS as i64;
const SAMPLE_INTERVAL: Millis = 20;

/// The latest calls, and separately the latest failed ones.
#[derive(Default)]
pub(super) struct PointRecords {
    latest: Ring,
    failed: Ring,
    next: u64,
    /// Available samples, and the time of that count.
    samples: Option<(i64, Millis)>,
    is_closed: bool,
}

/// Calls with their numbers, oldest first.
#[derive(Default)]
struct Ring {
    calls: VecDeque<(u64, Arc<Record>)>,
    bytes: usize,
}

impl Ring {
    fn add(&mut self, number: u64, record: Arc<Record>, max: usize, max_bytes: usize, dropped: &mut Vec<Arc<Record>>) {
        self.bytes += record.bytes();
        self.calls.push_back((number, record));
        while self.calls.len() > max || self.bytes > max_bytes {
            let Some((_, oldest)) = self.calls.pop_front() else { break };
            self.bytes -= oldest.bytes();
            dropped.push(oldest);
        }
    }
}

impl PointRecords {
    fn bytes(&self) -> usize {
        self.latest.bytes + self.failed.bytes
    }

    /// Adds a call. Returns the bytes before and after, and the dropped calls.
    pub(super) fn add(&mut self, record: Arc<Record>) -> (usize, usize, Vec<Arc<Record>>) {
        let (before, mut dropped) = (self.bytes(), vec![]);
        if self.is_closed {
            return (0, 0, dropped);
        }
        let number = self.next;
        self.next += 1;
        if record.has_failed() {
            self.failed.add(number, Arc::clone(&record), MAX_FAILED, MAX_FAILED_BYTES, &mut dropped);
        }
        self.latest.add(number, record, MAX_CALLS, MAX_CALLS_BYTES, &mut dropped);
        (before, self.bytes(), dropped)
    }

    /// Drops the calls that `is_kept` rejects. Returns the bytes before and after.
    pub(super) fn retain(&mut self, is_kept: &dyn Fn(&Record) -> bool) -> (usize, usize) {
        let before = self.bytes();
        for ring in [&mut self.latest, &mut self.failed] {
            ring.calls.retain(|(_, record)| is_kept(record));
            ring.bytes = ring.calls.iter().map(|(_, record)| record.bytes()).sum();
        }
        (before, self.bytes())
    }

    /// Accepts no more calls. Returns the bytes of those it holds.
    pub(super) fn close(&mut self) -> usize {
        self.is_closed = true;
        self.bytes()
    }

    pub(super) fn newest(&self, limit: usize) -> Vec<Arc<Record>> {
        self.latest.calls.iter().rev().take(limit).map(|(_, record)| Arc::clone(record)).collect()
    }

    pub(super) fn all(&self) -> Vec<Arc<Record>> {
        let oldest = self.latest.calls.front().map_or(self.next, |(number, _)| *number);
        let failed = self.failed.calls.iter().rev().filter(|(number, _)| *number < oldest);
        let latest = self.latest.calls.iter().rev();
        latest.chain(failed).map(|(_, record)| Arc::clone(record)).collect()
    }

    pub(super) fn take_sample(&mut self, now: Millis) -> bool {
        let (left, since) = self.samples.unwrap_or((SAMPLE_BURST, now));
        let gained = now.saturating_sub(since).max(0) / SAMPLE_INTERVAL;
        let left = left.saturating_add(gained).min(SAMPLE_BURST);
        let taken = left > 0;
        let since = since.saturating_add(gained.saturating_mul(SAMPLE_INTERVAL));
        self.samples = Some((left - i64::from(taken), since));
        taken
    }
}

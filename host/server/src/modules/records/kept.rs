//! The calls of one point of one network.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::clock::Millis;
use crate::modules::records::Record;

/// Calls kept.
pub(in crate::modules) const CALLS: usize = 1000;
const CALLS_BYTES: usize = 3 << 20;
/// Failed calls kept besides.
const FAILED: usize = 100;
const FAILED_BYTES: usize = 1 << 20;
/// Calls that are sampled at once …
const SAMPLES: i64 = 100;
/// … before it is one in this time.
const SAMPLE_EVERY: Millis = 50;

/// See the module.
#[derive(Default)]
pub(super) struct Kept {
    latest: Ring,
    failed: Ring,
    next: u64,
    /// Samples that may be taken, and since when that is known.
    samples: Option<(i64, Millis)>,
    ended: bool,
}

/// Calls with their numbers, the oldest first.
#[derive(Default)]
struct Ring {
    calls: VecDeque<(u64, Arc<Record>)>,
    bytes: usize,
}

impl Ring {
    fn add(
        &mut self,
        number: u64,
        record: Arc<Record>,
        most: usize,
        most_bytes: usize,
        dropped: &mut Vec<Arc<Record>>,
    ) {
        self.bytes += record.bytes();
        self.calls.push_back((number, record));
        while self.calls.len() > most || self.bytes > most_bytes {
            let Some((_, oldest)) = self.calls.pop_front() else { break };
            self.bytes -= oldest.bytes();
            dropped.push(oldest);
        }
    }
}

impl Kept {
    fn bytes(&self) -> usize {
        self.latest.bytes + self.failed.bytes
    }

    /// Keeps a call. Answers how many bytes were kept before and are now, and what went.
    pub(super) fn add(&mut self, record: Arc<Record>) -> (usize, usize, Vec<Arc<Record>>) {
        let (before, mut dropped) = (self.bytes(), vec![]);
        if self.ended {
            return (0, 0, dropped);
        }
        let number = self.next;
        self.next += 1;
        if record.has_failed() {
            self.failed.add(number, Arc::clone(&record), FAILED, FAILED_BYTES, &mut dropped);
        }
        self.latest.add(number, record, CALLS, CALLS_BYTES, &mut dropped);
        (before, self.bytes(), dropped)
    }

    /// Nothing more is kept here. Answers the bytes that were.
    pub(super) fn end(&mut self) -> usize {
        self.ended = true;
        self.bytes()
    }

    pub(super) fn newest(&self, most: usize) -> Vec<Arc<Record>> {
        self.latest.calls.iter().rev().take(most).map(|(_, record)| Arc::clone(record)).collect()
    }

    pub(super) fn all(&self) -> Vec<Arc<Record>> {
        let oldest = self.latest.calls.front().map_or(self.next, |(number, _)| *number);
        let failed = self.failed.calls.iter().rev().filter(|(number, _)| *number < oldest);
        let latest = self.latest.calls.iter().rev();
        latest.chain(failed).map(|(_, record)| Arc::clone(record)).collect()
    }

    pub(super) fn samples(&mut self, now: Millis) -> bool {
        let (left, since) = self.samples.unwrap_or((SAMPLES, now));
        let gained = now.saturating_sub(since).max(0) / SAMPLE_EVERY;
        let left = left.saturating_add(gained).min(SAMPLES);
        let taken = left > 0;
        let since = since.saturating_add(gained.saturating_mul(SAMPLE_EVERY));
        self.samples = Some((left - i64::from(taken), since));
        taken
    }
}

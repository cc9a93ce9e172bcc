//! Recent costs of a link's calls: two histograms of about a kilobyte, updated under a short lock.

use crate::report::{CallFailure, CallReport};
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::BTreeMap;

/// Buckets per power of two: a percentile is off by 6 % at most.
const SPLIT: usize = 8;
/// Microseconds up to a minute.
const MICROS_BUCKETS: usize = 24 * SPLIT;
/// Fuel up to a trillion.
const FUEL_BUCKETS: usize = 38 * SPLIT;
/// Number of calls at which all counts are halved, so that the recent ones weigh most.
const HALVE_AT: u32 = 4096;

/// A link's statistics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkStats {
    /// Calls since the link was created.
    pub calls: u64,
    /// Number of them that failed, for any reason other than being late.
    pub failures: u64,
    /// Number of them whose caller did not wait until their end.
    pub late: u64,
    /// The median time in microseconds, over the recent calls that ran.
    pub p50_micros: u64,
    /// The 99th percentile of it.
    pub p99_micros: u64,
    /// The median fuel.
    pub fuel_p50: u64,
    /// Maximum memory of any of the recent calls.
    pub memory_peak_bytes: usize,
    /// Outcomes of calls: `ok`, or the code of their failure.
    pub outcomes: BTreeMap<&'static str, u64>,
}

#[derive(Debug)]
pub(super) struct Stats(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    calls: u64,
    failures: u64,
    late: u64,
    micros: Histogram<MICROS_BUCKETS>,
    fuel: Histogram<FUEL_BUCKETS>,
    memory: RecentMax,
    outcomes: BTreeMap<&'static str, u64>,
}

impl Default for Stats {
    fn default() -> Self {
        Self(Mutex::new(Inner {
            calls: 0,
            failures: 0,
            late: 0,
            micros: Histogram::new(),
            fuel: Histogram::new(),
            memory: RecentMax::default(),
            outcomes: BTreeMap::new(),
        }))
    }
}

impl Stats {
    pub(super) fn record<T>(&self, report: &CallReport<T>) {
        let mut inner = self.0.lock();
        inner.calls += 1;
        let is_late = matches!(report.result, Err(CallFailure::Late(_)));
        inner.late += u64::from(is_late);
        inner.failures += u64::from(report.result.is_err() && !is_late);
        let outcome = report.result.as_ref().err().map_or("ok", CallFailure::code);
        *inner.outcomes.entry(outcome).or_default() += 1;
        // A call that never ran has no cost.
        if report.micros > 0 {
            inner.micros.add(report.micros);
            inner.fuel.add(report.fuel);
            inner.memory.add(report.memory_bytes);
        }
    }

    pub(super) fn read(&self) -> LinkStats {
        let inner = self.0.lock();
        LinkStats {
            calls: inner.calls,
            failures: inner.failures,
            late: inner.late,
            p50_micros: inner.micros.percentile(50),
            p99_micros: inner.micros.percentile(99),
            fuel_p50: inner.fuel.percentile(50),
            memory_peak_bytes: inner.memory.read(),
            outcomes: inner.outcomes.clone(),
        }
    }
}

/// The largest of the recent values: of those in this window and in the one before.
#[derive(Debug, Default)]
struct RecentMax {
    before: usize,
    now: usize,
    seen: u32,
}

impl RecentMax {
    fn add(&mut self, value: usize) {
        if self.seen >= HALVE_AT / 2 {
            *self = Self { before: self.now, now: 0, seen: 0 };
        }
        self.now = self.now.max(value);
        self.seen += 1;
    }

    fn read(&self) -> usize {
        self.before.max(self.now)
    }
}

/// Counts per bucket; bucket widths grow with the value.
#[derive(Debug)]
struct Histogram<const N: usize> {
    counts: [u16; N],
    total: u32,
}

impl<const N: usize> Histogram<N> {
    const fn new() -> Self {
        Self { counts: [0; N], total: 0 }
    }

    fn add(&mut self, value: u64) {
        if self.total >= HALVE_AT {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.total = self.counts.iter().map(|&count| u32::from(count)).sum();
        }
        self.counts[bucket(value).min(N - 1)] += 1;
        self.total += 1;
    }

    /// The middle of the bucket the percentile falls into; 0 before the first value.
    fn percentile(&self, percent: u32) -> u64 {
        let rank = (self.total * percent).div_ceil(100).max(1);
        let mut below = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            below += u32::from(count);
            if below >= rank {
                return middle(index);
            }
        }
        0
    }
}

fn bucket(value: u64) -> usize {
    let power = value.max(1).ilog2() as usize;
    if power < 3 {
        return value as usize;
    }
    (power - 2) * SPLIT + ((value >> (power - 3)) as usize & (SPLIT - 1))
}

fn middle(index: usize) -> u64 {
    if index < SPLIT {
        return index as u64;
    }
    let shift = index / SPLIT - 1;
    let low = ((SPLIT + index % SPLIT) as u64) << shift;
    low + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_values_bucket_is_close_to_the_value() {
        for value in (0..10_000).chain([123_456, 9_999_999, 800_000_000]) {
            let middle = middle(bucket(value));
            assert!(middle.abs_diff(value) * 16 <= value.max(1), "{value} became {middle}");
        }
    }

    #[test]
    fn the_largest_value_is_forgotten_in_time() {
        let mut max = RecentMax::default();
        max.add(9);
        max.add(5);
        assert_eq!(max.read(), 9);
        (0..HALVE_AT).for_each(|_| max.add(3));
        assert_eq!(max.read(), 3);
    }

    #[test]
    fn percentiles_follow_the_recent_values() {
        let mut histogram = Histogram::<MICROS_BUCKETS>::new();
        assert_eq!(histogram.percentile(50), 0);
        for value in 1..=1000 {
            histogram.add(value);
        }
        assert!(histogram.percentile(50).abs_diff(500) < 40);
        assert!(histogram.percentile(99).abs_diff(990) < 70);
        for _ in 0..20_000 {
            histogram.add(7);
        }
        assert_eq!(histogram.percentile(99), 7);
        histogram.add(u64::MAX);
    }
}

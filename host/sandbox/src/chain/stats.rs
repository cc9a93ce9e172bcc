//! What a link has cost lately: two histograms of about a kilobyte, updated under a short lock.

use crate::report::CallReport;
use parking_lot::Mutex;
use serde::Serialize;

/// Buckets per power of two: a percentile is off by 6 % at most.
const SPLIT: usize = 8;
/// Microseconds up to a minute.
const MICROS_BUCKETS: usize = 24 * SPLIT;
/// Fuel up to a trillion.
const FUEL_BUCKETS: usize = 38 * SPLIT;
/// When this many calls are counted, all counts are halved, so that the recent ones weigh most.
const HALVE_AT: u32 = 4096;

/// A link's statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkStats {
    /// Calls since the link was made.
    pub calls: u64,
    /// Those of them that failed, for whatever reason.
    pub failures: u64,
    /// The median time in microseconds, over the recent calls that ran.
    pub p50_micros: u64,
    /// The 99th percentile of it.
    pub p99_micros: u64,
    /// The median fuel.
    pub fuel_p50: u64,
}

#[derive(Debug)]
pub(super) struct Stats(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    calls: u64,
    failures: u64,
    micros: Histogram<MICROS_BUCKETS>,
    fuel: Histogram<FUEL_BUCKETS>,
}

impl Default for Stats {
    fn default() -> Self {
        Self(Mutex::new(Inner { calls: 0, failures: 0, micros: Histogram::new(), fuel: Histogram::new() }))
    }
}

impl Stats {
    pub(super) fn record<T>(&self, report: &CallReport<T>) {
        let mut inner = self.0.lock();
        inner.calls += 1;
        inner.failures += u64::from(report.result.is_err());
        // A call that never ran says nothing about the module's cost.
        if report.micros > 0 {
            inner.micros.add(report.micros);
            inner.fuel.add(report.fuel);
        }
    }

    pub(super) fn read(&self) -> LinkStats {
        let inner = self.0.lock();
        LinkStats {
            calls: inner.calls,
            failures: inner.failures,
            p50_micros: inner.micros.percentile(50),
            p99_micros: inner.micros.percentile(99),
            fuel_p50: inner.fuel.percentile(50),
        }
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

//! Token buckets: a burst, and a rate per second.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::clock::Millis;
use crate::http::rate_limit::RateState;

const NANOS_PER_MILLI: i64 = 1_000_000;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// Rate of tokens and size of the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// Nanoseconds between tokens.
    interval: i64,
    burst: i64,
}

impl Rate {
    /// At least one each; at most a billion per second.
    pub(crate) const fn per_second(tokens: i64, burst: i64) -> Self {
        let tokens = if tokens < 1 { 1 } else { tokens };
        let interval = NANOS_PER_SECOND / tokens;
        Self { interval: if interval < 1 { 1 } else { interval }, burst: if burst < 1 { 1 } else { burst } }
    }

    /// One token per `interval`.
    pub(super) const fn every(interval: Duration, burst: i64) -> Self {
        Self { interval: interval.as_millis() as i64 * NANOS_PER_MILLI, burst }
    }

    /// Tokens in a full bucket.
    #[cfg(test)]
    pub(crate) const fn burst(self) -> i64 {
        self.burst
    }

    /// State of a bucket for the `RateLimit` headers.
    pub(super) const fn state(self, policy: &'static str, level: BucketLevel) -> RateState {
        let BucketLevel { remaining, full_in, .. } = level;
        RateState { policy, quota: self.burst, window: seconds(self.capacity()), remaining, reset: full_in }
    }

    /// Time to fill an empty bucket, in nanoseconds.
    const fn capacity(self) -> i64 {
        self.interval.saturating_mul(self.burst)
    }
}

/// Whole seconds, at least one.
const fn seconds(nanos: i64) -> i64 {
    let whole = (nanos + NANOS_PER_SECOND - 1) / NANOS_PER_SECOND;
    if whole < 1 { 1 } else { whole }
}

/// Level of a bucket after a token was taken or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BucketLevel {
    /// Whole tokens.
    pub remaining: i64,
    /// Seconds until it is full.
    pub(crate) full_in: i64,
    /// Seconds until the next token if there is none.
    pub(crate) next_in: i64,
}

/// A bucket, full at first. It stores the time at which it will be full again, so that it needs neither lock nor
/// timer, and its rate may change.
#[derive(Debug, Default)]
pub(crate) struct TokenBucket(AtomicI64);

impl TokenBucket {
    /// Takes a token if there is one.
    pub(super) fn take(&self, rate: Rate, now: Millis) -> Result<BucketLevel, BucketLevel> {
        let now = now.saturating_mul(NANOS_PER_MILLI);
        let latest = now.saturating_add(rate.capacity());
        let before = self.0.update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
            // A bucket emptied at a slower rate is just empty at the new one.
            let full_at = full_at.clamp(now, latest);
            let after = full_at.saturating_add(rate.interval);
            if after <= latest { after } else { full_at }
        });
        let before = before.clamp(now, latest);
        let after = before.saturating_add(rate.interval);
        if after <= latest { Ok(level(after - now, rate)) } else { Err(level(before - now, rate)) }
    }

    /// True if a token is available.
    pub(crate) fn has_token(&self, rate: Rate, now: Millis) -> bool {
        let now = now.saturating_mul(NANOS_PER_MILLI);
        let latest = now.saturating_add(rate.capacity());
        self.0.load(Ordering::Relaxed).max(now).saturating_add(rate.interval) <= latest
    }

    /// Takes tokens even if there are not enough: the deficit has to be refilled first.
    pub(crate) fn charge(&self, rate: Rate, now: Millis, tokens: i64) {
        let now = now.saturating_mul(NANOS_PER_MILLI);
        let added = rate.interval.saturating_mul(tokens);
        self.0.update(Ordering::Relaxed, Ordering::Relaxed, |full_at| full_at.max(now).saturating_add(added));
    }
}

fn level(missing: i64, rate: Rate) -> BucketLevel {
    let left = rate.capacity().saturating_sub(missing).max(0);
    BucketLevel {
        remaining: left / rate.interval,
        full_in: seconds(missing),
        next_in: seconds(rate.interval.saturating_sub(left)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_served_and_then_the_rate() {
        let (bucket, rate) = (TokenBucket::default(), Rate::per_second(10, 3));
        for remaining in [2, 1, 0] {
            assert_eq!(bucket.take(rate, 1_000).unwrap().remaining, remaining);
        }
        let refused = bucket.take(rate, 1_000).unwrap_err();
        assert_eq!(refused, BucketLevel { remaining: 0, full_in: 1, next_in: 1 });
        bucket.take(rate, 1_099).unwrap_err();
        bucket.take(rate, 1_100).unwrap();
        bucket.take(rate, 1_100).unwrap_err();
        assert_eq!(bucket.take(rate, 60_000).unwrap().remaining, 2);
    }

    #[test]
    fn slow_rates_say_how_long_to_wait() {
        let (bucket, rate) = (TokenBucket::default(), Rate::every(Duration::from_secs(30), 2));
        assert_eq!(bucket.take(rate, 0).unwrap().full_in, 30);
        assert_eq!(bucket.take(rate, 0).unwrap().full_in, 60);
        assert_eq!(bucket.take(rate, 10_000).unwrap_err().next_in, 20);
        let state = rate.state("test", bucket.take(rate, 30_000).unwrap());
        assert_eq!((state.quota, state.window, state.remaining, state.reset), (2, 60, 0, 60));
    }

    #[test]
    fn a_new_rate_counts_at_once() {
        let bucket = TokenBucket::default();
        let (slow, fast) = (Rate::per_second(1, 100), Rate::per_second(1_000, 1_000));
        while bucket.take(slow, 0).is_ok() {}
        bucket.take(fast, 0).unwrap_err();
        bucket.take(fast, 1).unwrap();
    }

    #[test]
    fn a_charge_may_be_more_than_there_is() {
        let (bucket, rate) = (TokenBucket::default(), Rate::per_second(10, 10));
        assert!(bucket.has_token(rate, 0));
        bucket.charge(rate, 0, 25);
        assert!(!bucket.has_token(rate, 1_500));
        assert!(bucket.has_token(rate, 1_600));
    }

    #[test]
    fn threads_take_no_token_twice() {
        let (bucket, rate) = (TokenBucket::default(), Rate::per_second(1, 1_000));
        let taken: usize = std::thread::scope(|scope| {
            let takes = || (0..1_000).filter(|_| bucket.take(rate, 0).is_ok()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(takes)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(taken, 1_000);
    }
}

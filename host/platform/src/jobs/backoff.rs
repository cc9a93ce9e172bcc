//! Pauses after failed attempts.

use std::time::Duration;

use crate::clock::{Millis, millis};

/// Pause after the first failure, doubled after each further one up to the longest.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    pub first: Duration,
    pub longest: Duration,
}

impl Backoff {
    /// Pause after so many failed attempts: up to a tenth shorter, so that what failed together is not retried together.
    pub(super) fn pause(&self, attempts: i64, seed: u64) -> Millis {
        let doubled = millis(self.first).saturating_mul(1 << (attempts - 1).clamp(0, 30));
        let usual = doubled.min(millis(self.longest));
        let shorter = seed % (usual.unsigned_abs() / 10 + 1);
        usual.saturating_sub_unsigned(shorter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_differ() {
        let backoff = Backoff { first: Duration::from_secs(60), longest: Duration::from_mins(30) };
        assert_eq!([1, 2, 3, 100].map(|attempts| backoff.pause(attempts, 0)), [60_000, 120_000, 240_000, 1_800_000]);
        for seed in [0, 7, 1 << 40, u64::MAX] {
            assert!((54_000..=60_000).contains(&backoff.pause(1, seed)));
        }
        assert_ne!(backoff.pause(3, 1), backoff.pause(3, 2));
    }
}

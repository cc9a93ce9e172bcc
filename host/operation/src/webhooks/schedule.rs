//! Retries of failed deliveries, and their end.

use std::time::Duration;

use crate::clock::{Millis, millis};

/// Time for which a delivery is tried, from its queueing.
pub(super) const TTL: Duration = Duration::from_hours(24);
/// A webhook without a success for this long is disabled.
pub(super) const DISABLED_AFTER: Duration = Duration::from_hours(5 * 24);
/// Maximum pause that a receiver may ask for.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// Pauses after the first failure, the second and so on; the last one repeats.
const PAUSES: [Duration; 6] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(10),
    Duration::from_mins(30),
    LONGEST_PAUSE,
];

/// Pause after so many consecutive failures, a tenth longer or shorter, so that webhooks that failed together do not
/// all return together. A receiver may ask for a longer one.
pub(super) fn pause(failures: i64, asked: Option<Duration>, seed: u64) -> Millis {
    let nth = usize::try_from(failures.saturating_sub(1)).unwrap_or(0).min(PAUSES.len() - 1);
    let usual = millis(PAUSES[nth]);
    let tenth = usual / 10;
    let jitter = i64::try_from(seed % (2 * tenth.unsigned_abs() + 1)).unwrap_or(0) - tenth;
    let asked = asked.map_or(0, |asked| millis(asked.min(LONGEST_PAUSE)));
    (usual + jitter).max(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_an_hour_and_differ() {
        let average = |failures| pause(failures, None, u64::try_from(millis(PAUSES[0])).unwrap() / 10);
        assert_eq!(average(1), 5_000);
        for seed in [0, 7, 1 << 40, u64::MAX] {
            assert!((4_500..=5_500).contains(&pause(1, None, seed)));
            assert!((3_240_000..=3_960_000).contains(&pause(100, None, seed)));
        }
        assert_ne!(pause(3, None, 1), pause(3, None, 2));
        assert_eq!(pause(1, Some(Duration::from_secs(90)), 0), 90_000);
        assert_eq!(pause(1, Some(Duration::from_hours(1_000)), 0), 3_600_000);
        // Without a success within a day, it is tried some thirty times.
        let mut attempts = (0, 0);
        while attempts.1 < millis(TTL) {
            attempts = (attempts.0 + 1, attempts.1 + pause(attempts.0 + 1, None, 0));
        }
        assert!((25..35).contains(&attempts.0), "{attempts:?}");
    }
}

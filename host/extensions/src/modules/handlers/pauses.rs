//! Attempts at an event, and the pauses between them.

use crate::clock::Millis;
use crate::modules::handlers::model::LetterKind;

/// Seconds after the first failed attempt, the second and so on.
const PAUSES: [Millis; 7] = [1, 4, 16, 64, 256, 900, 900];
/// Attempts where a repetition may help.
const MANY: i64 = 8;
/// Attempts where the same call would most likely fail in the same way.
const FEW: i64 = 3;

/// Maximum number of attempts after a failure with this code.
pub(super) fn max_attempts(kind: LetterKind, code: &str) -> i64 {
    match code {
        "reject" => 1,
        // The next tick may succeed.
        _ if kind == LetterKind::Tick => FEW,
        "timed_out" | "late" | "unavailable" | "retry" => MANY,
        _ => FEW,
    }
}

fn usual(attempts: i64) -> Millis {
    let nth = usize::try_from(attempts - 1).unwrap_or(0).min(PAUSES.len() - 1);
    PAUSES[nth] * 1_000
}

/// Longest pause after so many failed attempts.
pub(super) fn longest(attempts: i64) -> Millis {
    usual(attempts) * 6 / 5
}

/// Pause after so many failed attempts: up to a fifth longer or shorter.
pub(super) fn pause(attempts: i64, seed: u64) -> Millis {
    let usual = usual(attempts);
    let fifth = usual / 5;
    usual - fifth + i64::try_from(seed % (2 * fifth.unsigned_abs() + 1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_fifteen_minutes_and_differ() {
        for (attempts, usual) in [(1, 1_000_i64), (2, 4_000), (3, 16_000), (7, 900_000), (9, 900_000)] {
            assert_eq!((pause(attempts, 0), pause(attempts, usual.unsigned_abs() / 5)), (usual * 4 / 5, usual));
            assert!((0..100).all(|seed| (usual * 4 / 5..=longest(attempts)).contains(&pause(attempts, seed * 7_919))));
        }
        assert_eq!(
            [1, 3, 3, 8, 8].to_vec(),
            ["reject", "trap", "refused_effect", "retry", "late"].map(|code| max_attempts(LetterKind::Event, code))
        );
        assert_eq!(max_attempts(LetterKind::Tick, "retry"), 3);
    }
}

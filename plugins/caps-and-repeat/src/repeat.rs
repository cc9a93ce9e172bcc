//! Repeated lines.

use crate::config::Repeat;
use network_hub_module::chat::visible;
use network_hub_module::{HostError, store};

/// Characters of a line that are remembered.
const MAX_CHARS: usize = 200;
/// Maximum number of remembered lines.
const MAX_LINES: usize = 20;

/// True if a player sent a similar line recently; if not, remembers this one.
pub(crate) fn is_repeated(repeat: &Repeat, player: &str, now_ms: u64, message: &str) -> Result<bool, HostError> {
    let lines = repeat.lines.clamp(1, MAX_LINES);
    let line = normalize(message);
    if line.chars().count() < repeat.min_letters.max(1) {
        return Ok(false);
    }
    let key = ["said:", player].concat();
    let said = store::get(&key)?.unwrap_or_default();
    let is_recent = |said: &&str| {
        let at = said.split_once(' ').and_then(|(at, _)| at.parse::<u64>().ok());
        at.is_some_and(|at| at.saturating_add(repeat.within_ms) > now_ms)
    };
    let recent: Vec<&str> = said.lines().filter(is_recent).take(lines).collect();
    let same =
        |said: &&str| said.split_once(' ').is_some_and(|(_, said)| similarity(said, &line) >= repeat.alike_percent);
    if recent.iter().any(same) {
        return Ok(true);
    }
    // The newest first.
    let mut remembered = format!("{now_ms} {line}");
    for said in recent.iter().take(lines - 1) {
        remembered.push('\n');
        remembered.push_str(said);
    }
    store::set(&key, &remembered, Some(repeat.within_ms.max(1)))?;
    Ok(false)
}

/// The letters and digits of a line in lower case, each run of the same one once.
fn normalize(message: &str) -> String {
    let letters = visible(message).map(|(_, letter)| letter).filter(|letter| letter.is_alphanumeric());
    let mut normalized = String::new();
    let mut last = None;
    for letter in letters.flat_map(char::to_lowercase).take(MAX_CHARS) {
        if last.replace(letter) != Some(letter) {
            normalized.push(letter);
        }
    }
    normalized
}

/// The similarity of two texts, from 0 to 100: the share of adjacent letter pairs in common.
fn similarity(one: &str, other: &str) -> usize {
    if one == other {
        return 100;
    }
    let (one, other) = (pairs(one), pairs(other));
    let total = one.len() + other.len();
    let (mut left, mut right, mut common) = (&*one, &*other, 0);
    while let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) {
        match first.cmp(second) {
            std::cmp::Ordering::Less => left = left_rest,
            std::cmp::Ordering::Greater => right = right_rest,
            std::cmp::Ordering::Equal => (left, right, common) = (left_rest, right_rest, common + 1),
        }
    }
    200 * common / total.max(1)
}

fn pairs(text: &str) -> Vec<(char, char)> {
    let mut pairs: Vec<_> = text.chars().zip(text.chars().skip(1)).collect();
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    fn says(repeat: &Repeat, now_ms: u64, message: &str) -> bool {
        testing::context_at(now_ms, "{}");
        is_repeated(repeat, "p", now_ms, message).unwrap()
    }

    #[test]
    fn the_same_line_is_refused_until_its_time_is_over() {
        let repeat = Repeat::default();
        assert!(!says(&repeat, 1000, "buy my things"));
        assert!(says(&repeat, 2000, "buy my things"));
        // A refused line does not restart the time.
        assert!(says(&repeat, 30_999, "buy my things"));
        assert!(!says(&repeat, 31_000, "buy my things"));
    }

    #[test]
    fn a_similar_line_is_a_repetition() {
        let repeat = Repeat::default();
        assert!(!says(&repeat, 0, "Visit my shop at spawn, best prices!"));
        for again in [
            "VISIT MY SHOP AT SPAWN BEST PRICES",
            "&avisit my shooop at spawn... best prices",
            "visit my shop at spawn, best prices!! 7",
        ] {
            assert!(says(&repeat, 1, again), "{again}");
        }
        assert!(!says(&repeat, 1, "who wants to trade at my shop?"));
        let exact = Repeat { alike_percent: 100, ..repeat };
        assert!(!says(&exact, 2, "visit my shop at spawn, best prices!! 7"));
    }

    #[test]
    fn alternating_lines_are_repetitions_while_remembered() {
        let repeat = Repeat { lines: 2, ..Repeat::default() };
        let said = ["first line", "second one", "first line", "third thing", "first line"];
        let said: Vec<_> = said.iter().enumerate().map(|(at, line)| says(&repeat, at as u64, line)).collect();
        assert_eq!(said, [false, false, true, false, false]);
    }

    #[test]
    fn short_lines_and_lines_without_letters_may_be_repeated() {
        for message in ["gg", "yes", "!!!!!!!!!", "加油", "aaaaaaaaa"] {
            assert!(!says(&Repeat::default(), 0, message));
            assert!(!says(&Repeat::default(), 1, message), "{message}");
        }
    }

    #[test]
    fn players_are_counted_separately_and_the_store_stays_small() {
        let repeat = Repeat { lines: 1000, ..Repeat::default() };
        assert!(!says(&repeat, 0, "hello everybody"));
        assert!(!is_repeated(&repeat, "another", 0, "hello everybody").unwrap());
        for number in 0..40_u64 {
            says(&repeat, number, &format!("{number} {}", "äöü ".repeat(number as usize * 6)));
        }
        assert!(testing::hub(|hub| hub.store["said:p"].0.len()) < 20_000);
    }
}

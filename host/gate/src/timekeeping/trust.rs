//! Decisions about a clock: may it be believed?

use std::time::Duration;

use crate::clock::{Millis, Uptime, millis};

/// Clocks that differ by less agree.
const AGREEMENT: Millis = 60_000;
/// A machine that was off for longer may as well have a wrong clock.
const PLAUSIBLE_PAUSE: Millis = 24 * 60 * 60 * 1000;
/// Uptime for which a proven time is the hub's time to the second.
const RECENT: Millis = 10 * 60 * 1000;
/// Time for which two sources must agree on a time that contradicts the hub's.
const CONFIRMED_AFTER: Duration = Duration::from_mins(10);

/// A proven time of day at an uptime of a machine.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Anchor {
    /// Name of the machine's start: uptimes of different ones say nothing about each other.
    pub(super) boot: String,
    /// Milliseconds.
    pub(super) uptime: Millis,
    pub(super) at: Millis,
}

/// Result of holding a clock against the proven times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may be right.
    Plausible,
    /// It is nearly what the hub's time is by a proven time of minutes ago, which other nodes may go on from, too.
    Nearly { right: Millis },
    /// It is wrong: it is another time, or a later one.
    Wrong { right: Millis },
    /// It may be right or far ahead. The last proven time.
    FarAhead { since: Millis },
}

/// Checks a clock that shows `now` at the uptime of `boot`.
pub(super) fn check_reading(now: Millis, uptime: Millis, boot: &str, anchors: &[Anchor]) -> Verdict {
    let Some(last) = anchors.iter().map(|anchor| anchor.at).max() else { return Verdict::Plausible };
    if let Some(own) = anchors.iter().find(|anchor| anchor.boot == boot && anchor.uptime <= uptime) {
        let right = own.at.saturating_add(uptime - own.uptime);
        return match agree(now, right) {
            false => Verdict::Wrong { right },
            true if uptime - own.uptime <= RECENT => Verdict::Nearly { right },
            true => Verdict::Plausible,
        };
    }
    if is_plausible_after(last, now) {
        Verdict::Plausible
    } else if now < last {
        Verdict::Wrong { right: last }
    } else {
        Verdict::FarAhead { since: last }
    }
}

/// True if a machine may show this time when it was off since `last`.
pub(super) fn is_plausible_after(last: Millis, now: Millis) -> bool {
    (last.saturating_sub(AGREEMENT)..=last.saturating_add(PLAUSIBLE_PAUSE)).contains(&now)
}

/// True if two clocks show the same time.
pub(super) fn agree(one: Millis, other: Millis) -> bool {
    one.saturating_sub(other).saturating_abs() <= AGREEMENT
}

/// Agreement of two sources on a time, and since when.
#[derive(Debug, Default)]
pub(super) struct Agreement(Option<(Uptime, Millis)>);

impl Agreement {
    /// True if two sources have agreed on this time for long enough. `now` is the authority's.
    pub(super) fn observe(&mut self, now: Millis, at: Uptime, has_second: bool) -> bool {
        if !has_second {
            self.0 = None;
            return false;
        }
        let goes_on =
            self.0.filter(|(since, began)| agree(now, began.saturating_add(millis(at.saturating_since(*since)))));
        let (since, _) = *self.0.insert(goes_on.unwrap_or((at, now)));
        at.saturating_since(since) >= CONFIRMED_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Millis = PLAUSIBLE_PAUSE;

    fn anchors() -> Vec<Anchor> {
        let anchor = |boot: &str, uptime, at| Anchor { boot: boot.to_owned(), uptime, at };
        vec![anchor("a", 1_000_000, 100 * DAY), anchor("b", 5_000_000, 99 * DAY)]
    }

    #[test]
    fn uptime_proves_a_wrong_clock_of_the_same_start() {
        let check_reading = |now, uptime| check_reading(now, uptime, "a", &anchors());
        assert_eq!(check_reading(100 * DAY + 59_000, 1_000_000), Verdict::Nearly { right: 100 * DAY });
        assert_eq!(check_reading(100 * DAY + 700_000, 1_700_000), Verdict::Plausible);
        assert_eq!(check_reading(500 * DAY, 1_008_000), Verdict::Wrong { right: 100 * DAY + 8_000 });
        assert_eq!(check_reading(100 * DAY - 3_600_000, 1_000_000), Verdict::Wrong { right: 100 * DAY });
        assert_eq!(check_reading(103 * DAY, 1_000_000 + 3 * DAY), Verdict::Plausible, "it was idle");
        assert_eq!(check_reading(100 * DAY + 5, 3_000), Verdict::Plausible, "another start with the same name");
    }

    #[test]
    fn another_start_is_later_and_not_much() {
        let check_reading = |now| check_reading(now, 60_000, "c", &anchors());
        assert_eq!(check_reading(100 * DAY - 60_000), Verdict::Plausible);
        assert_eq!(check_reading(0), Verdict::Wrong { right: 100 * DAY });
        assert_eq!(check_reading(101 * DAY), Verdict::Plausible);
        assert_eq!(check_reading(500 * DAY), Verdict::FarAhead { since: 100 * DAY });
        assert_eq!(super::check_reading(500 * DAY, 0, "c", &[]), Verdict::Plausible, "the first start");
    }

    #[test]
    fn two_sources_must_agree_for_ten_minutes() {
        let begin = Uptime::now();
        let mut agreement = Agreement::default();
        let mut confirmed =
            |seconds: u64, now, has_second| agreement.observe(now, begin + Duration::from_secs(seconds), has_second);
        assert!(!confirmed(0, 0, true) && !confirmed(599, 599_000, true));
        assert!(confirmed(600, 600_000, true));
        assert!(!confirmed(601, 601_000, false) && !confirmed(602, 602_000, true), "it begins again");
        assert!(!confirmed(1_202, 9_000_000, true), "it jumped again");
    }
}

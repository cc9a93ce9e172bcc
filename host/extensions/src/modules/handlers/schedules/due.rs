//! Ticks that are due, and those that were missed.

use hub_sandbox::manifest::{CatchUp, Cron};

use crate::clock::Millis;

/// A tick that begins later than this is missed.
const ON_TIME: Millis = 60_000;
/// Missed ticks that are made up for.
const MAX_CAUGHT_UP: usize = 100;
/// Age of the oldest missed tick that is counted.
const MAX_AGE: Millis = 366 * 24 * 60 * 60 * 1_000;

/// Step of a schedule that has due ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Tick that runs now, and the number of missed ones that it stands for; none if all were missed.
    pub(super) run: Option<(Millis, i64)>,
    /// The newest tick that was missed, and how many were in all.
    pub(super) missed: Option<(Millis, i64)>,
    /// First tick afterwards.
    pub(super) next_at: Option<Millis>,
}

/// Next time of a schedule after a time.
pub(super) fn after(cron: &Cron, at: Millis) -> Option<Millis> {
    cron.next_after(u64::try_from(at).unwrap_or(0)).and_then(|next| i64::try_from(next).ok())
}

/// Decides about the ticks from `next_at` until now. Those before `free_at` could not run, and `missed` were missed before.
pub(super) fn step(
    cron: &Cron,
    catch_up: CatchUp,
    (next_at, free_at, missed): (Millis, Millis, i64),
    now: Millis,
) -> Step {
    let (mut newest, mut count, mut at) = (std::collections::VecDeque::new(), 0_i64, Some(next_at));
    if next_at < now.saturating_sub(MAX_AGE) {
        at = after(cron, now.saturating_sub(MAX_AGE));
    }
    while let Some(due) = at.filter(|due| *due <= now) {
        newest.push_back(due);
        count += 1;
        if newest.len() > MAX_CAUGHT_UP {
            newest.pop_front();
        }
        at = after(cron, due);
    }
    let (Some(first), Some(last)) = (newest.front().copied(), newest.back().copied()) else {
        return Step { run: None, missed: None, next_at: at };
    };
    let is_on_time = last >= free_at && now - last < ON_TIME;
    match catch_up {
        CatchUp::Skip if is_on_time => Step { run: Some((last, missed + count - 1)), missed: None, next_at: at },
        CatchUp::Skip => Step { run: None, missed: Some((last, missed + count)), next_at: at },
        CatchUp::Once => Step { run: Some((last, missed + count - 1)), missed: None, next_at: at },
        CatchUp::All => {
            let dropped = count - i64::try_from(newest.len()).unwrap_or(0);
            Step { run: Some((first, missed + dropped)), missed: None, next_at: after(cron, first) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Millis = 60_000;

    fn hourly() -> Cron {
        "0 * * * *".parse().unwrap()
    }

    const HOUR: Millis = 60 * MINUTE;

    #[test]
    fn a_tick_on_time_runs_under_every_rule() {
        for catch_up in [CatchUp::Skip, CatchUp::Once, CatchUp::All] {
            let found = step(&hourly(), catch_up, (HOUR, 0, 0), HOUR + 4_000);
            assert_eq!(found, Step { run: Some((HOUR, 0)), missed: None, next_at: Some(2 * HOUR) }, "{catch_up:?}");
        }
    }

    #[test]
    fn missed_ticks_are_left_out_made_up_for_once_or_all() {
        let now = 4 * HOUR + 10 * MINUTE;
        let of = |catch_up| step(&hourly(), catch_up, (HOUR, 0, 0), now);
        let next_at = Some(5 * HOUR);
        assert_eq!(of(CatchUp::Skip), Step { run: None, missed: Some((4 * HOUR, 4)), next_at });
        assert_eq!(of(CatchUp::Once), Step { run: Some((4 * HOUR, 3)), missed: None, next_at });
        assert_eq!(of(CatchUp::All), Step { run: Some((HOUR, 0)), missed: None, next_at: Some(2 * HOUR) });
        // The next tick tells how many were left out.
        let later = step(&hourly(), CatchUp::Skip, (5 * HOUR, 0, 4), 5 * HOUR);
        assert_eq!(later.run, Some((5 * HOUR, 4)));
    }

    #[test]
    fn of_more_than_a_hundred_the_newest_hundred_run() {
        let found = step(&hourly(), CatchUp::All, (HOUR, 0, 0), 150 * HOUR);
        assert_eq!(found, Step { run: Some((51 * HOUR, 50)), missed: None, next_at: Some(52 * HOUR) });
        let minutely: Cron = "* * * * *".parse().unwrap();
        let years = step(&minutely, CatchUp::Once, (HOUR, 0, 0), 5 * MAX_AGE);
        assert_eq!(years.run, Some((5 * MAX_AGE, MAX_AGE / MINUTE - 1)));
    }

    #[test]
    fn a_tick_during_a_run_is_missed() {
        let minutely: Cron = "* * * * *".parse().unwrap();
        // A run went on from minute 1 to 3.2: the ticks 2 and 3 could not run.
        let free_at = 3 * MINUTE + 12_000;
        let skipped = step(&minutely, CatchUp::Skip, (2 * MINUTE, free_at, 0), free_at);
        assert_eq!(skipped, Step { run: None, missed: Some((3 * MINUTE, 2)), next_at: Some(4 * MINUTE) });
        let once = step(&minutely, CatchUp::Once, (2 * MINUTE, free_at, 0), free_at);
        assert_eq!(once.run, Some((3 * MINUTE, 1)));
    }

    #[test]
    fn a_clock_that_is_set_back_repeats_no_tick() {
        let found = step(&hourly(), CatchUp::All, (5 * HOUR, 0, 0), 3 * HOUR);
        assert_eq!(found, Step { run: None, missed: None, next_at: Some(5 * HOUR) });
    }
}

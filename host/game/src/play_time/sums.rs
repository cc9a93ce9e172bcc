//! Counting of visits: pure, without I/O.

use std::collections::BTreeMap;

use crate::clock::Millis;
use crate::play_time::day::{DAY, Day};
use crate::play_time::model::{DailySums, DueVisit, NEW_VISIT_AFTER, PlayerSums};
use crate::values::{Identifier, PlayerId};

/// Longest part of a visit that is counted, so that one of centuries, from an imported file, is no endless work.
const LONGEST: Millis = 400 * DAY;
/// Share of the visits, by the second of their begin, that trim those of their player.
const TRIMMED_EVERY: i64 = 16;
/// Days after which new players are looked for again.
pub(super) const RETURNS: [i64; 3] = [1, 7, 30];

/// Players whose visits are to be trimmed. A few visits lead to it, since it reads all of a player's.
pub(super) fn with_many_visits(visits: &[DueVisit]) -> Vec<PlayerId> {
    let is_chosen = |visit: &&DueVisit| !visit.noted && (visit.from_at / 1_000) % TRIMMED_EVERY == 0;
    let mut players: Vec<_> = visits.iter().filter(is_chosen).map(|visit| visit.player_uuid).collect();
    players.dedup();
    players
}

/// Additions to the sums of a network.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) players: BTreeMap<PlayerId, PlayerSums>,
    pub(super) types: BTreeMap<(PlayerId, Identifier), Millis>,
    /// Days on which players were there, with their time.
    pub(super) days: BTreeMap<(PlayerId, Day), Millis>,
    pub(super) daily: BTreeMap<Day, DailySums>,
    /// Counted visits, each with the time up to which it is.
    pub(super) counted: Vec<(PlayerId, Millis, Millis)>,
    /// First days of players.
    first_days: BTreeMap<PlayerId, Option<Day>>,
}

impl Sums {
    /// Counts visits, which are in the order of their players and begins. Running ones count up to the time at which
    /// their server was heard, if they name one. `takes_new` is false if players without sums get none.
    pub(super) fn of(visits: &[DueVisit], now: Millis, takes_new: bool) -> Self {
        let mut sums = Self::default();
        for visit in visits {
            let running_to = visit.heard_at.unwrap_or(visit.counted_to).min(now);
            let end = visit.to_at.unwrap_or(running_to).max(visit.counted_to);
            sums.counted.push((visit.player_uuid, visit.from_at, end));
            let has_sums = takes_new || visit.first_at.is_some();
            if has_sums {
                sums.first_days.insert(visit.player_uuid, visit.first_at.map(Day::of));
                sums.count_visit(visit, end);
            }
            sums.count_time(visit, end, has_sums);
        }
        sums
    }

    fn count_visit(&mut self, visit: &DueVisit, end: Millis) {
        let sums = self.players.entry(visit.player_uuid).or_insert_with(|| PlayerSums {
            first_at: visit.first_at.unwrap_or(visit.from_at),
            last_at: visit.last_at.unwrap_or(Millis::MIN),
            visits: 0,
        });
        if !visit.noted && visit.from_at.saturating_sub(sums.last_at) >= NEW_VISIT_AFTER {
            sums.visits += 1;
        }
        sums.last_at = sums.last_at.max(end);
    }

    fn count_time(&mut self, visit: &DueVisit, end: Millis, has_sums: bool) {
        let player = visit.player_uuid;
        if !visit.noted {
            let day = Day::of(visit.from_at);
            let daily = self.daily.entry(day).or_default();
            daily.peak_online = daily.peak_online.max(visit.online);
            if has_sums {
                self.days.entry((player, day)).or_default();
            }
        }
        let begin = visit.counted_to.max(end.saturating_sub(LONGEST));
        if has_sums {
            *self.types.entry((player, visit.server_type.clone())).or_default() += end - begin;
        }
        let runs_on = visit.to_at.is_none();
        let mut at = begin;
        while at < end || (runs_on && at == end && at > visit.from_at) {
            let day = Day::of(at);
            let until = day.plus(1).start().min(end);
            let daily = self.daily.entry(day).or_default();
            daily.ms = daily.ms.saturating_add(until - at);
            if at == day.start() && at > visit.counted_to {
                daily.online_at_start += 1;
            }
            if has_sums {
                *self.days.entry((player, day)).or_default() += until - at;
            }
            if until == at {
                break;
            }
            at = until;
        }
    }

    /// Counts players on days that are new to them.
    pub(super) fn count_seen(&mut self, seen: &[(PlayerId, Day)]) {
        let mut seen = seen.to_vec();
        seen.sort_unstable();
        for (player, day) in seen {
            self.daily.entry(day).or_default().players += 1;
            let first = self.first_days.entry(player).or_default();
            let first = *first.get_or_insert(day);
            if first == day {
                self.daily.entry(day).or_default().new_players += 1;
            } else if let Some(index) = RETURNS.iter().position(|days| first.plus(*days) == day) {
                self.daily.entry(first).or_default().returned[index] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const NOON: Millis = 20_887 * DAY + DAY / 2;

    fn visit(from_at: Millis, to_at: Option<Millis>) -> DueVisit {
        DueVisit {
            player_uuid: PlayerId(Uuid::from_u128(1)),
            from_at,
            to_at,
            server_type: "lobby".parse().unwrap(),
            counted_to: from_at,
            online: 3,
            noted: false,
            first_at: None,
            last_at: None,
            heard_at: None,
        }
    }

    fn times(sums: &Sums) -> Vec<(i64, Millis)> {
        sums.days.iter().map(|((_, day), ms)| (day.0, *ms)).collect()
    }

    #[test]
    fn a_visit_is_split_at_midnight() {
        let sums = Sums::of(&[visit(NOON, Some(NOON + DAY))], NOON + 2 * DAY, true);
        assert_eq!(times(&sums), [(20_887, DAY / 2), (20_888, DAY / 2)]);
        let daily = sums.daily[&Day(20_888)];
        assert_eq!((daily.online_at_start, daily.peak_online, daily.ms), (1, 0, DAY / 2));
        // A player who left at midnight was not there on the next day.
        let sums = Sums::of(&[visit(NOON, Some(NOON + DAY / 2))], NOON + DAY, true);
        assert_eq!(times(&sums), [(20_887, DAY / 2)]);
    }

    #[test]
    fn a_running_visit_is_seen_on_the_new_day() {
        let mut running = DueVisit { heard_at: Some(NOON + DAY / 2), ..visit(NOON, None) };
        let sums = Sums::of(std::slice::from_ref(&running), NOON + DAY / 2 + 10, true);
        assert_eq!(times(&sums), [(20_887, DAY / 2), (20_888, 0)]);
        assert_eq!(sums.daily[&Day(20_888)].online_at_start, 1);
        // The rest of it is counted once.
        (running.counted_to, running.noted, running.to_at) = (NOON + DAY / 2, true, Some(NOON + DAY / 2 + 5));
        let sums = Sums::of(&[running], NOON + DAY, true);
        assert_eq!(times(&sums), [(20_888, 5)]);
        assert_eq!((sums.daily[&Day(20_888)].online_at_start, sums.players.values().next().unwrap().visits), (0, 0));
    }

    #[test]
    fn a_running_visit_waits_for_its_server_to_be_heard() {
        let sums = Sums::of(&[visit(NOON, None)], NOON + DAY, true);
        assert_eq!((times(&sums), &sums.counted[0].2), (vec![(20_887, 0)], &NOON));
    }

    #[test]
    fn a_gap_of_a_minute_makes_a_new_visit() {
        for (gap, visits) in [(0, 1), (59_999, 1), (60_000, 2)] {
            let second = NOON + 1_000 + gap;
            let both = [visit(NOON, Some(NOON + 1_000)), visit(second, None)];
            assert_eq!(Sums::of(&both, second, true).players.values().next().unwrap().visits, visits, "{gap}");
        }
    }

    #[test]
    fn a_visit_of_centuries_counts_no_more_than_its_last_days() {
        for from in [Millis::MIN, 0] {
            for to in [Some(Millis::MAX), None] {
                let sums = Sums::of(&[DueVisit { heard_at: Some(NOON), ..visit(from, to) }], NOON, true);
                assert!(sums.days.len() <= 402, "{}", sums.days.len());
                assert!(sums.days.values().sum::<Millis>() <= LONGEST);
            }
        }
    }
}

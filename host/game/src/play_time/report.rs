//! Answers about play time.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::play_time::day::{DAY, Day};
use crate::play_time::model::DailyRow;
use crate::play_time::store::PlayerRow;
use crate::play_time::sums::RETURNS;
use crate::values::Identifier;

/// Maximum number of days of a player's answer.
const MAX_DAYS: usize = 30;
/// Time after a server's last heartbeat for which visits of it go on; they end at that heartbeat if no other follows.
const HEARD_FOR: Millis = 15_000;

/// Time up to which running visits count.
pub(super) struct Running {
    pub(super) now: Millis,
    /// Last heartbeats of the servers.
    pub(super) heard_at: HashMap<Identifier, Millis>,
}

impl Running {
    /// Time up to which visits of that server count.
    pub(super) fn until(&self, server: &Identifier) -> Option<Millis> {
        Some(self.heard_at.get(server)?.saturating_add(HEARD_FOR).min(self.now))
    }
}

/// Play time of a player.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlayTime {
    /// Milliseconds on servers.
    #[schema(example = 7_200_000)]
    total_ms: Millis,
    /// Milliseconds on servers of each type.
    #[schema(value_type = BTreeMap<String, i64>, example = json!({"bedwars": 5_400_000, "lobby": 1_800_000}))]
    by_server_type: BTreeMap<String, Millis>,
    /// The newest 30 days on which the player was online, newest first.
    days: Vec<PlayTimeDay>,
    /// Visits of the network. A switch of servers, or a return within 60 s, continues one.
    #[schema(example = 12)]
    visits: i64,
    /// Time at which the player was first seen.
    #[schema(example = 1_804_680_000_000_i64)]
    first_seen: Millis,
    /// Time at which the player was last seen.
    #[schema(example = 1_804_680_000_000_i64)]
    last_seen: Millis,
}

/// Play time of a player on a day.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(super) struct PlayTimeDay {
    /// Day in UTC.
    day: Day,
    /// Milliseconds on servers.
    #[schema(example = 3_600_000)]
    ms: Millis,
}

impl PlayTime {
    /// Play time of these stored parts. `seen` has the times at which the player was first and last seen.
    pub(super) fn new(rows: Vec<PlayerRow>, seen: Option<(Millis, Millis)>, running: &Running) -> Self {
        let mut by_server_type = BTreeMap::<String, Millis>::new();
        let mut days = BTreeMap::<Day, Millis>::new();
        let (mut first_seen, mut last_seen) = seen.unwrap_or((Millis::MAX, Millis::MIN));
        let mut visits = 0;
        for row in rows {
            let second = row.second.unwrap_or_default();
            match (row.kind.as_str(), row.server_type) {
                ("TYPE", Some(kind)) => _ = by_server_type.insert(kind, row.first),
                ("DAY", _) => _ = days.insert(Day(row.first), second),
                ("SUMS", _) => {
                    visits = row.visits;
                    (first_seen, last_seen) = (first_seen.min(row.first), last_seen.max(second));
                }
                ("VISIT", Some(kind)) => {
                    let until = row.second.or_else(|| running.until(row.server_id.as_ref()?));
                    let until = until.unwrap_or(row.first).max(row.first);
                    (first_seen, last_seen) = (first_seen.min(row.first), last_seen.max(until));
                    add_rest(row.first, until, by_server_type.entry(kind).or_default(), &mut days);
                }
                _ => {}
            }
        }
        let days = days.into_iter().rev().filter(|(_, ms)| *ms > 0).take(MAX_DAYS);
        by_server_type.retain(|_, ms| *ms > 0);
        Self {
            total_ms: by_server_type.values().fold(0, |sum, ms| sum.saturating_add(*ms)),
            by_server_type,
            days: days.map(|(day, ms)| PlayTimeDay { day, ms }).collect(),
            visits,
            first_seen,
            last_seen,
        }
    }
}

/// Adds the part of a visit that the sums do not have.
fn add_rest(from: Millis, until: Millis, of_type: &mut Millis, days: &mut BTreeMap<Day, Millis>) {
    let mut at = from.max(until.saturating_sub(2 * DAY));
    *of_type = of_type.saturating_add(until - at);
    while at < until {
        let day = Day::of(at);
        let end = day.plus(1).start().min(until);
        let ms = days.entry(day).or_default();
        *ms = ms.saturating_add(end - at);
        at = end;
    }
}

/// Players of a day.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlayerDay)]
pub(super) struct DayReport {
    /// Day in UTC.
    day: Day,
    /// Number of different players.
    #[schema(example = 120)]
    unique: i64,
    /// Number of players who were on a server for the first time.
    #[schema(example = 14)]
    new: i64,
    /// Peak number of players online at once.
    #[schema(example = 48)]
    peak_online: i64,
    /// Mean number of players online; of the current day until now.
    #[schema(example = 20.5)]
    average_online: f64,
    /// Milliseconds of all players on servers.
    #[schema(example = 1_771_200_000_i64)]
    playtime_ms: Millis,
    retention: Retention,
}

/// Share of the new players of a day who were there again, from 0 to 1; null until the later day is over, and if there
/// were no new players.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlayerRetention)]
struct Retention {
    /// On the next day.
    #[schema(example = 0.5)]
    d1: Option<f64>,
    /// 7 days later.
    #[schema(example = 0.25)]
    d7: Option<f64>,
    /// 30 days later.
    #[schema(example = 0.125)]
    d30: Option<f64>,
}

impl DayReport {
    /// Numbers of a day, of which nothing may be stored. `running` is the time of today that the sums do not have.
    pub(super) fn new(day: Day, row: Option<&DailyRow>, running: Millis, now: Millis) -> Self {
        let today = Day::of(now);
        let stored = row.map_or(0, |row| row.ms);
        let playtime_ms = if day == today { stored.saturating_add(running) } else { stored };
        let length = if day == today { now - day.start() } else { DAY };
        let average = if length > 0 { playtime_ms as f64 / length as f64 } else { 0.0 };
        let new = row.map_or(0, |row| row.new_players);
        let share = |index: usize, returned: i64| {
            let is_over = RETURNS.get(index).is_some_and(|days| day.plus(*days) < today);
            (is_over && new > 0).then(|| round(returned as f64 / new as f64, 10_000.0))
        };
        Self {
            day,
            unique: row.map_or(0, |row| row.players),
            new,
            peak_online: row.map_or(0, |row| row.peak_online.max(row.online_at_start)),
            average_online: round(average, 100.0),
            playtime_ms,
            retention: Retention {
                d1: row.and_then(|row| share(0, row.returned_1)),
                d7: row.and_then(|row| share(1, row.returned_7)),
                d30: row.and_then(|row| share(2, row.returned_30)),
            },
        }
    }
}

fn round(number: f64, steps: f64) -> f64 {
    (number * steps).round() / steps
}

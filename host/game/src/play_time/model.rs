//! Visits and sums as they are stored.

use crate::clock::Millis;
use crate::play_time::day::Day;
use crate::values::{Identifier, PlayerId};

/// Time after which a player who left and comes back makes a new visit.
pub(super) const NEW_VISIT_AFTER: Millis = 60_000;

/// A visit that the sums lack something of, with the sums of its player.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct DueVisit {
    pub(super) player_uuid: PlayerId,
    pub(super) from_at: Millis,
    pub(super) to_at: Option<Millis>,
    pub(super) server_type: Identifier,
    pub(super) counted_to: Millis,
    pub(super) online: i64,
    pub(super) noted: bool,
    /// None if the player has no sums.
    pub(super) first_at: Option<Millis>,
    pub(super) last_at: Option<Millis>,
    /// Time at which its server was heard, for a visit that is to be counted while it runs.
    pub(super) heard_at: Option<Millis>,
}

/// Visits of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlayerSums {
    pub(super) first_at: Millis,
    pub(super) last_at: Millis,
    /// New visits.
    pub(super) visits: i64,
}

/// Numbers of a day, to be added to the stored ones; of `peak_online` the larger is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DailySums {
    pub(super) players: i64,
    pub(super) new_players: i64,
    pub(super) peak_online: i64,
    pub(super) online_at_start: i64,
    pub(super) ms: Millis,
    /// Players who are back after 1, 7 and 30 days.
    pub(super) returned: [i64; 3],
}

/// Stored numbers of a day.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(super) struct DailyRow {
    pub(super) day: Day,
    pub(super) players: i64,
    pub(super) new_players: i64,
    pub(super) peak_online: i64,
    pub(super) online_at_start: i64,
    pub(super) ms: Millis,
    pub(super) returned_1: i64,
    pub(super) returned_7: i64,
    pub(super) returned_30: i64,
}

/// A visit in answers.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Visit {
    pub(super) server_id: Identifier,
    pub(super) from_at: Millis,
    pub(super) to_at: Option<Millis>,
}

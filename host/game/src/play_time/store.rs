//! All SQL of play time. A player is 32 digits in the lists of many: both databases read them.

mod counting;
mod reading;
mod visits;

use hub_db::Error;
use serde::Serialize;

use crate::limits::Rows;
use crate::play_time::PLAY_TIMES;
use crate::values::PlayerId;

pub(super) use counting::{Due, add_daily, add_players, add_types, due, insert_days, lock, mark_counted, trim};
pub(super) use reading::{PlayerRow, daily, of_player, running_by_server, visits_of};
pub(super) use visits::{delete_ended_before, end_orphans, has_due, save};

/// All play times of a network.
pub(super) const PLAYER_SUMS: Rows = Rows::many(
    PLAY_TIMES,
    "SELECT COUNT(*) FROM (SELECT player_uuid FROM play_time WHERE network_id = $1 LIMIT $2) AS counted",
);

fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()).into())
}

fn digits(player: PlayerId) -> String {
    player.0.simple().to_string()
}

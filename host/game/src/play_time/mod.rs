//! Play time: the visits of players, their time on servers, and how many players come back.
//!
//! Each stay on a server is a row of `player_visits`. Presence writes its begin and its end in the transaction that saves
//! the join and the leave, so that a crash loses neither. The sums (`play_time`, `play_time_by_type`, `play_time_days`,
//! `daily_players`) follow in passes, each of which takes the visits that began or ended since, and those that run over
//! midnight. Answers add what the sums do not have yet.
//!
//! Invariants: each millisecond of a visit is counted once (`counted_to`), as a pass locks its network and its visits;
//! the sums of days name no player and stay when players are erased.

mod day;
mod model;
mod pass;
mod report;
mod routes;
pub mod service;
mod store;
mod sums;

use crate::component::column::read;
use crate::component::{Component, TableRule};
use crate::limits::{Limit, LimitRow};
use crate::values::Identifier;

/// Players with a play time.
const PLAY_TIMES: Limit = Limit::new(&LimitRow {
    name: "playTimes",
    bound: 20_000_000,
    counted: "Players with a play time.",
    effect: Some("the time of further players counts for the days alone"),
});

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "visits of players, their play time, and how many come back",
    routes: routes::router,
    tables: &[
        // The sums come later: nothing is added to them for a player whose visits are erased.
        TableRule::moved("player_visits")
            .columns(&[read::<Identifier>("server_id"), read::<Identifier>("server_type")]),
        TableRule::moved("play_time"),
        TableRule::moved("play_time_by_type").columns(&[read::<Identifier>("server_type")]),
        TableRule::moved("play_time_days"),
        TableRule::moved("daily_players").without_players("numbers of all players together"),
        TableRule::left("play_time_passes").without_players("locked while the sums are brought up to date"),
    ],
    limits: &[PLAY_TIMES],
    register: |states, _| {
        states.insert(pass::Passes::default());
        Ok(())
    },
    network_state: Some(&pass::DueNetworks),
    background: pass::start,
    ..Component::new(module_path!())
};

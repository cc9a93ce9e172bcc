//! Punishments: bans, mutes, warnings, kicks, of players and of addresses.
//!
//! Invariants: ids count from 1 in each network; a punishment is in force while it is open and its time has not run
//! out, whether or not the expiry was already noted; each is told as CREATED once, and then at most once as REVOKED
//! or EXPIRED; a kick is never in force. Everything passes the network's review before it is made, but for what that
//! review itself adds.
//! Tables: `punishments`, `punishment_counters`, `player_addresses` (the addresses players were seen with, written by
//! this room alone) and `player_names` (the names they were seen with).

mod body;
mod expiry;
mod model;
mod review;
mod routes;
pub mod service;
mod store;
mod values;

pub use model::{Draft, Filter, IpAddress, Kind, KnownAddress, Party, Punishment, Span, State, Subject, Target, Terms};
pub(crate) use routes::router;

/// Starts the room's background work.
pub(crate) fn start(app: &crate::app::App) {
    app.spawn(expiry::watch(app.clone()));
}

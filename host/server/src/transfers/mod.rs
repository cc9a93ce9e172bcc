//! Transfers: a player is sent from the server they are on to another one.
//!
//! The hub resolves both ends, keeps a slot at the target, and hands a signed command to the stream of the server that
//! owns the player. How it ended is noted once: by the report of the receiving server, by the player's join at the
//! target, or by the clock.
//!
//! Invariants: the first outcome stands; a command is never handed out unsigned, nor for a slot that is not kept; a
//! transfer is under way for no longer than its command is good, whether or not the time-out was already noted; a leave
//! of the server a player is being sent away from is part of the switch.
//! Tables: `transfers`; rows are deleted after a day.

mod model;
mod routes;
pub mod service;
mod signing;
mod store;
mod watch;

pub(crate) use routes::router;

/// Starts the room's background work.
pub(crate) fn start(app: &crate::app::App) {
    app.spawn(watch::watch(app.clone()));
}

//! Transfers of players from one server to another.
//!
//! The hub resolves both ends, reserves a slot at the target, and sends a signed command to the stream of the player's
//! server. The outcome is recorded once: by the report of the receiving server, by the player's join at the target, or
//! by the clock.
//!
//! Invariants: the first outcome stands; a command is never sent unsigned, nor without a reserved slot; a transfer is
//! pending no longer than its command is valid, even if its time-out is not recorded yet; leaving the source server of
//! a transfer is part of the switch.
//! Tables: `transfers`; rows are deleted after a day.

mod expiry;
mod model;
mod route;
mod routes;
pub mod service;
mod signing;
mod store;

use crate::app::App;
use crate::background::every;
use crate::events::{EventKind, EventSchema};

pub use routes::router;

/// Starts the background work.
pub fn start(app: &App) {
    every(app, expiry::TIME_OUT_INTERVAL, "end timed-out transfers", expiry::time_out);
    every(app, expiry::PURGE_INTERVAL, "delete old transfers", expiry::purge);
}

/// Events of this component, for the document.
pub fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<service::TransferCommand<'static>>(EventKind::Transfer)]
}

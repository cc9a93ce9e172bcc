//! The hub's own waitlist: people interested in its launch, and the confirmation mail (double opt-in).
//!
//! Invariants: joining looks the same for addresses on the list and for new ones; an address gets at most a few mails
//! an hour; a link works once and for 48 hours, and only its hash is stored; a due mail survives a restart. The rows
//! belong to the operator's network. Tables: `waitlist`, `waitlist_links`.

mod model;
mod page;
mod routes;
mod sender;
mod service;
mod store;

use std::time::Duration;

pub use routes::{public, router};

use crate::app::App;
use crate::background::every;
use crate::waitlist::model::LINK_TTL;

const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// Starts the background work.
pub fn start(app: &App) {
    sender::start(app);
    every(app, SWEEP_INTERVAL, "delete expired links of the waitlist", async |app: App| {
        store::delete_links(&app.db, app.clock.now().saturating_sub(2 * LINK_TTL)).await
    });
}

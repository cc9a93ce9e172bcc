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

use tokio::sync::Notify;

pub use routes::{public, router};

use crate::app::App;

/// State of the waitlist in memory.
#[derive(Debug, Default)]
pub struct Waitlist {
    /// Wakes the sender: a mail may have become due.
    wake: Notify,
}

/// Starts the background work.
pub fn start(app: &App) {
    sender::start(app);
}

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

use crate::app::App;
use crate::component::{Component, ErrorCode, TableRule, Tag};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "addresses of people interested in the hub's launch; the rows belong to the operator's network",
    tags: &[Tag("Waitlist", "Waitlist for the launch.")],
    routes: || routes::router().merge(routes::public()),
    tables: &[
        TableRule::moved("waitlist").without_players("people waiting for access, by their mail addresses"),
        TableRule::moved("waitlist_links").without_players("links in mails to them"),
    ],
    errors: &[
        ErrorCode::new("token_used", &[400], "The link was already used."),
        ErrorCode::new("token_expired", &[400], "The link has expired."),
        ErrorCode::new("unknown_address", &[404], "The address is not on the waitlist."),
    ],
    register: |states, _| {
        states.insert(Waitlist::default());
        Ok(())
    },
    background: start,
    ..Component::new(module_path!())
};

/// State of the waitlist in memory.
#[derive(Debug, Default)]
pub struct Waitlist {
    /// Wakes the sender: a mail may have become due.
    wake: Notify,
}

/// Starts the background work.
fn start(app: &App) {
    sender::start(app);
}

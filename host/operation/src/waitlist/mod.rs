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

use crate::app::App;
use crate::background::every_settled;
use crate::clock::Settled;
use crate::component::column::{any_text, bytes, read, text};
use crate::component::{Component, ErrorCode, TableRule, Tag};
use crate::email::Email;
use crate::waitlist::model::LINK_TTL;

/// Declaration of this component.
pub static COMPONENT: Component =
    Component {
        purpose: "addresses of people interested in the hub's launch; the rows belong to the operator's network",
        tags: &[Tag("Waitlist", "Waitlist for the launch.")],
        routes: || routes::router().merge(routes::public()),
        tables: &[
            TableRule::moved("waitlist")
                .without_players("people waiting for access, by their mail addresses")
                .columns(&[text::<320>("email_folded"), read::<Email>("email"), any_text("source")]),
            TableRule::moved("waitlist_links")
                .without_players("links in mails to them")
                .columns(&[bytes("sha256", 32, 32), text::<320>("email_folded")]),
        ],
        errors: &[
            ErrorCode::new("token_used", &[400], "The link was already used."),
            ErrorCode::new("token_expired", &[400], "The link has expired."),
            ErrorCode::new("unknown_address", &[404], "The address is not on the waitlist."),
        ],
        background: start,
        ..Component::new(module_path!())
    };

const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// Starts the background work.
fn start(app: &App) {
    sender::start(app);
    every_settled(app, SWEEP_INTERVAL, "delete expired links of the waitlist", async |app: App, settled: Settled| {
        store::delete_links(&app.db, settled.before(2 * LINK_TTL)).await
    });
}

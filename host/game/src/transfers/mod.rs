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

pub mod effects;
mod expiry;
mod model;
mod route;
mod routes;
pub mod service;
mod signing;
mod store;

use crate::app::App;
use crate::background::{every, every_settled};
use crate::component::column::{any_text, read};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;
use crate::transfers::model::Reported;
use crate::values::Identifier;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "sends players to other servers",
    tags: &[Tag("Transfers", "Send players to other servers.")],
    routes: routes::router,
    events: || vec![EventSchema::of::<service::TransferCommand<'static>>(EventKind::Transfer)],
    tables: &[TableRule::moved("transfers").prose(&["error_message"]).columns(&[
        read::<Identifier>("from_server"),
        read::<Identifier>("to_server"),
        read::<Identifier>("to_world"),
        read::<Reported>("result"),
        any_text("error_message"),
    ])],
    errors: &[
        ErrorCode::new("unknown_transfer", &[400, 404], "No such transfer."),
        ErrorCode::new("transfer_failed", &[409], "A module cannot send the player there; the message says why."),
    ],
    register: |states, _| {
        states.insert(expiry::Expiry::default());
        Ok(())
    },
    background: start,
    terms: &[store::PENDING],
    ..Component::new(module_path!())
};

/// Starts the background work.
fn start(app: &App) {
    every(app, expiry::TIME_OUT_INTERVAL, "end timed-out transfers", expiry::time_out);
    every_settled(app, expiry::PURGE_INTERVAL, "delete old transfers", expiry::purge);
}

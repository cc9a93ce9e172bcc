//! Appeals: punished players ask a network's staff to end a punishment, with its code and without a key.
//!
//! Invariants: a punishment has at most one open appeal and three in all; an appeal is decided once, together with what that
//! does to its punishment; it is erased with its player.
//! Table: `appeals`.

mod model;
mod public;
mod routes;
pub mod service;
mod store;

use crate::auth::Actor;
use crate::component::column::{any_text, json, read, text};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "appeals of punished players ([moderation](../operate/moderation.md))",
    tags: &[Tag("Appeals", "Appeals of punished players.")],
    routes: || routes::router().database_only().merge(public::router()),
    events: || vec![EventSchema::of::<service::AppealCreated>(EventKind::AppealCreated)],
    tables: &[TableRule::moved("appeals").prose(&["text", "contact", "answer"]).columns(&[
        text::<64>("appeal_id"),
        text::<255>("name_folded"),
        any_text("text"),
        any_text("contact"),
        read::<model::AppealState>("state"),
        read::<model::AppealDecision>("decision"),
        any_text("answer"),
        json::<Actor>("decided_by"),
    ])],
    errors: &[
        ErrorCode::new("unknown_appeal_code", &[404], "No such code, or its punishment ended over 30 days ago."),
        ErrorCode::new("unknown_appeal", &[404], "No such appeal."),
        ErrorCode::new("appeal_open", &[409], "An appeal of the punishment waits for its decision."),
        ErrorCode::new("appeals_used", &[409], "The punishment was appealed three times."),
        ErrorCode::new("appeal_decided", &[409], "The appeal was decided before."),
    ],
    ..Component::new(module_path!())
};

//! Audit log: changes in a network with their actor, time and origin.
//!
//! Invariants: an entry is written in the transaction of its change, or before the change if that is in no database (a
//! command to a server); no change is made, nor entry written, by a caller whose right ended meanwhile; no entry contains a secret; no route changes or deletes entries; an entry outlives its
//! subject, for as long as the network's plan says. Actions of the operator on a network are recorded in the network's
//! log and in the operator's own, which outlives the network.
//! Table: `audit_log`.

mod action;
mod layer;
mod record;
mod retention;
mod routes;
pub mod service;
mod store;
mod undo;

use crate::auth::ActorType;
use crate::component::column::{any_json, any_text, read, text};
use crate::component::{Component, ErrorCode, TableRule, Tag};

pub use action::Action;
pub use layer::layer;
pub use record::{Change, record, record_alone, record_for_all};
pub use routes::to_line;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "log of changes with actor, time and origin ([the audit log](../operate/audit.md))",
    tags: &[Tag("Audit", "Log of changes with actor, time and origin.")],
    routes: || routes::router().database_only(),
    tables: &[TableRule::moved("audit_log").prose(&["target", "value_before", "value_after"]).columns(&[
        text::<64>("id"),
        read::<ActorType>("actor_type"),
        text::<255>("actor_id"),
        any_text("actor_name"),
        text::<64>("action"),
        any_text("target"),
        any_json("value_before"),
        any_json("value_after"),
        text::<255>("request_id"),
        text::<64>("address"),
    ])],
    errors: &[
        ErrorCode::new("unknown_entry", &[404], "No such entry in the log."),
        ErrorCode::new("not_undoable", &[400], "The change has no inverse."),
    ],
    background: retention::start,
    ..Component::new(module_path!())
};

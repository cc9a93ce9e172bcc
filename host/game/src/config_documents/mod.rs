//! Config documents: one JSON value per group and namespace, shared by connectors.
//!
//! Invariants: a document is stored as sent except for whitespace; registering never changes a stored document; every
//! change is published once, after it is stored, and a write without a change is not published.
//! Tables: `config_documents`.

mod model;
mod routes;
mod service;
mod store;

use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "one JSON value per group and namespace, shared by connectors",
    tags: &[Tag("Config", "Config documents shared by servers.")],
    routes: || routes::router().database_only(),
    events: || vec![EventSchema::of::<model::ConfigKey>(EventKind::ConfigUpdated)],
    tables: &[TableRule::moved("config_documents")],
    errors: &[ErrorCode::new("unknown_config", &[404], "No such config document.")],
    ..Component::new(module_path!())
};

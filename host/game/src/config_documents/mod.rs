//! Config documents: one JSON value per group and namespace, shared by connectors.
//!
//! Invariants: a document is stored as sent except for whitespace; registering never changes a stored document; every
//! change is published once, after it is stored, and a write without a change is not published.
//! Tables: `config_documents`.

mod import;
mod model;
mod routes;
pub mod service;
mod store;

use crate::component::column::{convert, read};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;
use crate::http::document::Document;
use crate::values::Identifier;

pub use import::{DocumentImport, plan_document, write_document};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "one JSON value per group and namespace, shared by connectors",
    tags: &[Tag("Config", "Config documents shared by servers.")],
    routes: || routes::router().database_only(),
    events: || vec![EventSchema::of::<model::ConfigKey>(EventKind::ConfigUpdated)],
    tables: &[TableRule::moved("config_documents").columns(&[
        read::<Identifier>("doc_group"),
        read::<Identifier>("namespace"),
        convert::<Document>("doc"),
    ])],
    errors: &[ErrorCode::new("unknown_config", &[404], "No such config document.")],
    ..Component::new(module_path!())
};

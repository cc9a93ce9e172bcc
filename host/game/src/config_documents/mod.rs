//! Config documents: one JSON value per group and namespace, shared by connectors.
//!
//! Invariants: a document is stored as sent except for whitespace; registering never changes a stored document; every
//! change is published once, after it is stored, and a write without a change is not published.
//! Tables: `config_documents`.

mod model;
mod routes;
mod service;
mod store;

use crate::events::{EventKind, EventSchema};

pub use routes::router;

/// Events of this component, for the API document.
pub fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<model::ConfigKey>(EventKind::ConfigUpdated)]
}

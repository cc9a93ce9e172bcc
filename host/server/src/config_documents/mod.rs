//! Config documents: one JSON value for each group and namespace, for connectors to share.
//!
//! Invariants: a document is kept as it was sent but for whitespace; registering never changes what is stored; every
//! change is published once, after it is stored, and a write that changes nothing is not.
//! Tables: `config_documents`.

mod model;
mod routes;
mod service;
mod store;

use crate::events::{EventKind, EventSchema};

pub(crate) use routes::router;

/// The events of this component, for the document.
pub(crate) fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<model::ConfigKey>(EventKind::ConfigUpdated)]
}

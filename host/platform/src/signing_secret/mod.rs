//! Signing secret of a network's transfers, and its rotation.
//!
//! Connectors verify with it, so every server of the network has it. It signs only transfers.
//!
//! Invariants: the replaced secret signs, in addition to the new one, until its overlap ends and never again;
//! connectors learn of a new one by the event `SIGNING_SECRET_ROTATED`.
//! Tables: columns of `networks`.

mod routes;
pub mod service;
mod store;

use crate::events::{EventKind, EventSchema};

pub use routes::router;

/// Events of this component, for the document.
pub fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<service::Rotated<'static>>(EventKind::SigningSecretRotated)]
}

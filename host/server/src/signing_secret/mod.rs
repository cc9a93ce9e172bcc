//! The secret that a network's transfers are signed with, and its rotation.
//!
//! Connectors verify with it, so every server of the network knows it. Nothing but transfers is signed with it.
//!
//! Invariants: the secret that was replaced signs, beside the new one, until its overlap ends and never again; connectors
//! are told of a new one by the event `SIGNING_SECRET_ROTATED`.
//! Tables: columns of `networks`.

mod routes;
pub(crate) mod service;
mod store;

use crate::events::{EventKind, EventSchema};

pub(crate) use routes::router;

/// The events of this component, for the document.
pub(crate) fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<service::Rotated<'static>>(EventKind::SigningSecretRotated)]
}

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

use crate::component::{Component, EventSchema};
use crate::events::EventKind;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "the secret that signs a network's transfers, in columns of `networks`",
    routes: || routes::router().database_only(),
    events: || vec![EventSchema::of::<service::Rotated<'static>>(EventKind::SigningSecretRotated)],
    ..Component::new(module_path!())
};

//! Chat: messages relayed to every server, through the network's filter.
//!
//! Invariants: a message reaches every stream of its network, including the sender's server, or none; a message
//! refused by the filter reaches none. Connectors suppress messages of muted players: events notify them of mutes.
//! Chat is not stored, so there is no table.

mod model;
mod routes;
mod service;

use crate::events::{EventKind, EventSchema};

pub use routes::router;

/// Events of this component, for the API document.
pub fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<model::ChatMessage>(EventKind::Chat)]
}

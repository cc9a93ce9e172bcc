//! Chat: lines relayed to every server, through the network's filter.
//!
//! Invariants: a line reaches every stream of its network, the sender's server included, or nobody; what the filter
//! refuses reaches nobody. Connectors hold back the lines of muted players: they learn of mutes by events.
//! Owns no table: chat is not stored.

mod model;
mod routes;
mod service;

use crate::events::{EventKind, EventSchema};

pub(crate) use routes::router;

/// The events of this component, for the document.
pub(crate) fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<model::ChatMessage>(EventKind::Chat)]
}

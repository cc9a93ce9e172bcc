//! Chat: messages relayed to every server, through the network's filter.
//!
//! Invariants: a message reaches every stream of its network, including the sender's server, or none; a message
//! refused by the filter reaches none. Connectors suppress messages of muted players: events notify them of mutes.
//! Chat is not stored, so there is no table.

mod model;
mod routes;
mod service;

use crate::component::{Component, ErrorCode, EventSchema, Tag};
use crate::events::EventKind;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "relays messages to all servers, through the network's filter; stores none",
    tags: &[Tag("Chat", "Relay chat messages to all servers, through the network's filters.")],
    routes: routes::router,
    events: || vec![EventSchema::of::<model::ChatMessage>(EventKind::Chat)],
    errors: &[ErrorCode::new("chat_rejected", &[400], "The network's chat filter refused the message.")],
    ..Component::new(module_path!())
};

//! Chat: lines relayed to every server, through the network's filter.
//!
//! Invariants: a line reaches every stream of its network, the sender's server included, or nobody; what the filter
//! refuses reaches nobody. Whether a muted player may speak is the connectors' business, who are told of the mute.
//! Owns no table: chat is not kept.

mod filter;
mod model;
mod routes;
mod service;

pub(crate) use routes::router;

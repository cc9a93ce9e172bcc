//! Events: one long-lived stream per server, and publishing to the streams.
//!
//! Invariants: an event is published after the change it reports is committed; a stream never shows another network's
//! events; a server has at most one stream; a stream ends within a second after its key was revoked or expired.
//! Owns no table: the bus retains recent events.

mod model;
mod routes;
mod service;
mod stream;

pub use model::EventKind;
pub(crate) use routes::router;
pub(crate) use service::start;
pub use service::{PublishError, Streams, publish};

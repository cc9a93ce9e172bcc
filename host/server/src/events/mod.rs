//! Events: one long-lived stream per server, and the one way to send something to them.
//!
//! Invariants: an event is published after what it tells of is committed; a stream never shows another network's
//! events; a server has at most one stream; a stream ends within a second after its key was withdrawn.
//! Owns no table: what was published lately is kept by the bus.

mod model;
mod routes;
mod service;
mod stream;

pub use model::EventKind;
pub(crate) use routes::router;
pub(crate) use service::start;
pub use service::{PublishError, Streams, publish};

//! Moderation: creates, lists and revokes punishments for the network's servers.
//!
//! Invariants: every punishment passes the network's review modules before it is created, except those that a review adds.
//! It owns no tables.

mod routes;
pub(crate) mod service;

pub(crate) use routes::router;

//! Profiles: a player with their stored data, so that a join is one call.
//!
//! Combines the answers of other components; no tables.

mod includes;
mod routes;
mod service;

pub(crate) use routes::router;

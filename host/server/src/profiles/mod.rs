//! Profiles: a player with what is kept for them, so that a join is one call.
//!
//! It only puts together what other components answer, and has no tables.

mod includes;
mod routes;
mod service;

pub(crate) use routes::router;

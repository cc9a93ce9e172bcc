//! Networks (tenants), which the operator creates and suspends, and the keys that their owners create.
//!
//! Invariants: a key's secret is never stored, only its SHA-256; nobody grants a scope they lack; of a network that was
//! deleted nothing is left but its id and name.
//! Tables: `networks`, `api_keys`, `network_deletions`.

pub(crate) mod admin;
mod admin_routes;
mod admin_store;
pub(crate) mod deletion;
mod routes;
pub mod service;
mod store;

pub(crate) use deletion::start;

use crate::endpoints::Endpoints;

/// The routes of owners and of the operator.
pub(crate) fn router() -> Endpoints {
    routes::router().merge(admin_routes::router())
}

//! Networks (tenants), which the operator creates and suspends, and the keys that their owners create.
//!
//! Invariants: of a key only its secret's SHA-256 is stored; no key grants a scope it lacks; a deleted network leaves
//! only its id and name.
//! Tables: `networks`, `api_keys`, `network_deletions`.

pub mod admin;
mod admin_routes;
mod admin_store;
pub mod deletion;
pub mod left;
mod routes;
pub mod service;
mod store;

pub use deletion::start;
pub use routes::LeftBehind;

use crate::endpoints::Endpoints;

/// Routes of owners and of the operator.
pub fn router() -> Endpoints {
    routes::router().merge(admin_routes::router())
}

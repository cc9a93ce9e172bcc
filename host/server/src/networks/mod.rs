//! Networks (tenants), which the operator creates and suspends, and the keys that their owners create.
//!
//! Invariants: a key's secret is never stored, only its SHA-256; nobody grants a scope they lack.
//! Tables: `networks`, `api_keys`.

mod routes;
pub mod service;
mod store;

pub(crate) use routes::router;

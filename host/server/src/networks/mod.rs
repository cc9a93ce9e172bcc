//! Networks (tenants): made by the operator, suspended and let go; and the keys their owners make.
//!
//! Invariants: a key's secret is never stored, only its SHA-256; nobody hands out a scope they lack.
//! Tables: `networks`, `api_keys`.

mod routes;
pub mod service;
mod store;

pub(crate) use routes::router;

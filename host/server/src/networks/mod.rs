//! Networks (tenants) and their API keys.
//!
//! Invariants: a key's secret is never stored, only its SHA-256; a revoked, expired or rolled-away secret is refused
//! within a second everywhere; `networks/store.rs` holds the queries that cross networks, but for the two that note the
//! expiries of all punishments.
//! Tables: `networks`, `api_keys`.

mod cache;
mod key;
mod model;
mod routes;
pub mod service;
mod store;
pub(crate) mod watch;

pub use cache::KeyCache;
pub use model::{ActiveKey, Credential, KeyId, Scope, Scopes};
pub use routes::router;
pub use watch::Watch;

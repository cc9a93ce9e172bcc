//! Plans, written by the operator: rates, quotas and module limits of networks. `limits` applies them.
//!
//! Invariants: every network has a plan that exists; the plan `default` always exists, and new networks are on it.
//! Table: `plans`.

mod routes;
pub mod service;
mod store;

pub use routes::router;
pub use service::PlansError;
pub(crate) use service::announce_change;
pub use service::start;

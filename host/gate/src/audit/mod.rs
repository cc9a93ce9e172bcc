//! Audit log: changes in a network with their actor, time and origin.
//!
//! Invariants: an entry is written in the transaction of its change, or before the change if that is in no database (a
//! command to a server); no entry contains a secret; no route changes or deletes entries; an entry outlives its
//! subject, for as long as the network's plan says. Actions of the operator on a network are recorded in the network's
//! log and in the operator's own, which outlives the network.
//! Table: `audit_log`.

mod action;
mod layer;
mod record;
mod retention;
mod routes;
pub mod service;
mod store;

pub use action::Action;
pub use layer::layer;
pub use record::{Change, record, record_alone, record_for_all};
pub use retention::start;
pub use routes::{router, to_line};

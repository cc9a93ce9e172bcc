//! The audit log: who changed what in a network, when and from where.
//!
//! Invariants: an entry is written in the transaction of the change it tells of, or, where the change is in no database
//! (a command to a server), before it; no entry holds a secret; no route changes or deletes one; it stays when what it
//! tells of is gone, for as long as the network's plan says. What the operator does to a network is in the network's log
//! and in the operator's own, which outlives the network.
//! Table: `audit_log`.

mod action;
mod layer;
mod record;
mod retention;
mod routes;
pub(crate) mod service;
mod store;

pub(crate) use action::Action;
pub(crate) use layer::layer;
pub(crate) use record::{Change, record, record_alone, record_for_all};
pub(crate) use retention::start;
pub(crate) use routes::{router, to_line};

//! The layers before a handler: idempotency, audit, the owner of its network, the memory of its answer.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(missing_docs, reason = "a part of the hub, not a library for others: what says itself needs no comment")]

pub mod audit;
pub mod client_disconnect;
pub mod cluster;
pub mod database_epoch;
pub mod idempotency;
pub mod identity;
pub mod metering;
pub mod network_moves;
pub mod response_budget;
pub mod server_binding;
pub mod timekeeping;

pub(crate) use hub_base::{clock, compute, fault, http_client, ids, keyed_lock, usage_counters, values};
pub(crate) use hub_core::{
    app, auth, background, component, config, endpoints, http, limits, secrets, side_by_side, traces,
};
#[cfg(test)]
pub(crate) use hub_testing::query_plan;

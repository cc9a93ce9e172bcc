//! Services for components: blobs, events, networks, plans, archives.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(missing_docs, reason = "a part of the hub, not a library for others: what says itself needs no comment")]

pub mod archive;
pub mod blobs;
pub mod events;
pub mod jobs;
pub mod networks;
pub mod plans;
pub mod signing_secret;

pub(crate) use hub_base::{
    clock, fault, http_client, ids, metric_recorder, secret_text, steps, usage_counters, values,
};
pub(crate) use hub_core::{
    app, auth, background, component, config, endpoints, http, limits, panics, secrets, side_by_side,
};
pub(crate) use hub_gate::{audit, cluster, identity};
#[cfg(test)]
pub(crate) use hub_testing::query_plan;

//! The ground of every component: settings, the shared state, HTTP, limits, keys and permissions.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(missing_docs, reason = "a part of the hub, not a library for others: what says itself needs no comment")]

pub mod app;
pub mod auth;
pub mod background;
pub mod component;
pub mod config;
pub mod data_folder;
pub mod declarations;
pub mod endpoints;
pub mod executable;
pub mod http;
pub mod limits;
pub mod mail;
pub mod panics;
pub mod passes;
pub mod secrets;
pub mod side_by_side;
pub mod traces;

pub(crate) use hub_base::{
    bounds, clock, compute, fault, geo, http_client, ids, mac, metric_recorder, secret_text, steps, usage_counters,
    values,
};
#[cfg(test)]
pub(crate) use hub_testing::instruction_counts;

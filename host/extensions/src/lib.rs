//! The networks' own modules.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(missing_docs, reason = "a part of the hub, not a library for others: what says itself needs no comment")]

pub mod modules;

pub(crate) use hub_base::{clock, compute, ids, metric_recorder, usage_counters, values};
pub(crate) use hub_core::{
    app, auth, background, component, config, data_folder, endpoints, executable, http, limits, side_by_side,
};
pub(crate) use hub_gate::{audit, cluster};
pub(crate) use hub_platform::{blobs, events};

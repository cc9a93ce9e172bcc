//! Values, time, ids and helpers that know nothing of the hub.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(missing_docs, reason = "a part of the hub, not a library for others: what says itself needs no comment")]

pub mod bounds;
pub mod budget;
pub mod clock;
pub mod compute;
pub mod email;
pub mod fault;
pub mod geo;
pub mod host;
pub mod http_client;
pub mod ids;
pub mod import_outcome;
pub mod keyed_lock;
pub mod mac;
pub mod metric_recorder;
pub mod owner;
pub mod secret_text;
pub mod shared_reads;
pub mod steps;
pub mod text_type;
pub mod usage_counters;
pub mod values;

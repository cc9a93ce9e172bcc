//! Components for game servers and their players.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(missing_docs, reason = "a part of the hub, not a library for others: what says itself needs no comment")]

pub mod appeals;
pub mod chat;
pub mod collections;
pub mod config_documents;
pub mod control;
pub mod deliveries;
pub mod economy;
pub mod localization;
pub mod matchmaking;
pub mod permissions;
pub mod play_time;
pub mod player_sessions;
pub mod players;
pub mod presence;
pub mod punishments;
pub mod reports;
pub mod staff_notes;
pub mod statistics;
pub mod transfers;
pub mod waiting_lines;
pub mod worlds;

pub(crate) use hub_base::{
    clock, compute, geo, host, ids, import_outcome, keyed_lock, mac, metric_recorder, owner, secret_text, shared_reads,
    text_type, values,
};
pub(crate) use hub_core::{
    app, auth, background, component, config, endpoints, http, limits, panics, secrets, side_by_side,
};
pub(crate) use hub_extensions::modules;
pub(crate) use hub_gate::{audit, cluster, metering};
pub(crate) use hub_platform::{blobs, events, jobs, networks, signing_secret};
#[cfg(test)]
pub(crate) use hub_testing::{instruction_counts, query_plan};

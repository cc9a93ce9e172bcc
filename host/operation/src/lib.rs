//! Components for operators and owners of networks.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(missing_docs, reason = "a part of the hub, not a library for others: what says itself needs no comment")]

pub mod artifacts;
pub mod doctor;
pub mod erasure;
pub mod health;
pub mod imports;
pub mod monitoring;
pub mod overview;
pub mod people;
pub mod provisioning;
pub mod waitlist;
pub mod webhooks;

pub(crate) use hub_base::{
    budget, clock, compute, email, fault, geo, http_client, ids, import_outcome, mac, metric_recorder, secret_text,
    text_type, values,
};
pub(crate) use hub_core::{
    app, auth, background, component, config, data_folder, endpoints, executable, http, limits, mail, panics, secrets,
    side_by_side,
};
pub(crate) use hub_extensions::modules;
pub(crate) use hub_game::{
    appeals, chat, config_documents, control, deliveries, economy, permissions, play_time, player_sessions, players,
    presence, punishments, reports, waiting_lines, worlds,
};
pub(crate) use hub_gate::{audit, cluster, idempotency, identity, metering, timekeeping};
pub(crate) use hub_platform::{archive, blobs, events, jobs, networks, plans};
#[cfg(test)]
pub(crate) use hub_testing::query_plan;

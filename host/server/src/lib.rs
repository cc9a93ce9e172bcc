//! The Network Hub: one service for a network of game servers. `docs/develop/architecture.md` shows the components.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod cli;
pub mod components;
pub mod lifecycle;
mod module_data;
mod module_effects;
mod presence_hooks;
pub mod router;
pub mod serve;

pub use hub_base::{
    bounds, clock, compute, email, fault, geo, http_client, ids, import_outcome, keyed_lock, mac, metric_recorder,
    owner, secret_text, shared_reads, text_type, usage_counters, values,
};
pub use hub_core::{
    app, auth, background, component, config, data_folder, endpoints, executable, http, limits, mail, panics, secrets,
    traces,
};
pub use hub_extensions::modules;
pub use hub_game::{
    chat, collections, config_documents, control, deliveries, economy, localization, matchmaking, permissions,
    play_time, player_sessions, players, presence, punishments, statistics, transfers, waiting_lines, worlds,
};
pub use hub_gate::{
    audit, client_disconnect, cluster, idempotency, identity, metering, network_moves, response_budget, server_binding,
    timekeeping,
};
pub use hub_operation::{
    artifacts, doctor, erasure, health, imports, monitoring, people, provisioning, waitlist, webhooks,
};
pub use hub_platform::{archive, blobs, events, jobs, networks, plans, signing_secret};

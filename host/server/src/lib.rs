//! The Network Hub: one service for a network of game servers. `docs/architecture.md` shows the components.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod app;
pub mod archive;
pub mod artifacts;
pub mod auth;
mod background;
mod blobs;
mod chat;
pub mod cli;
pub mod clock;
pub mod cluster;
mod collections;
pub mod config;
mod config_documents;
pub mod control;
pub mod economy;
mod endpoints;
pub mod events;
pub mod geo;
mod health;
pub mod http;
pub mod http_client;
pub mod idempotency;
pub mod ids;
mod keyed_lock;
pub mod lifecycle;
pub mod limits;
mod localization;
mod mac;
pub mod matchmaking;
mod moderation;
pub mod modules;
pub mod networks;
pub mod owner;
pub mod permissions;
pub mod plans;
pub mod players;
pub mod provisioning;
pub mod punishments;
#[cfg(test)]
mod query_plan;
pub mod router;
mod secrets;
pub mod serve;
pub mod servers;
mod sessions;
pub mod statistics;
mod text_type;
pub mod transfers;
pub mod values;
mod waitlist;
pub mod worlds;

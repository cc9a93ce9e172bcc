//! The Network Hub: one service for a network of game servers. `docs/architecture.md` shows the rooms.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod app;
pub mod chat;
pub mod cli;
pub mod clock;
pub mod config;
pub mod economy;
pub mod events;
pub mod geo;
pub mod http;
pub mod idempotency;
pub mod ids;
pub mod mac;
pub mod matchmaking;
pub mod modules;
pub mod networks;
pub mod owner;
pub mod players;
pub mod punishments;
pub mod servers;
pub mod statistics;
pub mod transfers;
pub mod values;
pub mod worlds;

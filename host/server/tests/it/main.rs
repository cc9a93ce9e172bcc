//! Tests through the hub's public door, each on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod chat;
mod cli;
mod economy;
mod errors;
mod events;
mod idempotency;
mod keys;
mod matchmaking;
mod modules;
mod openapi;
mod players;
mod punishments;
mod servers;
mod statistics;
mod strangers;
mod support;
mod transfers;
mod worlds;

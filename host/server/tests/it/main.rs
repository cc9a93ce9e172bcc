//! Tests through the hub's public door, each on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod chat;
mod cli;
mod collections;
mod config_documents;
mod errors;
mod events;
mod idempotency;
mod keys;
mod localization;
mod matchmaking;
mod modules;
mod openapi;
mod permissions;
mod punishments;
mod servers;
mod strangers;
mod support;
mod transfers;
mod worlds;

//! Tests through the hub's public door, each on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod agent;
mod artifacts;
mod blobs;
mod chat;
mod cli;
mod collections;
mod config_documents;
mod control;
mod economy;
mod errors;
mod events;
mod https;
mod idempotency;
mod keys;
mod limits;
mod localization;
mod malformed;
mod matchmaking;
mod modules;
mod moving;
mod openapi;
mod permissions;
mod players;
mod postgres;
mod provisioning;
mod punishments;
mod servers;
mod statistics;
mod support;
mod transfers;
mod unauthorized;
mod waitlist;
mod worlds;

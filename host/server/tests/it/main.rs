//! Tests through the hub's public door, each on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod agent;
mod artifacts;
mod blobs;
mod chat;
mod cli;
mod collections;
mod config_documents;
mod connections;
mod control;
mod economy;
mod economy_transactions;
mod errors;
mod events;
mod full_disk;
mod https;
mod idempotency;
mod key_bindings;
mod keys;
mod limits;
mod localization;
mod malformed;
mod matchmaking;
mod modules;
mod moving;
mod networks;
mod openapi;
mod permissions;
mod plans;
mod players;
mod postgres;
mod provisioning;
mod punishments;
mod servers;
mod shares;
mod signing_secret;
mod statistics;
mod stop;
mod support;
mod told;
mod transfers;
mod unauthorized;
mod waitlist;
mod worlds;

//! The crate against both databases. PostgreSQL is the server `HUB_TEST_POSTGRES` names.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod ambient;
mod common;
mod durability;
mod executor;
mod failures;
mod fair;
mod limits;
mod migrate;
mod pgbouncer;
mod postgres;
mod sqlite;
mod stats;
mod transactions;
mod types;

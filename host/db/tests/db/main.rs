//! The crate against both databases. PostgreSQL is the server `HUB_TEST_POSTGRES` names.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;
mod durability;
mod executor;
mod migrate;
mod pgbouncer;
mod postgres;
mod sqlite;
mod transactions;
mod trouble;
mod types;
mod unit;

//! One SQL text over SQLite and PostgreSQL.
//!
//! [`Db`] runs plain SQL, written once with `$1`, `$2` … placeholders, on the real driver of
//! either database. Three doors lead in:
//!
//! - [`Db::query`] reads outside any transaction;
//! - [`Db::write`] runs one atomic writing statement;
//! - [`Db::transaction`] runs several statements as one, all or nothing.
//!
//! An [`Executor`] is either the database or a transaction. [`Db::page`] reads one page of a list.
//! [`Db::unit`] makes one transaction of several of them. [`Db::snapshot`] reads whole tables as of one moment.
//!
//! What is acknowledged by the last two survives a kill and a power cut; of [`Db::relaxed`] only a kill.
//!
//! # Writing SQL for both
//!
//! | Rust | SQLite column | PostgreSQL column |
//! |---|---|---|
//! | `bool` | `BOOLEAN` | `BOOLEAN` |
//! | `i64` | `BIGINT` | `BIGINT` |
//! | `f64` | `REAL` | `DOUBLE PRECISION` |
//! | `String` | `TEXT` | `TEXT` |
//! | `Vec<u8>` | `BLOB` | `BYTEA` |
//! | `uuid::Uuid` | `BLOB` | `UUID` |
//!
//! Name the columns: a prepared `SELECT *` breaks when a migration adds one while it is in use.
//! PostgreSQL's `sum(bigint)` is `NUMERIC`: say `CAST(sum(x) AS BIGINT)`. Where a text must differ
//! between the two, give an [`Sql`] pair.

mod bulk;
mod config;
mod db;
mod error;
mod executor;
mod migrate;
mod pool;
mod postgres;
mod snapshot;
mod sql;
mod sqlite;
mod statement;
mod tx;
mod unit;

pub use bulk::{Cell, Column, Kind, Table};
pub use config::{Backend, Config};
pub use db::Db;
pub use error::Error;
pub use executor::Executor;
pub use migrate::schema_version;
pub use snapshot::Snapshot;
pub use sql::{Record, Sql, Value};
pub use statement::Statement;
pub use tx::Tx;
pub use unit::{Ended, Opening, after_commit, is_uncommitted};

//! One SQL text over SQLite and PostgreSQL.
//!
//! [`Db`] runs plain SQL, written once with `$1`, `$2` … placeholders, on the real driver of
//! either database, in one of three ways:
//!
//! - [`Db::query`] reads outside any transaction;
//! - [`Db::write`] runs one atomic writing statement;
//! - [`Db::transaction`] runs several statements as one, all or nothing.
//!
//! An [`Executor`] is either the database or a transaction. [`Db::page`] reads one page of a list.
//! [`Db::ambient_transaction`] makes one transaction of several of them. [`Db::snapshot`] reads whole tables as of one
//! moment.
//!
//! The last two acknowledge writes that survive a kill and a power cut; with [`Db::connect_relaxed`] only a kill.
//!
//! # Fair shares
//!
//! [`with_tenant`] says whose work a task does. Tenants take turns in the queue of SQLite's writer, and none takes more
//! than its share of the connections ([`FairPermits`]), so that one tenant's work waits behind its own and never behind
//! another's. [`Db::reserved`] waits behind no tenant. Statements and transactions have [`TimeLimits`], and a statement
//! of background work may read so much ([`with_tenant_reading`]).
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

mod ambient;
mod bulk;
mod config;
mod db;
mod ended;
mod engine;
mod epoch;
mod error;
mod executor;
mod fair;
mod lease;
mod limits;
mod migrate;
#[cfg(debug_assertions)]
mod plans;
mod pool;
mod pool_kind;
mod postgres;
mod query;
mod retry;
mod rows;
mod schema;
mod size;
mod snapshot;
mod sql;
mod sqlite;
mod statement;
mod stats;
mod tenant;
mod tx;
mod whole;

pub use ambient::{AmbientOutcome, OnBegin, has_uncommitted_writes, is_in_ambient_transaction};
pub use bulk::{Cell, Column, ColumnType, Table};
pub use config::{Backend, Config};
pub use db::Db;
pub use epoch::Epoch;
pub use error::Error;
pub use executor::Executor;
pub use fair::{FairPermit, FairPermits};
pub use limits::{TimeLimits, without_time_limit};
pub use migrate::schema_version;
#[cfg(debug_assertions)]
pub use plans::judge_plans;
pub use snapshot::Snapshot;
pub use sql::{Record, Sql, Value};
pub use statement::Statement;
pub use stats::{DbStats, PoolStats, StatementStats, count_statements, statement_stats};
pub use tenant::{
    NO_TENANT, TaskContext, as_tenant, current_tenant, in_current_tenant, with_tenant, with_tenant_reading,
};
pub use tx::Tx;
pub use whole::WholeTable;

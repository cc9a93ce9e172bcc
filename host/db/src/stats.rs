//! Current state of the database's connections, and the cost of statements since the process began.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;

use crate::{Error, tenant};

static STATEMENTS: AtomicU64 = AtomicU64::new(0);
static FAILED_STATEMENTS: AtomicU64 = AtomicU64::new(0);
static STATEMENT_MICROS: AtomicU64 = AtomicU64::new(0);
static UNREADABLE_ROWS: AtomicU64 = AtomicU64::new(0);
/// Statements whose unreadable rows were reported.
static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// State of one pool of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStats {
    /// `shared`, `reserved` or `time_critical`.
    pub name: &'static str,
    /// In use.
    pub used: usize,
    /// Maximum number of connections.
    pub max: usize,
    /// Waiting callers.
    pub waiting: usize,
}

/// Current state of one database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DbStats {
    /// Its connections.
    pub pools: Vec<PoolStats>,
    /// Writes queued for the one writer of SQLite.
    pub queued_writes: usize,
}

/// Cost of statements, on all databases of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementStats {
    /// Number of statements run.
    pub statements: u64,
    /// Number of failed statements.
    pub failed: u64,
    /// Total duration, including the wait for a connection.
    pub time: Duration,
    /// Number of rows left out because they could not be read.
    pub unreadable_rows: u64,
}

/// Cost of statements since the process began.
pub fn statement_stats() -> StatementStats {
    StatementStats {
        statements: STATEMENTS.load(Relaxed),
        failed: FAILED_STATEMENTS.load(Relaxed),
        time: Duration::from_micros(STATEMENT_MICROS.load(Relaxed)),
        unreadable_rows: UNREADABLE_ROWS.load(Relaxed),
    }
}

/// Counts the statements of `work`, also those of tasks that it starts by [`in_current_tenant`](crate::in_current_tenant).
pub fn count_statements<F: Future>(counter: Arc<AtomicU32>, work: F) -> impl Future<Output = F::Output> {
    tenant::with_counter(counter, work)
}

pub(crate) fn record(took: Duration, is_failed: bool) {
    STATEMENTS.fetch_add(1, Relaxed);
    FAILED_STATEMENTS.fetch_add(u64::from(is_failed), Relaxed);
    STATEMENT_MICROS.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Relaxed);
    tenant::count_statement();
}

pub(crate) fn record_unreadable(statement: &str, error: &Error) {
    UNREADABLE_ROWS.fetch_add(1, Relaxed);
    if REPORTED.lock().insert(statement.to_owned()) {
        tracing::error!(%error, statement, "left out a row that cannot be read, as all others of the statement from now on");
    }
}

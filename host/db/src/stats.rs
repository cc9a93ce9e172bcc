//! Current state of the database's connections, and the cost of statements since the process began.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::tenant;

static STATEMENTS: AtomicU64 = AtomicU64::new(0);
static FAILED_STATEMENTS: AtomicU64 = AtomicU64::new(0);
static STATEMENT_MICROS: AtomicU64 = AtomicU64::new(0);

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
}

/// Cost of statements since the process began.
pub fn statement_stats() -> StatementStats {
    StatementStats {
        statements: STATEMENTS.load(Relaxed),
        failed: FAILED_STATEMENTS.load(Relaxed),
        time: Duration::from_micros(STATEMENT_MICROS.load(Relaxed)),
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

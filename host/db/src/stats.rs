//! What the database's connections do now, and what statements have cost since the process began.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::tenant;

static STATEMENTS: AtomicU64 = AtomicU64::new(0);
static FAILED_STATEMENTS: AtomicU64 = AtomicU64::new(0);
static STATEMENT_MICROS: AtomicU64 = AtomicU64::new(0);

/// Connections that statements wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStats {
    /// `shared`, `reserved` or `time_critical`.
    pub name: &'static str,
    /// In use.
    pub used: usize,
    /// The most that are opened.
    pub max: usize,
    /// Callers that wait for one.
    pub waiting: usize,
}

/// What one database does now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DbStats {
    /// Its connections.
    pub pools: Vec<PoolStats>,
    /// Writes that wait for the one writer of SQLite.
    pub queued_writes: usize,
}

/// What statements have cost, on all databases of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementStats {
    /// Statements that were run.
    pub statements: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// The time they took, with waiting for a connection.
    pub time: Duration,
}

/// What statements have cost since the process began.
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

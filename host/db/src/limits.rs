//! Time limits of database work.

use std::time::Duration;

/// Time limits of statements and transactions. Migrations and [snapshots](crate::Snapshot) have none, nor has what runs
/// in [`without_time_limit`].
#[derive(Clone, Copy, Debug)]
pub struct TimeLimits {
    /// Maximum wait for a connection.
    pub connection: Duration,
    /// Maximum duration of a statement. PostgreSQL has its own, in its [`Config`](crate::Config).
    pub statement: Duration,
    /// Maximum duration of a writing statement on SQLite, which blocks all other writers.
    pub write: Duration,
    /// Maximum duration of a transaction, counted from its beginning.
    pub transaction: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            connection: Duration::from_secs(5),
            statement: Duration::from_secs(15),
            write: Duration::from_secs(5),
            transaction: Duration::from_secs(10),
        }
    }
}

tokio::task_local! {
    static UNTIMED: ();
}

/// Runs work of the operator, such as an import, without time limits for its statements and transactions.
pub async fn without_time_limit<F: Future>(work: F) -> F::Output {
    UNTIMED.scope((), work).await
}

/// This limit, or none for work of the operator.
pub(crate) fn unless_exempt(limit: Duration) -> Option<Duration> {
    UNTIMED.try_with(|()| ()).is_err().then_some(limit)
}

/// Runs `work` with this time limit.
pub(crate) async fn at_most<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.ok(),
        None => Some(work.await),
    }
}

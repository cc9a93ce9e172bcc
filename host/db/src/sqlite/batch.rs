//! One batch of the writer: several callers' work, one commit.

use std::{sync::Arc, time::Duration};

use futures_util::FutureExt;
use sqlx::{SqliteConnection, sqlite::SqliteRow};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::{
    run as run_statement,
    writer::{Job, Transaction, Verdict, Write},
};
use crate::{
    Error,
    sql::Answer,
    tx::{Fate, Lent},
};

/// Requests in one batch at most.
const MOST: usize = 256;
/// Statements a connection must be able to take without an answer: two for each turn.
pub(super) const COMMANDS: usize = 2 * MOST + 2;

/// Opens a transaction for the batch, with the first turn's savepoint.
pub(super) async fn begin(mut conn: SqliteConnection) -> sqlx::Result<SqliteConnection> {
    // IMMEDIATE: a writer in another process is waited for here, never in the middle.
    control(&mut conn, "BEGIN IMMEDIATE; SAVEPOINT turn").await?;
    Ok(conn)
}

/// Does `first` and what else is queued, commits it, and answers all callers. The connection
/// comes back unless its state is in doubt; closing it then rolls back what was not committed.
pub(super) async fn run(
    conn: SqliteConnection,
    first: Job,
    queue: &mut mpsc::Receiver<Job>,
    longest: Duration,
) -> Option<SqliteConnection> {
    let mut batch = Batch { callers: Vec::new(), fresh: true, longest };
    match batch.fill(conn, first, queue).await {
        Ok(conn) => {
            batch.answer(None);
            Some(conn)
        }
        Err(error) => {
            tracing::error!(%error, "a batch of writes is lost");
            batch.answer(Some(&Arc::new(error)));
            None
        }
    }
}

/// Runs a statement that steers the transaction.
pub(crate) async fn control(conn: &mut SqliteConnection, sql: &'static str) -> sqlx::Result<()> {
    sqlx::query(sql).execute(conn).await.map(drop)
}

/// Has the connection's own thread run a statement that steers the transaction before whatever
/// it is asked next. Not to wait for the answer saves each transaction a round trip to that thread.
fn post(conn: &mut SqliteConnection, sql: &'static str) {
    // Polled once, the future hands the statement over, which always finds room (`COMMANDS`).
    let _ = control(conn, sql).now_or_never();
}

struct Batch {
    /// Who waits for the commit.
    callers: Vec<Caller>,
    /// Nothing has been done since the savepoint `turn`, so a transaction may begin there.
    fresh: bool,
    /// Further requests are taken in for this long.
    longest: Duration,
}

enum Caller {
    Write(oneshot::Sender<Result<Answer<SqliteRow>, Error>>, Result<Answer<SqliteRow>, Error>),
    Transaction(oneshot::Sender<Result<(), Error>>, Result<(), Error>),
}

impl Batch {
    async fn fill(
        &mut self,
        mut conn: SqliteConnection,
        first: Job,
        queue: &mut mpsc::Receiver<Job>,
    ) -> sqlx::Result<SqliteConnection> {
        let started = Instant::now();
        let mut turns = 0;
        let mut next = Some(first);
        while let Some(job) = next {
            conn = match job {
                Job::Write(write) => self.write(conn, write).await?,
                Job::Transaction(transaction) => self.transaction(conn, transaction).await?,
            };
            turns += 1;
            next = if turns < MOST && started.elapsed() < self.longest { queue.try_recv().ok() } else { None };
        }
        control(&mut conn, "COMMIT").await?;
        Ok(conn)
    }

    /// A single statement needs no savepoint: if it fails, SQLite has undone just that one.
    async fn write(&mut self, mut conn: SqliteConnection, write: Write) -> sqlx::Result<SqliteConnection> {
        if write.answer.is_closed() {
            return Ok(conn);
        }
        let result = run_statement(&mut conn, write.sql, write.arguments, write.want).await;
        let failed = result.is_err();
        self.callers.push(Caller::Write(write.answer, result));
        if failed {
            // Some failures (a full disk) end the whole transaction; then this fails as well.
            control(&mut conn, "RELEASE turn; SAVEPOINT turn").await?;
        }
        self.fresh = failed;
        Ok(conn)
    }

    /// Lends the connection to a transaction and takes it back.
    async fn transaction(
        &mut self,
        mut conn: SqliteConnection,
        Transaction { lend, verdict }: Transaction,
    ) -> sqlx::Result<SqliteConnection> {
        if lend.is_closed() {
            return Ok(conn);
        }
        if !self.fresh {
            // Neither can fail while the turns before were sound. Should SAVEPOINT fail all the
            // same, so will ROLLBACK TO.
            post(&mut conn, "RELEASE turn");
            post(&mut conn, "SAVEPOINT turn");
        }
        let (lent, back) = Lent::new(conn);
        // A caller that has gone drops the connection, and so sends it back.
        drop(lend.send(Ok(lent)));
        let (mut conn, fate) = back.await.map_err(|_| sqlx::Error::WorkerCrashed)?;
        let mut keep = false;
        if let Ok(Verdict { keep: wanted, answer }) = verdict.await {
            keep = wanted && fate == Fate::Sound;
            let result = if wanted && !keep { Err(Error::Aborted) } else { Ok(()) };
            self.callers.push(Caller::Transaction(answer, result));
        }
        self.fresh = !keep;
        if !keep {
            control(&mut conn, "ROLLBACK TO turn").await?;
        }
        Ok(conn)
    }

    /// Tells every caller how its own work went, or that the batch as a whole is lost.
    fn answer(self, failure: Option<&Arc<sqlx::Error>>) {
        for caller in self.callers {
            match caller {
                Caller::Write(to, result) => answer(to, result, failure),
                Caller::Transaction(to, result) => answer(to, result, failure),
            }
        }
    }
}

fn answer<T>(to: oneshot::Sender<Result<T, Error>>, result: Result<T, Error>, failure: Option<&Arc<sqlx::Error>>) {
    let result = match failure {
        Some(error) => result.and(Err(Error::Commit(Arc::clone(error)))),
        None => result,
    };
    // A caller that no longer listens has hung up.
    drop(to.send(result));
}

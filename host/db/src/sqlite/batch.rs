//! One batch of the writer: several callers' jobs, one commit.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::FutureExt;
use tokio::{sync::oneshot, time::Instant};

use super::{
    connection::TimedConnection,
    job::{EndRequest, Job, Transaction, Write},
    queue::Receiver,
};
use crate::{
    Error,
    ended::EndHooks,
    lease::{LeasedConnection, TxOutcome},
    query::Fetched,
};

const MAX_JOBS: usize = 256;
/// Statements a connection must be able to queue without an answer: two for each job.
pub(super) const MAX_COMMANDS: usize = 2 * MAX_JOBS + 2;

/// Opens the batch's transaction, with the first job's savepoint.
pub(super) async fn begin(mut conn: TimedConnection) -> sqlx::Result<TimedConnection> {
    // IMMEDIATE: a writer in another process is waited for here, never in the middle.
    conn.control("BEGIN IMMEDIATE; SAVEPOINT job").await?;
    Ok(conn)
}

/// Runs `first` and other queued jobs, commits, and replies to all callers. The connection comes back unless its state
/// is in doubt; closing it then rolls back uncommitted work. `has_failed` is set if the database did not take the batch.
pub(super) async fn run_batch(
    conn: TimedConnection,
    first: Job,
    queue: &mut Receiver,
    max_duration: Duration,
    has_failed: &AtomicBool,
) -> Option<TimedConnection> {
    let mut batch = Batch { replies: Vec::new(), at_savepoint: true, interrupted: false, disk_failed: false };
    match batch.run_jobs(conn, first, queue, max_duration).await {
        Ok(conn) => {
            batch.reply(None);
            Some(conn)
        }
        Err(error) if batch.interrupted => {
            tracing::warn!(%error, "a write took too long, and a batch has to run again without it");
            batch.reply(Some(&Loss::Interrupted));
            None
        }
        Err(error) if batch.disk_failed => {
            tracing::error!(%error, "a batch of writes is lost: the disk is full or fails");
            has_failed.store(true, Relaxed);
            batch.reply(Some(&Loss::DiskFailed));
            None
        }
        Err(error) => {
            tracing::error!(%error, "a batch of writes is lost");
            has_failed.store(true, Relaxed);
            batch.reply(Some(&Loss::Failed(Arc::new(error))));
            None
        }
    }
}

/// Queues a statement that controls the transaction on the connection's own thread, ahead of any later one. Not waiting
/// for the answer saves each transaction a round trip to that thread.
fn post_control(conn: &mut TimedConnection, sql: &'static str) {
    // Polled once, the future hands the statement over, which always finds room (`MAX_COMMANDS`).
    let _ = conn.control(sql).now_or_never();
}

/// Reason for the loss of a whole batch.
enum Loss {
    /// It could not be committed.
    Failed(Arc<sqlx::Error>),
    /// A writing statement exceeded its time limit, for which SQLite rolls back all open work. The others may run
    /// again.
    Interrupted,
    /// The disk failed a statement, for which SQLite rolled back all open work.
    DiskFailed,
}

impl Loss {
    fn error(&self) -> Error {
        match self {
            Self::Failed(error) => Error::Commit(Arc::clone(error)),
            Self::Interrupted => Error::Conflict,
            Self::DiskFailed => Error::StorageFull,
        }
    }
}

struct Batch {
    /// To be sent after the commit.
    replies: Vec<Reply>,
    /// No statement has run since the savepoint `job`, so a transaction may begin there.
    at_savepoint: bool,
    /// A statement exceeded its time limit.
    interrupted: bool,
    /// The disk failed a statement.
    disk_failed: bool,
}

enum Reply {
    Write(oneshot::Sender<Result<Fetched, Error>>, Result<Fetched, Error>),
    Transaction(oneshot::Sender<Result<(), Error>>, Result<(), Error>, EndHooks),
}

impl Batch {
    async fn run_jobs(
        &mut self,
        mut conn: TimedConnection,
        first: Job,
        queue: &mut Receiver,
        max_duration: Duration,
    ) -> sqlx::Result<TimedConnection> {
        let started = Instant::now();
        let mut jobs = 0;
        let mut next = Some(first);
        while let Some(job) = next {
            conn = match job {
                Job::Write(write) => self.write(conn, write).await?,
                Job::Transaction(transaction) => self.transaction(conn, transaction).await?,
            };
            jobs += 1;
            next = if jobs < MAX_JOBS && started.elapsed() < max_duration { queue.try_recv() } else { None };
        }
        conn.control("COMMIT").await?;
        Ok(conn)
    }

    /// Sets the savepoint for a job of several statements.
    fn set_savepoint(&self, conn: &mut TimedConnection) {
        if !self.at_savepoint {
            // Neither can fail while the jobs before succeeded. Should SAVEPOINT fail nevertheless, so will ROLLBACK
            // TO.
            post_control(conn, "RELEASE job");
            post_control(conn, "SAVEPOINT job");
        }
    }

    /// A single statement needs no savepoint: if it fails, SQLite has undone just that one.
    async fn write(&mut self, mut conn: TimedConnection, write: Write) -> sqlx::Result<TimedConnection> {
        if write.reply.is_closed() {
            return Ok(conn);
        }
        let is_script = write.query.is_script;
        if is_script {
            self.set_savepoint(&mut conn);
        }
        let result = conn.run_for(write.limit, write.query).await;
        let failed = result.is_err();
        self.replies.push(Reply::Write(write.reply, result));
        if failed {
            self.interrupted |= conn.take_interrupted();
            self.disk_failed |= conn.take_disk_failed();
            // Some failures (a full disk) end the whole transaction; then this fails as well.
            conn.control(if is_script { "ROLLBACK TO job" } else { "RELEASE job; SAVEPOINT job" }).await?;
        }
        self.at_savepoint = failed;
        Ok(conn)
    }

    /// Leases the connection to a transaction and takes it back.
    async fn transaction(
        &mut self,
        mut conn: TimedConnection,
        Transaction { lease: to_caller, end }: Transaction,
    ) -> sqlx::Result<TimedConnection> {
        if to_caller.is_closed() {
            return Ok(conn);
        }
        self.set_savepoint(&mut conn);
        let (lease, returned) = LeasedConnection::new(conn);
        // A caller that has gone drops the connection, and so sends it back.
        drop(to_caller.send(Ok(lease)));
        let (mut conn, outcome) = returned.await.map_err(|_| sqlx::Error::WorkerCrashed)?;
        let mut keep = false;
        if outcome != TxOutcome::Succeeded {
            conn.settle().await?;
        }
        let interrupted = conn.take_interrupted();
        self.interrupted |= interrupted;
        let disk_failed = conn.take_disk_failed();
        self.disk_failed |= disk_failed;
        if let Ok(EndRequest { commit, reply, hooks }) = end.await {
            keep = commit && outcome == TxOutcome::Succeeded && !interrupted;
            let result = match commit {
                _ if interrupted => Err(Error::TimedOut),
                true if disk_failed => Err(Error::StorageFull),
                true if !keep => Err(Error::Aborted),
                _ => Ok(()),
            };
            self.replies.push(Reply::Transaction(reply, result, hooks));
        }
        self.at_savepoint = !keep;
        if !keep {
            conn.control("ROLLBACK TO job").await?;
        }
        Ok(conn)
    }

    /// Sends each caller the result of its own job, or the failure of the whole batch.
    fn reply(self, failure: Option<&Loss>) {
        for reply in self.replies {
            match reply {
                Reply::Write(to, result) => send(to, result, failure),
                Reply::Transaction(to, result, hooks) => {
                    drop(hooks);
                    send(to, result, failure);
                }
            }
        }
    }
}

fn send<T>(to: oneshot::Sender<Result<T, Error>>, result: Result<T, Error>, failure: Option<&Loss>) {
    let result = match failure {
        Some(loss) => result.and(Err(loss.error())),
        None => result,
    };
    // A caller that no longer listens has hung up.
    drop(to.send(result));
}

//! The one writer of a SQLite file, which commits queued requests together.
//!
//! A commit waits for the disk, and SQLite has one writer at a time: callers that take turns wait
//! for one disk write each. Here they queue for the one connection, the writer gives each its turn
//! in one open transaction, commits when nobody is waiting any more, and only then answers them
//! all. What is acknowledged is durable, as before, but those who wait together share the disk
//! write: several times the throughput, the more the slower the disk is
//! (`docs/decisions/0001-group-commit.md`).
//!
//! Each transaction has its own savepoint, so that one that fails or whose caller goes away is
//! undone alone. A single statement needs none and is run by the writer itself, which spares the
//! hand-over: about twice the throughput of a transaction of one statement.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use sqlx::{
    ConnectOptions, Connection, SqliteConnection,
    sqlite::{SqliteArguments, SqliteConnectOptions, SqliteRow},
};
use tokio::sync::{mpsc, oneshot, watch};

use super::{Durability, batch};
use crate::{
    Error,
    sql::{Answer, Want},
    tx::Lent,
};

/// Requests that may wait in the queue; further callers wait for room in it.
const QUEUE: usize = 1024;

/// Something to be written.
pub(super) enum Job {
    /// One statement, which the writer runs itself.
    Write(Write),
    /// A transaction, which wants the connection for a while.
    Transaction(Transaction),
}

/// A statement and who wants its answer.
pub(super) struct Write {
    pub(super) sql: &'static str,
    pub(super) arguments: SqliteArguments,
    pub(super) want: Want,
    pub(super) answer: oneshot::Sender<Result<Answer<SqliteRow>, Error>>,
}

/// A transaction and how it is to end.
pub(super) struct Transaction {
    /// Takes the connection to the caller.
    pub(super) lend: oneshot::Sender<Result<Lent<SqliteConnection>, Error>>,
    /// Brings the caller's verdict; none comes from one that hung up or panicked.
    pub(super) verdict: oneshot::Receiver<Verdict>,
}

/// What a caller makes of its transaction.
pub(super) struct Verdict {
    /// The work since the savepoint is to stay.
    pub(super) keep: bool,
    /// Who waits to hear of the commit.
    pub(super) answer: oneshot::Sender<Result<(), Error>>,
}

/// A transaction's place in its batch.
pub(crate) struct Turn(oneshot::Sender<Verdict>);

impl Turn {
    /// Keeps or undoes the work and waits for the batch's commit: even work that is undone has
    /// seen, and answers by, what the others are about to commit.
    pub(crate) async fn settle(self, keep: bool) -> Result<(), Error> {
        let (answer, committed) = oneshot::channel();
        // A writer that is gone does not answer.
        let _ = self.0.send(Verdict { keep, answer });
        committed.await.unwrap_or(Err(Error::Closed))
    }
}

impl Job {
    /// Tells the caller why its work was not even begun.
    fn refuse(self, why: &Arc<sqlx::Error>) {
        let error = Error::Commit(Arc::clone(why));
        match self {
            Self::Write(write) => drop(write.answer.send(Err(error))),
            Self::Transaction(transaction) => drop(transaction.lend.send(Err(error))),
        }
    }
}

/// The queue in front of the writer.
pub(crate) struct Writer {
    /// Gone once the writer is told to close.
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    /// Ends when the writer has closed.
    closed: watch::Receiver<()>,
}

impl Writer {
    /// Starts the writer on `conn`; `options` open another one should it break.
    pub(super) fn spawn(
        conn: SqliteConnection,
        options: SqliteConnectOptions,
        durability: Durability,
    ) -> Result<Self, Error> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (closing, closed) = watch::channel(());
        let work = async move {
            work(queue, conn, options, durability.longest_batch()).await;
            drop(closing);
        };
        match durability {
            Durability::Full => drop(tokio::spawn(work)),
            Durability::Relaxed => on_its_own(work).map_err(sqlx::Error::Io)?,
        }
        Ok(Self { jobs: Mutex::new(Some(jobs)), closed })
    }

    pub(super) async fn write(
        &self,
        sql: &'static str,
        arguments: SqliteArguments,
        want: Want,
    ) -> Result<Answer<SqliteRow>, Error> {
        let (answer, answered) = oneshot::channel();
        self.queue(Job::Write(Write { sql, arguments, want, answer })).await?;
        answered.await.unwrap_or(Err(Error::Closed))
    }

    /// Waits for the turn of a transaction.
    pub(super) async fn begin(&self) -> Result<(Lent<SqliteConnection>, Turn), Error> {
        let (lend, lent) = oneshot::channel();
        let (turn, verdict) = oneshot::channel();
        self.queue(Job::Transaction(Transaction { lend, verdict })).await?;
        let lent = lent.await.unwrap_or(Err(Error::Closed))?;
        Ok((lent, Turn(turn)))
    }

    /// Closes the queue and waits until all that is in it has been committed.
    pub(super) async fn close(&self) {
        self.jobs.lock().take();
        // Nothing is ever sent: this waits for the sender's end.
        let _ = self.closed.clone().changed().await;
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        match &*self.jobs.lock() {
            Some(jobs) if !jobs.is_closed() => Ok(()),
            _ => Err(Error::Closed),
        }
    }

    async fn queue(&self, job: Job) -> Result<(), Error> {
        let jobs = self.jobs.lock().clone().ok_or(Error::Closed)?;
        jobs.send(job).await.map_err(|_| Error::Closed)
    }
}

/// Runs the work on a thread of its own: where commits do not wait for the disk, waiting behind everything else that a busy
/// runtime has to do is most of what a write would take.
fn on_its_own(work: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    std::thread::Builder::new().name("store-writer".into()).spawn(move || runtime.block_on(work)).map(drop)
}

/// Writes batch after batch until the queue is closed and empty.
async fn work(
    mut queue: mpsc::Receiver<Job>,
    conn: SqliteConnection,
    options: SqliteConnectOptions,
    longest_batch: Duration,
) {
    let mut open = Some(conn);
    while let Some(first) = queue.recv().await {
        match begin(open.take(), &options).await {
            Ok(conn) => open = batch::run(conn, first, &mut queue, longest_batch).await,
            Err(error) => {
                tracing::error!(%error, "cannot write to the database");
                let error = Arc::new(error);
                first.refuse(&error);
                while let Ok(job) = queue.try_recv() {
                    job.refuse(&error);
                }
            }
        }
    }
    if let Some(conn) = open
        && let Err(error) = conn.close().await
    {
        tracing::warn!(%error, "the database did not close cleanly");
    }
}

/// Begins a batch, on a new connection where the last one was lost.
async fn begin(open: Option<SqliteConnection>, options: &SqliteConnectOptions) -> sqlx::Result<SqliteConnection> {
    let conn = match open {
        Some(conn) => conn,
        None => options.connect().await?,
    };
    batch::begin(conn).await
}

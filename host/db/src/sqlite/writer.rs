//! The one writer of a SQLite file, which commits queued requests together.
//!
//! A commit waits for the disk, and SQLite has one writer at a time: callers that write one after the other wait
//! for one disk write each. Here they queue for the one connection, in which tenants take turns; the writer runs their
//! jobs in one open transaction, commits when the queue is empty, and only then replies to them
//! all. What is acknowledged is durable, but those who wait together share the disk
//! write: several times the throughput, the more the slower the disk is
//! (`docs/develop/decisions/0001-group-commit.md`).
//!
//! Each transaction has its own savepoint, so that one that fails or whose caller goes away is
//! undone alone. A single statement needs none and is run by the writer itself, which saves leasing the connection:
//! about twice the throughput of a transaction of one statement.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::{oneshot, watch};

use super::{
    batch,
    connection::{TimedConnection, TimedOptions},
    durability::Durability,
    job::{CommitHandle, Job, Transaction, Write},
    queue::{self, WriterQueue},
};
use crate::{
    Error,
    lease::LeasedConnection,
    query::{Fetched, Query},
};

/// The writer, seen by its callers.
pub(super) struct Writer {
    queue: queue::Sender,
    /// Its sender is dropped when the writer has closed.
    closed: watch::Receiver<()>,
    /// True if the database did not take a batch, until a write is known to work. A batch that changes nothing always
    /// works.
    has_failed: Arc<AtomicBool>,
    /// Number of committed batches.
    batches: Arc<AtomicU64>,
}

impl Writer {
    /// Starts the writer on `conn`; `options` open another one should it break.
    pub(super) fn spawn(conn: TimedConnection, options: TimedOptions, durability: Durability) -> Result<Self, Error> {
        let (sender, queue) = queue::channel();
        let (closing, closed) = watch::channel(());
        let has_failed = Arc::new(AtomicBool::new(false));
        let batches = Arc::new(AtomicU64::new(0));
        let (failed, committed) = (Arc::clone(&has_failed), Arc::clone(&batches));
        let work = async move {
            write_batches(queue, conn, options, durability.max_batch(), (&failed, &committed)).await;
            drop(closing);
        };
        match durability {
            Durability::Full => drop(tokio::spawn(work)),
            Durability::Relaxed => spawn_thread(work).map_err(sqlx::Error::Io)?,
        }
        Ok(Self { queue: sender, closed, has_failed, batches })
    }

    /// Runs a single statement with this time limit.
    pub(super) async fn write(
        &self,
        queue: WriterQueue,
        query: Query,
        limit: Option<Duration>,
    ) -> Result<Fetched, Error> {
        let (reply, result) = oneshot::channel();
        self.queue.send(queue, Job::Write(Write { query, limit, reply }))?;
        result.await.unwrap_or(Err(Error::Closed))
    }

    /// Waits until a transaction may run.
    pub(super) async fn begin(
        &self,
        queue: WriterQueue,
    ) -> Result<(LeasedConnection<TimedConnection>, CommitHandle), Error> {
        let (to_caller, lease) = oneshot::channel();
        let (commit, end) = oneshot::channel();
        self.queue.send(queue, Job::Transaction(Transaction { lease: to_caller, end }))?;
        Ok((lease.await.unwrap_or(Err(Error::Closed))?, CommitHandle(commit)))
    }

    /// Closes the queue and waits until all that is in it has been committed.
    pub(super) async fn close(&self) {
        self.queue.close();
        // Nothing is ever sent: this waits for the sender to be dropped.
        let _ = self.closed.clone().changed().await;
    }

    /// Number of queued jobs.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// True if the database did not take a batch.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Relaxed)
    }

    /// Number of committed batches.
    pub(super) fn batches(&self) -> u64 {
        self.batches.load(Relaxed)
    }

    /// A change was taken.
    pub(super) fn note_works(&self) {
        self.has_failed.store(false, Relaxed);
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.queue.is_closed() { Err(Error::Closed) } else { Ok(()) }
    }
}

/// Runs the work on a thread of its own: with commits that do not wait for the disk, most of a write's time would be
/// the wait behind a busy runtime's other tasks.
fn spawn_thread(work: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    std::thread::Builder::new().name("store-writer".into()).spawn(move || runtime.block_on(work)).map(drop)
}

/// Writes batch after batch until the queue is closed and empty.
async fn write_batches(
    mut queue: queue::Receiver,
    conn: TimedConnection,
    options: TimedOptions,
    max_batch: Duration,
    (has_failed, batches): (&AtomicBool, &AtomicU64),
) {
    let mut open = Some(conn);
    while let Some(first) = queue.recv().await {
        match begin(open.take(), &options).await {
            Ok(conn) => {
                open = batch::run_batch(conn, first, &mut queue, max_batch, has_failed).await;
                batches.fetch_add(1, Relaxed);
            }
            Err(error) => {
                tracing::error!(%error, "cannot write to the database");
                has_failed.store(true, Relaxed);
                let error = Arc::new(error);
                first.fail(&error);
                while let Some(job) = queue.try_recv() {
                    job.fail(&error);
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
async fn begin(open: Option<TimedConnection>, options: &TimedOptions) -> sqlx::Result<TimedConnection> {
    let conn = match open {
        Some(conn) => conn,
        None => TimedConnection::open(options).await?,
    };
    batch::begin(conn).await
}

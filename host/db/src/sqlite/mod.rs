//! The SQLite side: a pool of readers and the one writer.

mod batch;
mod checkpoint;
mod connection;
mod durability;
mod job;
mod queue;
mod writer;

use std::{num::NonZero, path::Path, thread::available_parallelism, time::Duration};

use sqlx::{
    Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};

use self::checkpoint::Checkpointer;
pub(crate) use self::connection::TimedConnection;
use self::connection::TimedOptions;
pub(crate) use self::durability::Durability;
pub(crate) use self::job::CommitHandle;
use self::queue::WriterQueue;
use self::writer::Writer;
use crate::{
    Error,
    lease::LeasedConnection,
    limits::{TimeLimits, unless_exempt},
    pool::{Limits, Pool},
    pool_kind::PoolKind,
    query::{Fetched, PREPARED_STATEMENTS, Query},
    retry::Attempts,
    stats::DbStats,
    tenant::current_tenant,
};

/// Maximum wait for another process that writes to the same file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Readers that never wait behind a tenant.
const RESERVED_READERS: u32 = 2;

/// An open SQLite file.
pub(crate) struct Sqlite {
    options: SqliteConnectOptions,
    readers: Pool<TimedConnection>,
    reserved: Pool<TimedConnection>,
    writer: Writer,
    time_limits: TimeLimits,
    checkpointer: Option<Checkpointer>,
}

impl Sqlite {
    pub(crate) async fn open(path: &Path, durability: Durability, time_limits: TimeLimits) -> Result<Self, Error> {
        if let Some(folder) = path.parent() {
            tokio::fs::create_dir_all(folder).await.map_err(Error::Folder)?;
        }
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(durability.synchronous())
            .pragma("wal_autocheckpoint", durability.checkpoint_pages())
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .statement_cache_capacity(PREPARED_STATEMENTS)
            .command_buffer_size(batch::MAX_COMMANDS);
        // The writer creates the file, so it comes before the readers.
        let of_writer = TimedOptions { connect: options.clone(), limit: time_limits.write };
        let not_opened = |error| Error::File { path: path.to_owned(), error };
        let conn = TimedConnection::open(&of_writer).await.map_err(not_opened)?;
        let writer = Writer::spawn(conn, of_writer, durability)?;
        let limits = Limits {
            max_connections: max_readers(),
            patience: time_limits.connection,
            ping_after: Duration::MAX,
            idle_timeout: Duration::MAX,
            max_lifetime: Duration::MAX,
            is_shared: true,
        };
        let read_only =
            TimedOptions { connect: options.clone().pragma("query_only", "ON"), limit: time_limits.statement };
        let reserved_limits = Limits { max_connections: RESERVED_READERS, is_shared: false, ..limits };
        let reserved = Pool::new(read_only.clone(), (), reserved_limits);
        let readers = Pool::new(read_only, (), limits);
        let checkpointer = (durability == Durability::Relaxed).then(|| Checkpointer::start(options.clone()));
        Ok(Self { options, readers, reserved, writer, time_limits, checkpointer })
    }

    pub(crate) fn options(&self) -> &SqliteConnectOptions {
        &self.options
    }

    /// Fails if the writer has stopped, which no reader would notice.
    pub(crate) fn check_writer(&self) -> Result<(), Error> {
        self.writer.check()
    }

    /// True if the file did not take a batch of writes.
    pub(crate) fn has_failed_writes(&self) -> bool {
        self.writer.has_failed()
    }

    /// Number of batches of writes.
    pub(crate) fn written_batches(&self) -> u64 {
        self.writer.batches()
    }

    pub(crate) fn note_writes_work(&self) {
        self.writer.note_works();
    }

    pub(crate) fn stats(&self) -> DbStats {
        let pools = vec![self.readers.stats("shared"), self.reserved.stats("reserved")];
        DbStats { pools, queued_writes: self.writer.queued() }
    }

    pub(crate) fn time_limits(&self) -> &TimeLimits {
        &self.time_limits
    }

    pub(crate) async fn read(&self, pool: PoolKind, query: Query) -> Result<Fetched, Error> {
        let readers = match pool {
            PoolKind::Shared => &self.readers,
            PoolKind::Reserved | PoolKind::TimeCritical => &self.reserved,
        };
        let mut pooled = readers.acquire().await?;
        let fetched = pooled.conn()?.run(query).await?;
        pooled.release();
        Ok(fetched)
    }

    pub(crate) async fn write(&self, pool: PoolKind, query: Query) -> Result<Fetched, Error> {
        let limit = unless_exempt(self.time_limits.write);
        let mut attempts = Attempts::first();
        loop {
            match self.writer.write(writer_queue(pool), query.clone(), limit).await {
                // Another job of its batch exceeded its time limit.
                Err(error @ Error::Conflict) => attempts.retry(error).await?,
                result => return result,
            }
        }
    }

    pub(crate) async fn begin(
        &self,
        pool: PoolKind,
    ) -> Result<(LeasedConnection<TimedConnection>, CommitHandle), Error> {
        self.writer.begin(writer_queue(pool)).await
    }

    /// Opens a reader beside the pool, which reads that many rows ahead of its caller.
    pub(crate) async fn connect_reader(&self, read_ahead: usize) -> Result<SqliteConnection, Error> {
        let options = self.options.clone().pragma("query_only", "ON").row_buffer_size(read_ahead);
        Ok(SqliteConnection::connect_with(&options).await?)
    }

    /// Waits until all acknowledged writes are on the disk.
    pub(crate) async fn flush(&self) -> Result<(), Error> {
        checkpoint::flush(&self.options).await
    }

    pub(crate) async fn close(&self) {
        if let Some(checkpointer) = &self.checkpointer {
            checkpointer.close().await;
        }
        // Readers go first: the last connection to close folds the log into the file.
        self.readers.close().await;
        self.reserved.close().await;
        self.writer.close().await;
    }
}

fn writer_queue(pool: PoolKind) -> WriterQueue {
    match pool {
        PoolKind::Shared => WriterQueue::Tenant(current_tenant()),
        PoolKind::Reserved | PoolKind::TimeCritical => WriterQueue::Reserved,
    }
}

/// One network alone gets half of them: one for each processor, and four at least.
fn max_readers() -> u32 {
    2 * available_parallelism().map_or(4, |cores| u32::try_from(NonZero::get(cores)).unwrap_or(4).max(4))
}

/// Runs a statement of the transaction that holds `lease`.
pub(crate) async fn run_leased(lease: &mut LeasedConnection<TimedConnection>, query: Query) -> Result<Fetched, Error> {
    let (conn, outcome) = lease.parts()?;
    let before = outcome.start_statement();
    let result = conn.run(query).await;
    outcome.record(before, &result);
    result
}

//! The SQLite side: a pool of readers and the one writer.

mod batch;
mod checkpoint;
mod durability;
mod job;
mod run;
mod writer;

use std::{num::NonZero, path::Path, thread::available_parallelism, time::Duration};

use sqlx::{
    Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};

use self::checkpoint::Checkpointer;
pub(crate) use self::durability::Durability;
pub(crate) use self::job::CommitHandle;
pub(crate) use self::run::{control, run_leased};
use self::writer::Writer;
use crate::{
    Error,
    lease::LeasedConnection,
    pool::{Limits, Pool, Recover},
    query::{Fetched, PREPARED_STATEMENTS, Query},
};

/// How long to wait for another process that writes to the same file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

impl Recover for SqliteConnection {
    type Settings = ();

    /// Its thread resets a statement whose caller has gone before it starts the next one.
    async fn recover(&mut self, (): &(), _in_transaction: bool) -> sqlx::Result<()> {
        self.ping().await
    }
}

/// An open SQLite file.
pub(crate) struct Sqlite {
    options: SqliteConnectOptions,
    readers: Pool<SqliteConnection>,
    writer: Writer,
    checkpointer: Option<Checkpointer>,
}

impl Sqlite {
    pub(crate) async fn open(path: &Path, durability: Durability) -> Result<Self, Error> {
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
        let conn = SqliteConnection::connect_with(&options).await?;
        let writer = Writer::spawn(conn, options.clone(), durability)?;
        let limits = Limits {
            max_connections: max_readers(),
            ping_after: Duration::MAX,
            idle_timeout: Duration::MAX,
            max_lifetime: Duration::MAX,
        };
        let readers = Pool::new(options.clone().pragma("query_only", "ON"), (), limits);
        let checkpointer = (durability == Durability::Relaxed).then(|| Checkpointer::start(options.clone()));
        Ok(Self { options, readers, writer, checkpointer })
    }

    pub(crate) fn options(&self) -> &SqliteConnectOptions {
        &self.options
    }

    /// Fails if the writer has stopped, which no reader would notice.
    pub(crate) fn check_writer(&self) -> Result<(), Error> {
        self.writer.check()
    }

    pub(crate) async fn read(&self, query: Query) -> Result<Fetched, Error> {
        let mut pooled = self.readers.acquire().await?;
        let fetched = run::run(pooled.conn()?, query).await?;
        pooled.release();
        Ok(fetched)
    }

    pub(crate) async fn write(&self, query: Query) -> Result<Fetched, Error> {
        self.writer.write(query).await
    }

    pub(crate) async fn begin(&self) -> Result<(LeasedConnection<SqliteConnection>, CommitHandle), Error> {
        self.writer.begin().await
    }

    /// Opens a reader beside the pool, which reads that many rows ahead of its caller.
    pub(crate) async fn connect_reader(&self, read_ahead: usize) -> Result<SqliteConnection, Error> {
        let options = self.options.clone().pragma("query_only", "ON").row_buffer_size(read_ahead);
        Ok(SqliteConnection::connect_with(&options).await?)
    }

    /// Waits until all that is acknowledged so far is on the disk.
    pub(crate) async fn flush(&self) -> Result<(), Error> {
        checkpoint::flush(&self.options).await
    }

    pub(crate) async fn close(&self) {
        if let Some(checkpointer) = &self.checkpointer {
            checkpointer.close().await;
        }
        // Readers go first: the last connection to close folds the log into the file.
        self.readers.close().await;
        self.writer.close().await;
    }
}

fn max_readers() -> u32 {
    available_parallelism().map_or(4, |cores| u32::try_from(NonZero::get(cores)).unwrap_or(4).max(4))
}

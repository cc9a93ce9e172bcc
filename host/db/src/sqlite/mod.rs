//! The SQLite side: a pool of readers and the one writer.

mod batch;
mod checkpoint;
mod writer;

use std::{num::NonZero, path::Path, thread::available_parallelism, time::Duration};

use sqlx::{
    Connection, SqliteConnection,
    sqlite::{SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous},
};

pub(crate) use self::batch::control;
use self::checkpoint::Checkpointer;
pub(crate) use self::writer::Turn;
use self::writer::Writer;
use crate::{
    Error,
    db::refuse_nested,
    pool::{Lendable, Limits, Pool},
    sql::{Answer, STATEMENTS, Want},
    tx::Lent,
    unit,
};

/// How long to wait for another process that writes to the same file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

impl Lendable for SqliteConnection {
    type Terms = ();

    /// Its thread resets a statement whose caller has gone before it turns to the next one.
    async fn recover(&mut self, (): &(), _in_transaction: bool) -> sqlx::Result<()> {
        self.ping().await
    }
}

/// Where a statement runs.
pub(crate) enum Target<'c> {
    /// On a reader.
    Read(&'c Pool<SqliteConnection>),
    /// On the writer, on its own.
    Write(&'c Writer),
    /// On the writer, in a transaction.
    Tx(&'c mut Lent<SqliteConnection>),
}

impl Target<'_> {
    pub(crate) async fn run(
        self,
        sql: &'static str,
        arguments: SqliteArguments,
        want: Want,
    ) -> Result<Answer<SqliteRow>, Error> {
        match self {
            Self::Read(pool) => {
                let arguments = match unit::current() {
                    Some(unit) => match unit.read_sqlite(sql, arguments, want).await? {
                        Ok(answer) => return Ok(answer),
                        Err(arguments) => arguments,
                    },
                    None => arguments,
                };
                let mut pooled = pool.acquire().await?;
                let answer = run(pooled.conn()?, sql, arguments, want).await?;
                pooled.release();
                Ok(answer)
            }
            Self::Write(writer) => {
                refuse_nested()?;
                match unit::current() {
                    Some(unit) => unit.write_sqlite(sql, arguments, want).await,
                    None => writer.write(sql, arguments, want).await,
                }
            }
            Self::Tx(lent) => run_in(lent, sql, arguments, want).await,
        }
    }
}

/// A statement of the transaction that `lent` is in.
pub(crate) async fn run_in(
    lent: &mut Lent<SqliteConnection>,
    sql: &'static str,
    arguments: SqliteArguments,
    want: Want,
) -> Result<Answer<SqliteRow>, Error> {
    let (conn, fate) = lent.parts()?;
    let before = fate.begin();
    let result = run(conn, sql, arguments, want).await;
    fate.note(before, &result);
    result
}

async fn run(
    conn: &mut SqliteConnection,
    sql: &'static str,
    arguments: SqliteArguments,
    want: Want,
) -> Result<Answer<SqliteRow>, Error> {
    let query = sqlx::query_with(sql, arguments);
    Ok(match want {
        Want::Count => Answer::Count(query.execute(conn).await?.rows_affected()),
        Want::First => Answer::Rows(query.fetch_optional(conn).await?.into_iter().collect()),
        Want::All => Answer::Rows(query.fetch_all(conn).await?),
    })
}

/// What survives, and what that costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// What is acknowledged survives a power cut: each commit waits for the disk, and many share it.
    Full,
    /// What is acknowledged survives a kill of the process; a power cut may undo the latest of it. No commit waits for
    /// the disk, so that there is nothing to share by waiting for others.
    Relaxed,
}

impl Durability {
    fn synchronous(self) -> SqliteSynchronous {
        match self {
            Self::Full => SqliteSynchronous::Full,
            Self::Relaxed => SqliteSynchronous::Normal,
        }
    }

    /// How long a batch of the writer takes in further requests at most: the first of them waits for the last.
    fn longest_batch(self) -> Duration {
        match self {
            Self::Full => Duration::from_millis(10),
            Self::Relaxed => Duration::from_millis(1),
        }
    }

    /// Pages of the log at which the writer folds it into the file itself.
    fn checkpoint_at(self) -> &'static str {
        match self {
            // 1 MiB. Whoever writes waits for it: with 4 MiB four times as long, and as much is written all in all.
            Self::Full => "250",
            // 64 MiB: only where the checkpointer does not keep up.
            Self::Relaxed => "16000",
        }
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
            .pragma("wal_autocheckpoint", durability.checkpoint_at())
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .statement_cache_capacity(STATEMENTS)
            .command_buffer_size(batch::COMMANDS);
        // The writer creates the file, so it comes before the readers.
        let conn = SqliteConnection::connect_with(&options).await?;
        let writer = Writer::spawn(conn, options.clone(), durability)?;
        let limits = Limits { max: readers(), ping_after: Duration::MAX, idle: Duration::MAX, age: Duration::MAX };
        let readers = Pool::new(options.clone().pragma("query_only", "ON"), (), limits);
        let checkpointer = (durability == Durability::Relaxed).then(|| Checkpointer::start(options.clone()));
        Ok(Self { options, readers, writer, checkpointer })
    }

    pub(crate) fn options(&self) -> &SqliteConnectOptions {
        &self.options
    }

    /// Whether the writer is at work, which a reader's sign of life does not tell.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.writer.check()
    }

    pub(crate) fn read(&self) -> Target<'_> {
        Target::Read(&self.readers)
    }

    pub(crate) fn write(&self) -> Target<'_> {
        Target::Write(&self.writer)
    }

    pub(crate) async fn begin(&self) -> Result<(Lent<SqliteConnection>, Turn), Error> {
        self.writer.begin().await
    }

    /// A reader beside those of the pool, which reads that many rows ahead of its caller.
    pub(crate) async fn reader(&self, ahead: usize) -> Result<SqliteConnection, Error> {
        let options = self.options.clone().pragma("query_only", "ON").row_buffer_size(ahead);
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

fn readers() -> u32 {
    available_parallelism().map_or(4, |cores| u32::try_from(NonZero::get(cores)).unwrap_or(4).max(4))
}

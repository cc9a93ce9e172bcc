//! A connection whose statements have a time limit.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use sqlx::{
    ConnectOptions as _, Connection as _, SqliteConnection,
    error::DatabaseError,
    sqlite::{SqliteConnectOptions, SqliteRow},
};
use tokio::time::Instant;

use crate::{
    Error,
    limits::unless_exempt,
    pool::Reusable,
    query::{Arguments, Fetch, Fetched, Query},
    size,
};

/// Instructions of SQLite's virtual machine between two checks of the clock: some ten microseconds.
const INSTRUCTIONS: i32 = 1_000;
/// SQLite's code for a statement that was interrupted.
const INTERRUPT: &str = "9";

/// Deadline of the current statement, in microseconds since the connection was opened.
struct Deadline {
    opened_at: Instant,
    micros: AtomicU64,
}

impl Deadline {
    fn set(&self, limit: Option<Duration>) {
        let until = limit.map(|limit| self.opened_at.elapsed() + limit);
        let micros = until.and_then(|until| u64::try_from(until.as_micros()).ok()).unwrap_or(u64::MAX);
        self.micros.store(micros, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        let micros = self.micros.load(Ordering::Relaxed);
        micros != u64::MAX && self.opened_at.elapsed().as_micros() >= u128::from(micros)
    }
}

/// Options to open a connection with.
#[derive(Clone)]
pub(crate) struct TimedOptions {
    pub(super) connect: SqliteConnectOptions,
    /// Maximum duration of a statement.
    pub(super) limit: Duration,
}

/// A connection whose statements end at a deadline.
pub(crate) struct TimedConnection {
    conn: SqliteConnection,
    limit: Duration,
    deadline: Arc<Deadline>,
    /// A statement was interrupted. If it was writing, SQLite has rolled back the whole transaction, so nothing must
    /// run until the transaction's owner knows.
    interrupted: bool,
    /// The disk failed a statement, for which SQLite may have rolled back the whole transaction, too.
    disk_failed: bool,
    /// A statement was begun whose end was not observed.
    is_running: bool,
}

impl TimedConnection {
    pub(super) async fn open(options: &TimedOptions) -> sqlx::Result<Self> {
        let mut conn = options.connect.connect().await?;
        let deadline = Arc::new(Deadline { opened_at: Instant::now(), micros: AtomicU64::new(u64::MAX) });
        let watched = Arc::clone(&deadline);
        conn.lock_handle().await?.set_progress_handler(INSTRUCTIONS, move || !watched.is_over());
        Ok(Self { conn, limit: options.limit, deadline, interrupted: false, disk_failed: false, is_running: false })
    }

    /// Runs a statement of this task's own work.
    pub(super) async fn run(&mut self, query: Query) -> Result<Fetched, Error> {
        self.run_for(unless_exempt(self.limit), query).await
    }

    /// Runs a statement with this time limit.
    pub(super) async fn run_for(&mut self, limit: Option<Duration>, query: Query) -> Result<Fetched, Error> {
        self.check_usable()?;
        let Arguments::Sqlite(arguments) = query.arguments else { unreachable!("a query of another database") };
        #[cfg(debug_assertions)]
        let (text, is_kept) = (query.text.as_str().to_owned(), query.persistent && !query.is_script);
        let statement = sqlx::query_with(query.text, arguments).persistent(query.persistent);
        self.deadline.set(limit);
        self.is_running = true;
        let conn = &mut self.conn;
        #[cfg(debug_assertions)]
        if is_kept {
            let checked = crate::plans::check(conn, &text).await;
            if let Err(error) = checked {
                self.is_running = false;
                return Err(error.into());
            }
        }
        let rows = |rows: Vec<SqliteRow>| Fetched::Sqlite(rows);
        let fetched = match query.fetch {
            Fetch::Count => {
                statement.execute(conn).await.map(|done| Fetched::Count(done.rows_affected())).map_err(Error::from)
            }
            Fetch::First => {
                statement.fetch_optional(conn).await.map(|row| rows(row.into_iter().collect())).map_err(Error::from)
            }
            Fetch::All => match query.most_read {
                Some(most) => size::collect(statement.fetch(conn), most, size::sqlite).await.map(rows),
                None => statement.fetch_all(conn).await.map(rows).map_err(Error::from),
            },
        };
        self.is_running = false;
        match fetched {
            Ok(fetched) => Ok(fetched),
            Err(Error::Driver(error)) if is_interrupt(&error) => {
                self.interrupted = true;
                Err(Error::TimedOut)
            }
            Err(error) => {
                self.disk_failed |= error.is_sqlite_disk_failure();
                Err(error)
            }
        }
    }

    /// Fails if the transaction may be gone: a statement would then commit by itself.
    fn check_usable(&self) -> Result<(), Error> {
        match self {
            Self { interrupted: true, .. } => Err(Error::TimedOut),
            Self { disk_failed: true, .. } => Err(Error::StorageFull),
            _ => Ok(()),
        }
    }

    /// Runs a statement that controls a part of a transaction.
    pub(crate) async fn control_part(&mut self, sql: &'static str) -> Result<(), Error> {
        self.check_usable()?;
        Ok(self.control(sql).await?)
    }

    /// Runs a statement that controls the transaction, however long it takes.
    pub(super) async fn control(&mut self, sql: &'static str) -> sqlx::Result<()> {
        self.deadline.set(None);
        sqlx::query(sql).execute(&mut self.conn).await.map(drop)
    }

    /// Waits for a statement whose caller has gone in the middle of it; it ends at its own deadline.
    pub(super) async fn settle(&mut self) -> sqlx::Result<()> {
        self.conn.ping().await?;
        self.interrupted |= mem::take(&mut self.is_running) && self.deadline.is_over();
        Ok(())
    }

    /// Ends the statement under way, if there is one.
    fn interrupt(&self) {
        self.deadline.set(Some(Duration::ZERO));
    }

    /// True if a statement was interrupted since the last call.
    pub(super) fn take_interrupted(&mut self) -> bool {
        mem::take(&mut self.interrupted)
    }

    /// True if the disk failed a statement since the last call.
    pub(super) fn take_disk_failed(&mut self) -> bool {
        mem::take(&mut self.disk_failed)
    }

    pub(super) async fn close(self) -> sqlx::Result<()> {
        self.conn.close().await
    }
}

fn is_interrupt(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == INTERRUPT)
}

impl Reusable for TimedConnection {
    type Options = TimedOptions;
    type Settings = ();

    async fn open(options: &TimedOptions) -> sqlx::Result<Self> {
        Self::open(options).await
    }

    fn is_exhausted(_: &sqlx::Error) -> bool {
        false
    }

    async fn ping(&mut self) -> sqlx::Result<()> {
        self.conn.ping().await
    }

    async fn close(self) -> sqlx::Result<()> {
        self.conn.close().await
    }

    /// The statement's caller has gone. Its thread resets it before it starts the next one.
    async fn recover(&mut self, (): &(), _in_transaction: bool) -> sqlx::Result<()> {
        self.interrupt();
        self.conn.ping().await?;
        self.interrupted = false;
        self.disk_failed = false;
        self.is_running = false;
        Ok(())
    }
}

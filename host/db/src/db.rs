//! The database's handle.

use std::{path::Path, sync::Arc};

use futures_util::future::BoxFuture;

use crate::{
    Backend, Config, Error, Record, Snapshot, Sql, Statement, Tx, migrate, postgres, snapshot,
    sqlite::{self, Durability},
    unit::{self, End, Ended, Opening, Unit},
};

tokio::task_local! {
    /// Set while the work of a transaction runs. A write of the same task beside it would wait,
    /// on SQLite, for the very connection its own transaction holds.
    static IN_TRANSACTION: ();
}

/// Refuses what would wait for the transaction it is asked in.
pub(crate) fn refuse_nested() -> Result<(), Error> {
    match IN_TRANSACTION.try_with(|()| ()) {
        Ok(()) => Err(Error::Nested),
        Err(_) => Ok(()),
    }
}

/// A database, open. Clones share it.
#[derive(Clone)]
pub struct Db(Arc<Open>);

enum Open {
    Sqlite(Box<sqlite::Sqlite>),
    Postgres { pool: postgres::Pool, server: Box<postgres::Server> },
}

/// The end of a transaction, which its closure does not hold.
pub(crate) enum Turn {
    Sqlite(sqlite::Turn),
    Postgres(postgres::Turn),
}

impl Turn {
    /// Keeps the transaction's work, or undoes it.
    pub(crate) async fn settle(self, keep: bool) -> Result<(), Error> {
        match self {
            Self::Sqlite(turn) => turn.settle(keep).await,
            Self::Postgres(turn) => turn.settle(keep).await,
        }
    }
}

impl Db {
    /// Opens the database. A missing SQLite file is created; a PostgreSQL server must answer.
    pub async fn connect(config: &Config) -> Result<Self, Error> {
        Ok(Self(Arc::new(match config {
            Config::Sqlite { path } => Open::Sqlite(Box::new(sqlite::Sqlite::open(path, Durability::Full).await?)),
            Config::Postgres { url, max_connections, statement_timeout } => {
                let server = postgres::Server::new(url, *statement_timeout)?;
                Open::Postgres { pool: server.pool(*max_connections).await?, server: Box::new(server) }
            }
        })))
    }

    /// Opens a SQLite file for what many write all the time and nobody mourns, and brings it up to date with
    /// `migrations/relaxed`. What it acknowledges survives a kill of the process, but a power cut may undo the latest of
    /// it: no write waits for the disk.
    pub async fn relaxed(path: &Path) -> Result<Self, Error> {
        let sqlite = sqlite::Sqlite::open(path, Durability::Relaxed).await?;
        migrate::relaxed(sqlite.options()).await?;
        Ok(Self(Arc::new(Open::Sqlite(Box::new(sqlite)))))
    }

    /// Waits until all that is acknowledged so far survives a power cut. It does already, but for [`Db::relaxed`].
    pub async fn flush(&self) -> Result<(), Error> {
        match &*self.0 {
            Open::Sqlite(sqlite) => sqlite.flush().await,
            Open::Postgres { .. } => Ok(()),
        }
    }

    /// Brings the schema up to date. Safe to run from several processes at once.
    pub async fn migrate(&self) -> Result<(), Error> {
        match &*self.0 {
            Open::Sqlite(sqlite) => migrate::sqlite(sqlite.options()).await,
            Open::Postgres { server, .. } => migrate::postgres(server).await,
        }
    }

    /// The kind of database.
    pub fn backend(&self) -> Backend {
        match &*self.0 {
            Open::Sqlite(_) => Backend::Sqlite,
            Open::Postgres { .. } => Backend::Postgres,
        }
    }

    /// Asks the database for a sign of life.
    pub async fn ping(&self) -> Result<(), Error> {
        if let Open::Sqlite(sqlite) = &*self.0 {
            sqlite.check()?;
        }
        self.query("SELECT 1").execute().await.map(drop)
    }

    /// A reading statement outside any transaction. It sees all that has been acknowledged.
    pub fn query(&self, sql: impl Into<Sql>) -> Statement<'_> {
        match &*self.0 {
            Open::Sqlite(sqlite) => Statement::sqlite(sql.into(), sqlite.read()),
            Open::Postgres { pool, .. } => Statement::postgres(sql.into(), postgres::Target::Read(pool)),
        }
    }

    /// Reads one page of a list and the number of all its rows. `count` answers one number, `list` takes the limit and
    /// the offset as its last two values; `bind` gives either the values before them.
    ///
    /// ```no_run
    /// # async fn players(db: &hub_db::Db, network: i64) -> Result<(), hub_db::Error> {
    /// let (names, total): (Vec<(String,)>, i64) = db
    ///     .page(
    ///         "SELECT COUNT(*) FROM players WHERE network_id = $1",
    ///         "SELECT name FROM players WHERE network_id = $1 ORDER BY name LIMIT $2 OFFSET $3",
    ///         |statement| statement.bind(network),
    ///         20,
    ///         0,
    ///     )
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn page<'d, T: Record>(
        &'d self,
        count: impl Into<Sql>,
        list: impl Into<Sql>,
        bind: impl Fn(Statement<'d>) -> Statement<'d>,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<T>, i64), Error> {
        let (count, list) = (bind(self.query(count)), bind(self.query(list)).bind(limit).bind(offset));
        let (total,): (i64,) = count.one().await?;
        Ok((list.all().await?, total))
    }

    /// All that the database holds at this moment, whatever is written meanwhile, on a connection of its own. It may be
    /// read for as long as it takes.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        match &*self.0 {
            Open::Sqlite(sqlite) => Snapshot::sqlite(sqlite.reader(snapshot::READ_AHEAD).await?).await,
            Open::Postgres { server, .. } => Snapshot::postgres(server.unhurried().await?).await,
        }
    }

    /// One writing statement, with or without `RETURNING`, that is atomic by itself. Answered when
    /// it is durable. It costs less than a transaction of one statement.
    ///
    /// PostgreSQL runs it again when it loses against a concurrent transaction.
    pub fn write(&self, sql: impl Into<Sql>) -> Statement<'_> {
        match &*self.0 {
            Open::Sqlite(sqlite) => Statement::sqlite(sql.into(), sqlite.write()),
            Open::Postgres { pool, .. } => Statement::postgres(sql.into(), postgres::Target::Write(pool)),
        }
    }

    /// Runs `work` as one transaction: kept whole and durable if it answers `Ok`, undone if it
    /// answers `Err`, panics or is dropped.
    ///
    /// `work` may be run again when PostgreSQL gives it up in favour of a concurrent transaction,
    /// so it must change nothing but the database. It must wait for nothing but the database
    /// either: on SQLite all writers wait for it. All its statements go through its own handle;
    /// [`Db::query`] would not see what it has written. A failed statement spoils the transaction
    /// on both databases, see [`Error::Aborted`].
    ///
    /// ```no_run
    /// # async fn rename(db: &hub_db::Db, id: i64, name: &str) -> Result<(), hub_db::Error> {
    /// db.transaction(async |mut tx| {
    ///     tx.query("UPDATE players SET name = $1 WHERE id = $2").bind(name).bind(id).execute().await?;
    ///     tx.query("INSERT INTO names (player, name) VALUES ($1, $2)").bind(id).bind(name).execute().await?;
    ///     Ok(())
    /// })
    /// .await
    /// # }
    /// ```
    pub async fn transaction<T, E, F>(&self, work: impl Fn(Tx) -> F) -> Result<T, E>
    where
        E: From<Error>,
        F: Future<Output = Result<T, E>> + Send,
    {
        refuse_nested()?;
        if let Some(unit) = unit::current() {
            return unit.transaction(|tx| IN_TRANSACTION.scope((), work(tx))).await;
        }
        let mut attempt = 1;
        loop {
            let (tx, turn) = self.begin().await?;
            let outcome = IN_TRANSACTION.scope((), work(tx)).await;
            match turn.settle(outcome.is_ok()).await {
                Ok(()) => return outcome,
                Err(Error::Conflict) if attempt < postgres::ATTEMPTS => {
                    postgres::back_off(attempt).await;
                    attempt += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Runs `work` so that all it writes by [`Db::write`] and [`Db::transaction`] is one transaction, together with what
    /// `opening` does before the first of it, and `closing` when `work` is done. `opening` may give all of it up,
    /// `closing` says whether it is kept. What `work` does by [`after_commit`](crate::after_commit) follows then.
    ///
    /// Other tasks that `work` starts are not part of it. `work` may be run again, as that of [`Db::transaction`].
    pub async fn unit<T, F>(
        &self,
        opening: Opening,
        work: impl Fn() -> F,
        closing: impl for<'a> Fn(&'a mut Tx, &'a T) -> BoxFuture<'a, Result<bool, Error>>,
    ) -> Result<Ended<T>, Error>
    where
        F: Future<Output = T>,
    {
        let mut attempt = 1;
        loop {
            let unit = Unit::new(self, Arc::clone(&opening));
            let done = unit.scope(work()).await;
            match unit.finish(&done, &closing).await {
                Ok(End::Untouched) => return Ok(Ended::Untouched(done)),
                Ok(End::Refused) => return Ok(Ended::Refused),
                Ok(End::Settled(after)) => {
                    for follows in after {
                        follows.await;
                    }
                    return Ok(Ended::Settled(done));
                }
                Err(error) if error.is_conflict() && attempt < postgres::ATTEMPTS => {
                    postgres::back_off(attempt).await;
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) async fn begin(&self) -> Result<(Tx, Turn), Error> {
        Ok(match &*self.0 {
            Open::Sqlite(sqlite) => {
                let (lent, turn) = sqlite.begin().await?;
                (Tx::sqlite(lent), Turn::Sqlite(turn))
            }
            Open::Postgres { pool, .. } => {
                let (lent, turn) = postgres::begin(pool).await?;
                (Tx::postgres(lent), Turn::Postgres(turn))
            }
        })
    }

    /// Finishes what is under way and closes the database. Later use answers [`Error::Closed`].
    pub async fn close(&self) {
        match &*self.0 {
            Open::Sqlite(sqlite) => sqlite.close().await,
            Open::Postgres { pool, .. } => pool.close().await,
        }
    }
}

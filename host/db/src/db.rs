//! The database's handle.

use std::{path::Path, sync::Arc};

use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use crate::{
    AmbientOutcome, Backend, Config, DbStats, Error, OnBegin, Record, Snapshot, Sql, Statement, Tx,
    ambient::{AmbientTransaction, End},
    engine::Engine,
    limits::{TimeLimits, at_most},
    migrate,
    pool_kind::PoolKind,
    postgres::Postgres,
    query::{Fetched, Query},
    retry::Attempts,
    snapshot,
    sqlite::{Durability, Sqlite},
    statement::{self, Target},
    tx::{self, Work},
};

/// A database, open. Clones share it.
#[derive(Clone)]
pub struct Db {
    engine: Arc<Engine>,
    pool: PoolKind,
}

impl Db {
    /// Opens the database. A missing SQLite file is created; a PostgreSQL server must answer.
    pub fn connect(config: &Config) -> BoxFuture<'_, Result<Self, Error>> {
        Self::connect_limited(config, TimeLimits::default())
    }

    /// Opens the database with time limits other than the usual ones.
    pub fn connect_limited(config: &Config, limits: TimeLimits) -> BoxFuture<'_, Result<Self, Error>> {
        Box::pin(async move {
            Ok(Self::new(match config {
                Config::Sqlite { path } => {
                    Engine::Sqlite(Box::new(Sqlite::open(path, Durability::Full, limits).await?))
                }
                Config::Postgres { url, max_connections, statement_timeout } => {
                    let postgres = Postgres::connect(url, *max_connections, *statement_timeout, limits).await?;
                    Engine::Postgres(Box::new(postgres))
                }
            }))
        })
    }

    /// Opens a SQLite file with relaxed durability and brings it up to date with `migrations/relaxed`. Acknowledged
    /// writes survive a kill of the process, but a power cut may lose the latest ones: none waits for the disk.
    pub fn connect_relaxed(path: &Path) -> BoxFuture<'_, Result<Self, Error>> {
        Box::pin(async move {
            let sqlite = Sqlite::open(path, Durability::Relaxed, TimeLimits::default()).await?;
            migrate::relaxed(sqlite.options()).await?;
            Ok(Self::new(Engine::Sqlite(Box::new(sqlite))))
        })
    }

    fn new(engine: Engine) -> Self {
        Self { engine: Arc::new(engine), pool: PoolKind::Shared }
    }

    /// The same database over a few reserved connections, for short statements that must never wait behind a tenant's
    /// work, such as authentication or this node's heartbeat. Writes on SQLite come next, after the writer's current
    /// job. On PostgreSQL they take three seconds at most. It is no part of an [ambient
    /// transaction](Db::ambient_transaction).
    #[must_use]
    pub fn reserved(&self) -> Self {
        Self { engine: Arc::clone(&self.engine), pool: PoolKind::Reserved }
    }

    /// The same database over one more connection, for statements that are useless a second later, such as the renewal
    /// of a lease. On PostgreSQL they wait for a lock for a quarter of a second and take a second at most. It is no
    /// part of an [ambient transaction](Db::ambient_transaction).
    #[must_use]
    pub fn time_critical(&self) -> Self {
        Self { engine: Arc::clone(&self.engine), pool: PoolKind::TimeCritical }
    }

    /// Waits until all acknowledged writes survive a power cut. Only [`Db::connect_relaxed`] needs it.
    pub fn flush(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async {
            match &*self.engine {
                Engine::Sqlite(sqlite) => sqlite.flush().await,
                Engine::Postgres(_) => Ok(()),
            }
        })
    }

    /// Brings the schema up to date. Safe to run from several processes at once.
    pub fn migrate(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async {
            match &*self.engine {
                Engine::Sqlite(sqlite) => migrate::sqlite(sqlite.options()).await,
                Engine::Postgres(postgres) => migrate::postgres(postgres.server()).await,
            }
        })
    }

    /// The kind of database.
    pub fn backend(&self) -> Backend {
        self.engine.backend()
    }

    /// Current state of its connections.
    pub fn stats(&self) -> DbStats {
        self.engine.stats()
    }

    /// True if SQLite's file did not take a batch of writes, because its disk is full or fails, and it is not known to
    /// take them again ([`Self::note_writes_work`]).
    pub fn has_failed_writes(&self) -> bool {
        match &*self.engine {
            Engine::Sqlite(sqlite) => sqlite.has_failed_writes(),
            Engine::Postgres(_) => false,
        }
    }

    /// Number of batches of writes to SQLite's file since the start; 0 on PostgreSQL.
    pub fn written_batches(&self) -> u64 {
        match &*self.engine {
            Engine::Sqlite(sqlite) => sqlite.written_batches(),
            Engine::Postgres(_) => 0,
        }
    }

    /// A change was committed: SQLite's file takes writes.
    pub fn note_writes_work(&self) {
        if let Engine::Sqlite(sqlite) = &*self.engine {
            sqlite.note_writes_work();
        }
    }

    /// True if PostgreSQL refused this node a connection a moment ago because it has no more.
    pub fn lacks_connections(&self) -> bool {
        match &*self.engine {
            Engine::Sqlite(_) => false,
            Engine::Postgres(postgres) => postgres.lacks_connections(),
        }
    }

    /// Checks that the database answers.
    pub fn ping(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async {
            if let Engine::Sqlite(sqlite) = &*self.engine {
                sqlite.check_writer()?;
            }
            self.query("SELECT 1").execute().await.map(drop)
        })
    }

    /// A reading statement outside any transaction. It sees all that has been acknowledged.
    pub fn query(&self, sql: impl Into<Sql>) -> Statement<'_> {
        Statement::new(sql.into(), Target::Read(&self.engine, self.pool))
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

    /// Consistent snapshot of the whole database, on a connection of its own. Reading it has no time limit.
    pub fn snapshot(&self) -> BoxFuture<'_, Result<Snapshot, Error>> {
        Box::pin(async {
            match &*self.engine {
                Engine::Sqlite(sqlite) => Snapshot::sqlite(sqlite.connect_reader(snapshot::READ_AHEAD).await?).await,
                Engine::Postgres(postgres) => Snapshot::postgres(postgres.server().connect_untimed().await?).await,
            }
        })
    }

    /// Runs a reading statement.
    pub(crate) async fn read(&self, query: Query) -> Result<Fetched, Error> {
        statement::run_at(Target::Read(&self.engine, self.pool), query).await
    }

    /// One atomic writing statement, with or without `RETURNING`. It returns once the write is durable, and costs less
    /// than a transaction of one statement.
    ///
    /// PostgreSQL runs it again when it loses against a concurrent transaction.
    pub fn write(&self, sql: impl Into<Sql>) -> Statement<'_> {
        Statement::new(sql.into(), Target::Write(&self.engine, self.pool))
    }

    /// Several statements that are atomic together, like [`Db::write`]: one text for SQLite, in which `;` is between
    /// them, and one statement for PostgreSQL, which has writing CTEs. Returns the rows of all of them, by
    /// [`Statement::all`]. It takes one round trip to the database; a transaction takes one for each statement and
    /// more.
    pub fn write_script(&self, sql: Sql) -> Statement<'_> {
        self.write(sql).script()
    }

    /// Runs `hook` once this task's writes are committed or rolled back: now, unless it is in an [ambient
    /// transaction](Db::ambient_transaction). A hook must not block.
    pub async fn on_end(&self, hook: impl FnOnce() + Send + 'static) {
        match AmbientTransaction::current(&self.engine) {
            Some(ambient) => ambient.on_end(hook).await,
            None => hook(),
        }
    }

    /// Runs `work` as one transaction: committed whole and durable if it answers `Ok`, rolled back if it
    /// answers `Err`, panics or is dropped.
    ///
    /// `work` may run again when PostgreSQL aborts it in favour of a concurrent transaction,
    /// so it must change nothing but the database. It must wait for nothing but the database
    /// either: on SQLite all writers wait for it. All its statements go through its own handle;
    /// [`Db::query`] would not see what it has written. A failed statement spoils the transaction
    /// on both databases, see [`Error::Aborted`], and one that takes too long is rolled back, see [`TimeLimits`].
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
    pub async fn transaction<T, E, F>(&self, work: impl Fn(Tx) -> F + Send) -> Result<T, E>
    where
        T: Send,
        E: From<Error> + Send,
        F: Future<Output = Result<T, E>> + Send,
    {
        let slot = Mutex::new(None);
        let result = &slot;
        let mut work = move |tx| -> BoxFuture<'_, bool> {
            let work = work(tx);
            Box::pin(async move {
                let answer = work.await;
                let succeeded = answer.is_ok();
                *result.lock() = Some(answer);
                succeeded
            })
        };
        self.run_transaction(&mut work).await?;
        slot.lock().take().unwrap_or_else(|| Err(Error::Aborted.into()))
    }

    /// Non-generic part of [`Db::transaction`], compiled once here.
    fn run_transaction<'w>(&'w self, work: &'w mut Work<'w>) -> BoxFuture<'w, Result<(), Error>> {
        Box::pin(async {
            tx::refuse_nested()?;
            if self.pool == PoolKind::Shared
                && let Some(ambient) = AmbientTransaction::current(&self.engine)
            {
                return ambient.transaction(work).await;
            }
            let mut attempts = Attempts::first();
            loop {
                let (tx, commit) = self.engine.begin(self.pool).await?;
                let succeeded = at_most(self.engine.transaction_limit(), tx.run_work(work)).await;
                match (commit.finish(succeeded == Some(true)).await, succeeded) {
                    // Any answer of `work` would be rolled back.
                    (_, None) => return Err(Error::TimedOut),
                    (Err(error @ Error::Conflict), _) => attempts.retry(error).await?,
                    (result, _) => return result,
                }
            }
        })
    }

    /// Runs `work` so that all it writes by [`Db::write`] and [`Db::transaction`] is one transaction, together with what
    /// `on_begin` does before the first of it, and `before_commit` when `work` is done. `on_begin` may cancel all of it;
    /// `before_commit` answers whether to commit.
    ///
    /// Other tasks that `work` starts are not part of it. `work` may run again, as that of [`Db::transaction`].
    pub async fn ambient_transaction<T, F>(
        &self,
        on_begin: OnBegin,
        work: impl Fn() -> F,
        before_commit: impl for<'a> Fn(&'a mut Tx, &'a T) -> BoxFuture<'a, Result<bool, Error>>,
    ) -> Result<AmbientOutcome<T>, Error>
    where
        F: Future<Output = T> + Send,
    {
        let mut attempts = Attempts::first();
        loop {
            let ambient = AmbientTransaction::new(&self.engine, &on_begin);
            let Some(result) = ambient.scope(Box::pin(work())).await else {
                // Dropped, the transaction is rolled back.
                return Err(Error::TimedOut);
            };
            let finished = match ambient.end().await {
                Ok(End::NotBegun) => return Ok(AmbientOutcome::NotBegun(result)),
                Ok(End::Cancelled) => return Ok(AmbientOutcome::Cancelled),
                Ok(End::Open(mut tx, commit)) => {
                    let answer = before_commit(&mut tx, &result).await;
                    AmbientTransaction::finish(tx, commit, answer).await
                }
                Err(error) => Err(error),
            };
            match finished {
                Ok(()) => return Ok(AmbientOutcome::Finished(result)),
                Err(error) if error.is_conflict() => attempts.retry(error).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Finishes what is under way and closes the database. Later use answers [`Error::Closed`].
    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            match &*self.engine {
                Engine::Sqlite(sqlite) => sqlite.close().await,
                Engine::Postgres(postgres) => postgres.close().await,
            }
        })
    }
}

//! A transaction's handle.

use sqlx::{AssertSqlSafe, PgConnection, SqliteConnection};
use tokio::sync::oneshot;
use uuid::Uuid;

use sqlx::{
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

use crate::{
    Backend, Error, Sql, Statement,
    bulk::{self, Cell, Table},
    pool::Pooled,
    postgres,
    sql::{Answer, Want},
    sqlite,
};

/// A transaction under way, given to the closure of [`Db::transaction`](crate::Db::transaction).
pub struct Tx(On);

enum On {
    Sqlite(Lent<SqliteConnection>),
    Postgres(Lent<Pooled<PgConnection>>),
}

impl Tx {
    pub(crate) fn sqlite(conn: Lent<SqliteConnection>) -> Self {
        Self(On::Sqlite(conn))
    }

    pub(crate) fn postgres(pooled: Lent<Pooled<PgConnection>>) -> Self {
        Self(On::Postgres(pooled))
    }

    /// A statement of this transaction, reading or writing.
    pub fn query(&mut self, sql: impl Into<Sql>) -> Statement<'_> {
        let sql = sql.into();
        match &mut self.0 {
            On::Sqlite(lent) => Statement::sqlite(sql, sqlite::Target::Tx(lent)),
            On::Postgres(lent) => Statement::postgres(sql, postgres::Target::Tx(lent)),
        }
    }

    pub(crate) async fn run_sqlite(
        &mut self,
        sql: &'static str,
        arguments: SqliteArguments,
        want: Want,
    ) -> Result<Answer<SqliteRow>, Error> {
        let On::Sqlite(lent) = &mut self.0 else { return Err(Error::Closed) };
        let sound = lent.fate;
        let result = sqlite::run_in(lent, sql, arguments, want).await;
        lent.fate = sound;
        result
    }

    pub(crate) async fn run_postgres(
        &mut self,
        sql: &'static str,
        arguments: PgArguments,
        want: Want,
    ) -> Result<Answer<PgRow>, Error> {
        let On::Postgres(lent) = &mut self.0 else { return Err(Error::Closed) };
        let sound = lent.fate;
        let result = postgres::run_in(lent, sql, arguments, want).await;
        lent.fate = sound;
        result
    }

    pub(crate) fn backend(&self) -> Backend {
        match self.0 {
            On::Sqlite(_) => Backend::Sqlite,
            On::Postgres(_) => Backend::Postgres,
        }
    }

    /// Runs a text that was put together from a table's names.
    pub(crate) async fn run_built(
        &mut self,
        sql: String,
        keep: bool,
        table: &Table,
        network: Uuid,
        rows: &[Vec<Cell>],
    ) -> Result<u64, Error> {
        match &mut self.0 {
            On::Sqlite(lent) => {
                let query =
                    sqlx::query_with(AssertSqlSafe(sql), bulk::values::<SqliteArguments>(table, network, rows)?);
                let (conn, fate) = lent.parts()?;
                let before = fate.begin();
                let result = query.persistent(keep).execute(conn).await.map_err(Error::from);
                fate.note(before, &result);
                Ok(result?.rows_affected())
            }
            On::Postgres(lent) => postgres::run_built(lent, sql, bulk::values(table, network, rows)?, keep).await,
        }
    }

    /// Runs a statement that steers the transaction.
    pub(crate) async fn control(&mut self, sql: &'static str) -> Result<(), Error> {
        match &mut self.0 {
            On::Sqlite(lent) => sqlite::control(lent.parts()?.0, sql).await?,
            On::Postgres(lent) => postgres::control(lent.parts()?.0, sql).await?,
        }
        Ok(())
    }

    /// Lends this transaction's connection on, as another transaction; it comes back when the first half is told to
    /// take it, or dropped.
    pub(crate) fn lend(&mut self) -> Result<(Part<'_>, Self), Error> {
        Ok(match &mut self.0 {
            On::Sqlite(lent) => {
                let (inner, back) = Lent::new(lent.conn.take().ok_or(Error::Closed)?);
                (Part::Sqlite(lent, back), Self::sqlite(inner))
            }
            On::Postgres(lent) => {
                let (inner, back) = Lent::new(lent.conn.take().ok_or(Error::Closed)?);
                (Part::Postgres(lent, back), Self::postgres(inner))
            }
        })
    }

    fn fate(&mut self) -> &mut Fate {
        match &mut self.0 {
            On::Sqlite(lent) => &mut lent.fate,
            On::Postgres(lent) => &mut lent.fate,
        }
    }

    pub(crate) fn is_sound(&mut self) -> bool {
        *self.fate() == Fate::Sound
    }

    pub(crate) fn is_conflict(&mut self) -> bool {
        *self.fate() == Fate::Conflict
    }

    /// What failed was undone.
    pub(crate) fn forgive(&mut self) {
        *self.fate() = Fate::Sound;
    }
}

/// A transaction's connection that is lent on.
pub(crate) enum Part<'t> {
    Sqlite(&'t mut Lent<SqliteConnection>, oneshot::Receiver<(SqliteConnection, Fate)>),
    Postgres(&'t mut Lent<Pooled<PgConnection>>, oneshot::Receiver<(Pooled<PgConnection>, Fate)>),
}

impl Part<'_> {
    /// Takes the connection back, with what its statements came to. One that was put somewhere else is lost.
    pub(crate) fn take_back(&mut self) {
        match self {
            Self::Sqlite(lent, back) => lent.restore(back),
            Self::Postgres(lent, back) => lent.restore(back),
        }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.take_back();
    }
}

/// What the statements so far mean for their transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// All succeeded.
    Sound,
    /// One failed, or was abandoned half-way. PostgreSQL would answer COMMIT with a rollback.
    Failed,
    /// One lost against a concurrent transaction.
    Conflict,
}

impl Fate {
    /// Marks a statement as begun. Until [`Fate::note`] hears of its success it counts as failed,
    /// so that one whose future is dropped does, too.
    pub(crate) fn begin(&mut self) -> Self {
        std::mem::replace(self, Self::Failed)
    }

    /// Notes how the statement that was begun at `before` went.
    pub(crate) fn note<T>(&mut self, before: Self, result: &Result<T, Error>) {
        match result {
            Ok(_) => *self = before,
            Err(error) if error.is_conflict() => *self = Self::Conflict,
            Err(_) => {}
        }
    }
}

/// A connection lent to a transaction's closure. However the closure ends (it may panic, or its
/// caller hang up), the connection goes home, together with what its statements came to.
pub(crate) struct Lent<C> {
    conn: Option<C>,
    fate: Fate,
    home: Option<oneshot::Sender<(C, Fate)>>,
}

impl<C> Lent<C> {
    /// Lends `conn`, which comes back through the second half.
    pub(crate) fn new(conn: C) -> (Self, oneshot::Receiver<(C, Fate)>) {
        let (home, back) = oneshot::channel();
        let lent = Self { conn: Some(conn), fate: Fate::Sound, home: Some(home) };
        (lent, back)
    }

    fn restore(&mut self, back: &mut oneshot::Receiver<(C, Fate)>) {
        if let Ok((conn, fate)) = back.try_recv() {
            self.conn = Some(conn);
            self.fate = fate;
        }
    }

    pub(crate) fn parts(&mut self) -> Result<(&mut C, &mut Fate), Error> {
        let conn = self.conn.as_mut().ok_or(Error::Closed)?;
        Ok((conn, &mut self.fate))
    }
}

impl<C> Drop for Lent<C> {
    fn drop(&mut self) {
        if let (Some(conn), Some(home)) = (self.conn.take(), self.home.take()) {
            // Nobody is at home only when the caller is dropped as a whole: then so is `conn`.
            let _ = home.send((conn, self.fate));
        }
    }
}

//! A transaction's handle.

use sqlx::{PgConnection, SqliteConnection};
use tokio::sync::oneshot;

use crate::{Error, Sql, Statement, pool::Pooled, postgres, sqlite};

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

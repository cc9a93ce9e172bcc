//! Either a database or one of its transactions.

use crate::{Db, Sql, Statement, Tx};

/// Target of a store function's statements: the database itself or a transaction.
///
/// ```no_run
/// # use hub_db::{Error, Executor};
/// async fn rename(on: impl Into<Executor<'_>>, id: i64, name: &str) -> Result<u64, Error> {
///     on.into().write("UPDATE players SET name = $1 WHERE id = $2").bind(name).bind(id).execute().await
/// }
/// ```
pub enum Executor<'c> {
    /// Each statement on its own.
    Db(&'c Db),
    /// All statements in one transaction.
    Tx(&'c mut Tx),
}

impl Executor<'_> {
    /// A reading statement: [`Db::query`] or [`Tx::query`].
    pub fn query(&mut self, sql: impl Into<Sql>) -> Statement<'_> {
        match self {
            Self::Db(db) => db.query(sql),
            Self::Tx(tx) => tx.query(sql),
        }
    }

    /// A writing statement: [`Db::write`] or [`Tx::query`].
    pub fn write(&mut self, sql: impl Into<Sql>) -> Statement<'_> {
        match self {
            Self::Db(db) => db.write(sql),
            Self::Tx(tx) => tx.query(sql),
        }
    }
}

impl<'c> From<&'c Db> for Executor<'c> {
    fn from(db: &'c Db) -> Self {
        Self::Db(db)
    }
}

impl<'c> From<&'c mut Tx> for Executor<'c> {
    fn from(tx: &'c mut Tx) -> Self {
        Self::Tx(tx)
    }
}

/// Passes the executor on to another function without giving it away.
impl<'c> From<&'c mut Executor<'_>> for Executor<'c> {
    fn from(executor: &'c mut Executor<'_>) -> Self {
        match executor {
            Executor::Db(db) => Self::Db(db),
            Executor::Tx(tx) => Self::Tx(tx),
        }
    }
}

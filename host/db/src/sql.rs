//! SQL texts, the values that go in and the records that come out.

use sqlx::{Encode, FromRow, Postgres, Sqlite, Type, postgres::PgRow, sqlite::SqliteRow};

/// A SQL text for each database. A plain `&'static str` is the same text for both.
#[derive(Clone, Copy, Debug)]
pub struct Sql {
    /// Text for SQLite.
    pub sqlite: &'static str,
    /// Text for PostgreSQL.
    pub postgres: &'static str,
}

impl From<&'static str> for Sql {
    fn from(both: &'static str) -> Self {
        Self { sqlite: both, postgres: both }
    }
}

/// A value both drivers can bind. It may borrow for `'v`, as `Option<&'v str>` does.
pub trait Value<'v>: Encode<'v, Sqlite> + Type<Sqlite> + Encode<'v, Postgres> + Type<Postgres> {}

impl<'v, T> Value<'v> for T where T: Encode<'v, Sqlite> + Type<Sqlite> + Encode<'v, Postgres> + Type<Postgres> {}

/// A row shape both drivers can decode: a tuple such as `(i64,)`, or a struct with
/// `#[derive(sqlx::FromRow)]`.
pub trait Record: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T> Record for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

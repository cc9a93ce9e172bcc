//! Input of a statement to a driver, and its result.

use sqlx::{
    Arguments as _, FromRow, SqlSafeStr, SqlStr,
    error::BoxDynError,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

use crate::{Backend, Error, Record, Value};

/// Prepared statements that each connection keeps: all of the hub's.
pub(crate) const PREPARED_STATEMENTS: usize = 500;

/// A text and its values.
#[derive(Clone)]
pub(crate) struct Query {
    pub(crate) text: SqlStr,
    pub(crate) arguments: Arguments,
    pub(crate) fetch: Fetch,
    /// True if the connection keeps it prepared.
    pub(crate) persistent: bool,
    /// True if it may be several statements, of which SQLite would undo just the failing one.
    pub(crate) is_script: bool,
    /// Most bytes that its rows may have.
    pub(crate) most_read: Option<u64>,
}

/// Values as a driver takes them.
#[derive(Clone)]
pub(crate) enum Arguments {
    Sqlite(SqliteArguments),
    Postgres(PgArguments),
}

/// Wanted part of a statement's result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fetch {
    /// Number of changed rows.
    Count,
    /// First row.
    First,
    /// All rows.
    All,
}

/// A statement's result.
#[derive(Debug)]
pub(crate) enum Fetched {
    Count(u64),
    Sqlite(Vec<SqliteRow>),
    Postgres(Vec<PgRow>),
}

impl Query {
    pub(crate) fn new(backend: Backend, text: impl SqlSafeStr) -> Self {
        let arguments = match backend {
            Backend::Sqlite => Arguments::Sqlite(SqliteArguments::default()),
            Backend::Postgres => Arguments::Postgres(PgArguments::default()),
        };
        Self {
            text: text.into_sql_str(),
            arguments,
            fetch: Fetch::Count,
            persistent: true,
            is_script: false,
            most_read: None,
        }
    }

    pub(crate) fn bind<'v, T: Value<'v>>(&mut self, value: T) -> Result<(), BoxDynError> {
        match &mut self.arguments {
            Arguments::Sqlite(arguments) => arguments.add(value),
            Arguments::Postgres(arguments) => arguments.add(value),
        }
    }
}

impl Fetched {
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Count(count) => *count,
            Self::Sqlite(_) | Self::Postgres(_) => 0,
        }
    }

    pub(crate) fn row<T: Record>(&self, index: usize) -> Result<Option<T>, Error> {
        let row = match self {
            Self::Count(_) => None,
            Self::Sqlite(rows) => rows.get(index).map(<T as FromRow<SqliteRow>>::from_row),
            Self::Postgres(rows) => rows.get(index).map(<T as FromRow<PgRow>>::from_row),
        };
        Ok(row.transpose()?)
    }
}

//! One statement on its way to either driver.

use sqlx::{
    Arguments, FromRow,
    error::BoxDynError,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

use crate::{
    Error, Record, Sql, Value, postgres,
    sql::{Answer, Want},
    sqlite,
};

/// A statement that gathers its values and then runs.
#[must_use = "a statement does nothing until it is run"]
pub struct Statement<'c> {
    sql: Sql,
    on: On<'c>,
    /// The first value that could not be encoded.
    invalid: Option<BoxDynError>,
}

enum On<'c> {
    Sqlite(SqliteArguments, sqlite::Target<'c>),
    Postgres(PgArguments, postgres::Target<'c>),
}

enum Rows {
    Sqlite(Answer<SqliteRow>),
    Postgres(Answer<PgRow>),
}

impl<'c> Statement<'c> {
    pub(crate) fn sqlite(sql: Sql, target: sqlite::Target<'c>) -> Self {
        Self { sql, on: On::Sqlite(SqliteArguments::default(), target), invalid: None }
    }

    pub(crate) fn postgres(sql: Sql, target: postgres::Target<'c>) -> Self {
        Self { sql, on: On::Postgres(PgArguments::default(), target), invalid: None }
    }

    /// Gives the next placeholder (`$1`, then `$2` …) its value.
    pub fn bind<'v, T: Value<'v>>(mut self, value: T) -> Self {
        let added = match &mut self.on {
            On::Sqlite(arguments, _) => Arguments::add(arguments, value),
            On::Postgres(arguments, _) => Arguments::add(arguments, value),
        };
        if let Err(error) = added {
            self.invalid.get_or_insert(error);
        }
        self
    }

    /// Runs it and answers its first row, if it has any.
    pub async fn optional<T: Record>(self) -> Result<Option<T>, Error> {
        Ok(match self.run(Want::First).await? {
            Rows::Sqlite(answer) => decode(&answer)?.pop(),
            Rows::Postgres(answer) => decode(&answer)?.pop(),
        })
    }

    /// Runs it and answers its first row, or [`Error::NotFound`].
    pub async fn one<T: Record>(self) -> Result<T, Error> {
        self.optional().await?.ok_or(Error::NotFound)
    }

    /// Runs it and answers all its rows.
    pub async fn all<T: Record>(self) -> Result<Vec<T>, Error> {
        match self.run(Want::All).await? {
            Rows::Sqlite(answer) => decode(&answer),
            Rows::Postgres(answer) => decode(&answer),
        }
    }

    /// Runs it and answers how many rows it inserted, updated or deleted.
    pub async fn execute(self) -> Result<u64, Error> {
        Ok(match self.run(Want::Count).await? {
            Rows::Sqlite(Answer::Count(count)) | Rows::Postgres(Answer::Count(count)) => count,
            Rows::Sqlite(Answer::Rows(_)) | Rows::Postgres(Answer::Rows(_)) => 0,
        })
    }

    async fn run(self, want: Want) -> Result<Rows, Error> {
        if let Some(error) = self.invalid {
            return Err(sqlx::Error::Encode(error).into());
        }
        match self.on {
            On::Sqlite(arguments, target) => target.run(self.sql.sqlite, arguments, want).await.map(Rows::Sqlite),
            On::Postgres(arguments, target) => target.run(self.sql.postgres, arguments, want).await.map(Rows::Postgres),
        }
    }
}

fn decode<R, T: for<'r> FromRow<'r, R>>(answer: &Answer<R>) -> Result<Vec<T>, Error>
where
    R: sqlx::Row,
{
    match answer {
        Answer::Rows(rows) => Ok(rows.iter().map(T::from_row).collect::<Result<_, _>>()?),
        Answer::Count(_) => Ok(Vec::new()),
    }
}

//! What a database held at one moment, read at leisure.

use futures_util::TryStreamExt as _;
use sqlx::{Arguments as _, AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};
use uuid::Uuid;

use crate::{
    Backend, Error, Table,
    bulk::{Cell, postgres_cells, sqlite_cells},
};

/// Rows that SQLite's thread reads ahead: rows may be large.
pub(crate) const READ_AHEAD: usize = 4;

/// See [`Db::snapshot`](crate::Db::snapshot).
pub struct Snapshot(On);

enum On {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Snapshot {
    pub(crate) async fn sqlite(mut conn: SqliteConnection) -> Result<Self, Error> {
        sqlx::raw_sql("BEGIN").execute(&mut conn).await?;
        // The moment is that of the first read.
        sqlx::raw_sql("SELECT 1 FROM sqlite_schema LIMIT 1").execute(&mut conn).await?;
        Ok(Self(On::Sqlite(conn)))
    }

    pub(crate) async fn postgres(mut conn: PgConnection) -> Result<Self, Error> {
        // Whatever the server or the role sets, this takes as long as it takes.
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
                     SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT 1";
        sqlx::raw_sql(begin).execute(&mut conn).await?;
        Ok(Self(On::Postgres(conn)))
    }

    /// Hands over all rows of a network, one by one, in the order of their keys, until `take` fails.
    pub async fn each<E: From<Error>>(
        &mut self,
        table: &Table,
        network: Uuid,
        mut take: impl FnMut(Vec<Cell>) -> Result<(), E>,
    ) -> Result<(), E> {
        let invalid = |error| Error::from(sqlx::Error::Encode(error));
        match &mut self.0 {
            On::Sqlite(conn) => {
                let mut arguments = sqlx::sqlite::SqliteArguments::default();
                arguments.add(network).map_err(invalid)?;
                let sql = AssertSqlSafe(table.select(Backend::Sqlite));
                let mut rows = sqlx::query_with(sql, arguments).persistent(false).fetch(conn);
                while let Some(row) = rows.try_next().await.map_err(Error::from)? {
                    take(sqlite_cells(&row, table.columns).map_err(Error::from)?)?;
                }
            }
            On::Postgres(conn) => {
                let mut arguments = sqlx::postgres::PgArguments::default();
                arguments.add(network).map_err(invalid)?;
                let sql = AssertSqlSafe(table.select(Backend::Postgres));
                let mut rows = sqlx::query_with(sql, arguments).persistent(false).fetch(conn);
                while let Some(row) = rows.try_next().await.map_err(Error::from)? {
                    take(postgres_cells(&row, table.columns).map_err(Error::from)?)?;
                }
            }
        }
        Ok(())
    }

    /// Lets go of it.
    pub async fn close(self) -> Result<(), Error> {
        Ok(match self.0 {
            On::Sqlite(conn) => conn.close().await,
            On::Postgres(conn) => conn.close().await,
        }?)
    }
}

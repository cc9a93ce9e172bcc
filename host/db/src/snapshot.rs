//! Snapshots of a database.

use futures_util::{TryStreamExt as _, future::BoxFuture};
use sqlx::{
    Arguments as _, AssertSqlSafe, Connection as _, PgConnection, SqliteConnection, postgres::PgArguments,
    sqlite::SqliteArguments,
};
use uuid::Uuid;

use crate::{
    Backend, Column, Error, Table,
    bulk::{Cell, postgres_cells, sqlite_cells},
};

/// Rows that SQLite's thread reads ahead: rows may be large.
pub(crate) const READ_AHEAD: usize = 4;

/// See [`Db::snapshot`](crate::Db::snapshot).
pub struct Snapshot(Connection);

enum Connection {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Snapshot {
    pub(crate) async fn sqlite(mut conn: SqliteConnection) -> Result<Self, Error> {
        sqlx::raw_sql("BEGIN").execute(&mut conn).await?;
        // The snapshot is taken at the first read.
        sqlx::raw_sql("SELECT 1 FROM sqlite_schema LIMIT 1").execute(&mut conn).await?;
        Ok(Self(Connection::Sqlite(conn)))
    }

    pub(crate) async fn postgres(mut conn: PgConnection) -> Result<Self, Error> {
        // The server or the role may have set timeouts.
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
                     SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT 1";
        sqlx::raw_sql(begin).execute(&mut conn).await?;
        Ok(Self(Connection::Postgres(conn)))
    }

    /// Hands over all rows of a network, one by one, in the order of their keys, until `receive` fails.
    pub async fn for_each_row<E: From<Error> + Send>(
        &mut self,
        table: &Table,
        network: Uuid,
        mut receive: impl FnMut(Vec<Cell>) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let mut failure = None;
        let mut receive = |row| receive(row).map_err(|error| failure = Some(error)).is_ok();
        let text = table.select(self.backend());
        self.read(text, Some(network), table.columns, &mut receive).await?;
        failure.map_or(Ok(()), Err)
    }

    pub(crate) fn backend(&self) -> Backend {
        match &self.0 {
            Connection::Sqlite(_) => Backend::Sqlite,
            Connection::Postgres(_) => Backend::Postgres,
        }
    }

    /// Hands over rows while `receive` returns true.
    pub(crate) fn read<'r>(
        &'r mut self,
        text: String,
        network: Option<Uuid>,
        columns: &'r [Column],
        receive: &'r mut (dyn FnMut(Vec<Cell>) -> bool + Send),
    ) -> BoxFuture<'r, Result<(), Error>> {
        Box::pin(async move {
            let invalid = |error| Error::from(sqlx::Error::Encode(error));
            match &mut self.0 {
                Connection::Sqlite(conn) => {
                    let mut arguments = SqliteArguments::default();
                    if let Some(network) = network {
                        arguments.add(network).map_err(invalid)?;
                    }
                    let mut rows = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(false).fetch(conn);
                    while let Some(row) = rows.try_next().await?
                        && receive(sqlite_cells(&row, columns)?)
                    {}
                }
                Connection::Postgres(conn) => {
                    let mut arguments = PgArguments::default();
                    if let Some(network) = network {
                        arguments.add(network).map_err(invalid)?;
                    }
                    let mut rows = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(false).fetch(conn);
                    while let Some(row) = rows.try_next().await?
                        && receive(postgres_cells(&row, columns)?)
                    {}
                }
            }
            Ok(())
        })
    }

    /// Closes its connection.
    pub fn close(self) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async {
            Ok(match self.0 {
                Connection::Sqlite(conn) => conn.close().await,
                Connection::Postgres(conn) => conn.close().await,
            }?)
        })
    }
}

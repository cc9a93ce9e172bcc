//! Statements on a connection.

use sqlx::{SqliteConnection, sqlite::SqliteRow};

use crate::{
    Error,
    lease::LeasedConnection,
    query::{Arguments, Fetch, Fetched, Query},
};

pub(super) async fn run(conn: &mut SqliteConnection, query: Query) -> Result<Fetched, Error> {
    let Arguments::Sqlite(arguments) = query.arguments else { unreachable!("a query of another database") };
    let statement = sqlx::query_with(query.text, arguments).persistent(query.persistent);
    let rows: Vec<SqliteRow> = match query.fetch {
        Fetch::Count => return Ok(Fetched::Count(statement.execute(conn).await?.rows_affected())),
        Fetch::First => statement.fetch_optional(conn).await?.into_iter().collect(),
        Fetch::All => statement.fetch_all(conn).await?,
    };
    Ok(Fetched::Sqlite(rows))
}

/// Runs a statement of the transaction that holds `lease`.
pub(crate) async fn run_leased(lease: &mut LeasedConnection<SqliteConnection>, query: Query) -> Result<Fetched, Error> {
    let (conn, outcome) = lease.parts()?;
    let before = outcome.start_statement();
    let result = run(conn, query).await;
    outcome.record(before, &result);
    result
}

/// Runs a statement that controls the transaction.
pub(crate) async fn control(conn: &mut SqliteConnection, sql: &'static str) -> sqlx::Result<()> {
    sqlx::query(sql).execute(conn).await.map(drop)
}

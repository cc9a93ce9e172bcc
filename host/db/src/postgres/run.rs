//! Statements on a connection.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection, postgres::PgRow};

use crate::{
    Error,
    lease::LeasedConnection,
    pool::Pooled,
    query::{Arguments, Fetch, Fetched, Query},
    size,
};

pub(super) async fn run(pooled: &mut Pooled<PgConnection>, query: Query) -> Result<Fetched, Error> {
    let Arguments::Postgres(arguments) = query.arguments else { unreachable!("a query of another database") };
    let (conn, settings) = pooled.parts()?;
    let persistent = query.persistent && settings.owns_session;
    let statement = sqlx::query_with(query.text, arguments).persistent(persistent);
    let result = with_timeout(settings.response_timeout, async {
        let rows: Vec<PgRow> = match query.fetch {
            Fetch::Count => return Ok(Fetched::Count(statement.execute(conn).await?.rows_affected())),
            Fetch::First => statement.fetch_optional(conn).await?.into_iter().collect(),
            Fetch::All => match query.most_read {
                Some(most) => size::collect(statement.fetch(conn), most, size::postgres).await?,
                None => statement.fetch_all(conn).await?,
            },
        };
        Ok(Fetched::Postgres(rows))
    });
    mark_broken(result.await, pooled)
}

/// Runs a statement of the transaction that holds `lease`.
pub(crate) async fn run_leased(
    lease: &mut LeasedConnection<Pooled<PgConnection>>,
    query: Query,
) -> Result<Fetched, Error> {
    let (pooled, outcome) = lease.parts()?;
    let before = outcome.start_statement();
    let result = run(pooled, query).await;
    outcome.record(before, &result);
    result
}

/// Runs a statement that controls a transaction.
pub(crate) async fn control(pooled: &mut Pooled<PgConnection>, sql: &'static str) -> Result<(), Error> {
    let (conn, settings) = pooled.parts()?;
    let control = sqlx::raw_sql(sql);
    let result = with_timeout(settings.response_timeout, async { Ok(control.execute(conn).await.map(drop)?) });
    mark_broken(result.await, pooled)
}

pub(super) async fn begin(pooled: &mut Pooled<PgConnection>) -> Result<(), Error> {
    pooled.in_transaction = true;
    let (conn, settings) = pooled.parts()?;
    let begin = sqlx::raw_sql(AssertSqlSafe(settings.begin.clone()));
    let result = with_timeout(settings.response_timeout, async { Ok(begin.execute(conn).await.map(drop)?) });
    mark_broken(result.await, pooled)
}

/// Client-side timeout: the server bounds its statements itself, but its answer may be lost where packets are dropped
/// on the way.
async fn with_timeout<T>(timeout: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| Err(Error::no_answer()))
}

fn mark_broken<T>(result: Result<T, Error>, pooled: &mut Pooled<PgConnection>) -> Result<T, Error> {
    if result.as_ref().is_err_and(Error::breaks_connection) {
        pooled.mark_broken();
    }
    result
}

//! The PostgreSQL side.

mod connect;
mod migrate;

use std::time::Duration;

use sqlx::{
    AssertSqlSafe, Connection, PgConnection,
    postgres::{PgArguments, PgRow},
};
use tokio::sync::oneshot;

pub(crate) use self::connect::Server;
use self::connect::Terms;
pub(crate) use self::migrate::migrate;
use crate::{
    Error,
    db::refuse_nested,
    pool::{self, Lendable, Pooled},
    sql::{Answer, Want},
    tx::{Fate, Lent},
    unit,
};

/// How often work that keeps losing against other transactions is tried in all.
pub(crate) const ATTEMPTS: u32 = 8;

pub(crate) type Pool = pool::Pool<PgConnection>;

impl Lendable for PgConnection {
    type Terms = Terms;

    async fn recover(&mut self, terms: &Terms, in_transaction: bool) -> sqlx::Result<()> {
        let recovery = async {
            if in_transaction { sqlx::raw_sql("ROLLBACK").execute(self).await.map(drop) } else { self.ping().await }
        };
        // What is still under way has its time.
        tokio::time::timeout(terms.patience, recovery).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }
}

/// Where a statement runs.
pub(crate) enum Target<'c> {
    /// On a pooled connection, outside any transaction.
    Read(&'c Pool),
    /// The same, and again if it loses against a concurrent transaction.
    Write(&'c Pool),
    /// In a transaction.
    Tx(&'c mut Lent<Pooled<PgConnection>>),
}

impl Target<'_> {
    pub(crate) async fn run(
        self,
        sql: &'static str,
        arguments: PgArguments,
        want: Want,
    ) -> Result<Answer<PgRow>, Error> {
        match self {
            Self::Read(pool) => {
                let arguments = match unit::current() {
                    Some(unit) => match unit.read_postgres(sql, arguments, want).await? {
                        Ok(answer) => return Ok(answer),
                        Err(arguments) => arguments,
                    },
                    None => arguments,
                };
                try_alone(pool, sql, arguments, want, Error::is_stale).await
            }
            Self::Write(pool) => {
                refuse_nested()?;
                match unit::current() {
                    Some(unit) => unit.write_postgres(sql, arguments, want).await,
                    None => try_alone(pool, sql, arguments, want, Error::is_conflict).await,
                }
            }
            Self::Tx(lent) => run_in(lent, sql, arguments, want).await,
        }
    }
}

/// Runs a statement outside any transaction, and again as long as it fails in that way.
async fn try_alone(
    pool: &Pool,
    sql: &'static str,
    arguments: PgArguments,
    want: Want,
    again: impl Fn(&Error) -> bool,
) -> Result<Answer<PgRow>, Error> {
    let mut attempt = 1;
    loop {
        match run_alone(pool, sql, arguments.clone(), want).await {
            Err(error) if again(&error) && attempt < ATTEMPTS => {}
            result => return result,
        }
        back_off(attempt).await;
        attempt += 1;
    }
}

async fn run_alone(pool: &Pool, sql: &'static str, arguments: PgArguments, want: Want) -> Result<Answer<PgRow>, Error> {
    let mut pooled = pool.acquire().await?;
    if pooled.terms().owns_session {
        let answer = run(&mut pooled, sql, arguments, want).await?;
        pooled.release();
        return Ok(answer);
    }
    // A statement is prepared in one step and run in the next, which a pooler may give to another session.
    begin_on(&mut pooled).await?;
    let answer = run(&mut pooled, sql, arguments, want).await?;
    control(&mut pooled, "COMMIT").await?;
    pooled.release();
    Ok(answer)
}

/// A statement of the transaction that `lent` is in.
pub(crate) async fn run_in(
    lent: &mut Lent<Pooled<PgConnection>>,
    sql: &'static str,
    arguments: PgArguments,
    want: Want,
) -> Result<Answer<PgRow>, Error> {
    let (pooled, fate) = lent.parts()?;
    let before = fate.begin();
    let result = run(pooled, sql, arguments, want).await;
    fate.note(before, &result);
    result
}

/// The same for a text that was put together from a table's names; `keep`: it will come again.
pub(crate) async fn run_built(
    lent: &mut Lent<Pooled<PgConnection>>,
    sql: String,
    arguments: PgArguments,
    keep: bool,
) -> Result<u64, Error> {
    let (pooled, fate) = lent.parts()?;
    let before = fate.begin();
    let (conn, terms) = pooled.parts()?;
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments).persistent(keep && terms.owns_session);
    let result = within(terms.patience, async { Ok(query.execute(conn).await?.rows_affected()) });
    let result = note(result.await, pooled);
    fate.note(before, &result);
    result
}

async fn run(
    pooled: &mut Pooled<PgConnection>,
    sql: &'static str,
    arguments: PgArguments,
    want: Want,
) -> Result<Answer<PgRow>, Error> {
    let (conn, terms) = pooled.parts()?;
    let query = sqlx::query_with(sql, arguments).persistent(terms.owns_session);
    let result = within(terms.patience, async {
        Ok(match want {
            Want::Count => Answer::Count(query.execute(conn).await?.rows_affected()),
            Want::First => Answer::Rows(query.fetch_optional(conn).await?.into_iter().collect()),
            Want::All => Answer::Rows(query.fetch_all(conn).await?),
        })
    });
    note(result.await, pooled)
}

/// Runs a statement that steers a transaction.
pub(crate) async fn control(pooled: &mut Pooled<PgConnection>, sql: &'static str) -> Result<(), Error> {
    let (conn, terms) = pooled.parts()?;
    let result = within(terms.patience, async { Ok(sqlx::raw_sql(sql).execute(conn).await.map(drop)?) });
    note(result.await, pooled)
}

async fn begin_on(pooled: &mut Pooled<PgConnection>) -> Result<(), Error> {
    pooled.in_transaction = true;
    let (conn, terms) = pooled.parts()?;
    let begin = sqlx::raw_sql(AssertSqlSafe(terms.begin.clone()));
    let result = within(terms.patience, async { Ok(begin.execute(conn).await.map(drop)?) });
    note(result.await, pooled)
}

/// The server bounds its statements itself, but it cannot say so where packets are dropped on the way.
async fn within<T>(patience: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(patience, work).await.unwrap_or_else(|_| Err(Error::silence()))
}

fn note<T>(result: Result<T, Error>, pooled: &mut Pooled<PgConnection>) -> Result<T, Error> {
    if result.as_ref().is_err_and(Error::spoils) {
        pooled.spoil();
    }
    result
}

/// Waits before the next attempt: up to 4 ms after the first, twice as long after each further
/// one. At random, so that those who collided don't meet again.
#[expect(clippy::disallowed_methods, reason = "what it draws changes when, never what")]
pub(crate) async fn back_off(attempt: u32) {
    let most = Duration::from_millis(2) * 2_u32.saturating_pow(attempt.min(ATTEMPTS));
    tokio::time::sleep(most.mul_f64(rand::random())).await;
}

/// The end of a transaction that was lent to its closure.
pub(crate) struct Turn(oneshot::Receiver<(Pooled<PgConnection>, Fate)>);

pub(crate) async fn begin(pool: &Pool) -> Result<(Lent<Pooled<PgConnection>>, Turn), Error> {
    let mut pooled = pool.acquire().await?;
    begin_on(&mut pooled).await?;
    let (lent, back) = Lent::new(pooled);
    Ok((lent, Turn(back)))
}

impl Turn {
    /// Ends the transaction: keeps its work if asked to and sound, else undoes it.
    pub(crate) async fn settle(mut self, keep: bool) -> Result<(), Error> {
        let Ok((mut pooled, fate)) = self.0.try_recv() else {
            // The closure has put its handle somewhere else; dropped there, it rolls back.
            return Err(Error::Aborted);
        };
        let commit = keep && fate == Fate::Sound;
        match control(&mut pooled, if commit { "COMMIT" } else { "ROLLBACK" }).await {
            Ok(()) => pooled.release(),
            Err(error) if commit => return Err(if error.is_conflict() { Error::Conflict } else { error }),
            // The server itself rolls back what a lost connection leaves behind.
            Err(error) => tracing::debug!(%error, "rollback failed"),
        }
        match fate {
            Fate::Conflict => Err(Error::Conflict),
            Fate::Failed if keep => Err(Error::Aborted),
            Fate::Failed | Fate::Sound => Ok(()),
        }
    }
}

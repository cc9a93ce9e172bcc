//! The PostgreSQL side.

use std::{str::FromStr, time::Duration};

use sqlx::{
    Connection, PgConnection,
    postgres::{PgArguments, PgConnectOptions, PgRow},
};
use tokio::sync::oneshot;

use crate::{
    Error,
    db::refuse_nested,
    pool::{self, Lendable, Limits, Pooled},
    sql::{Answer, STATEMENTS, Want},
    tx::{Fate, Lent},
    unit,
};

/// How often work that keeps losing against other transactions is tried in all.
pub(crate) const ATTEMPTS: u32 = 8;

/// No statement may hold its locks, or its caller, for ever.
const SESSION: [(&str, &str); 2] = [("statement_timeout", "15s"), ("idle_in_transaction_session_timeout", "15s")];

pub(crate) type Pool = pool::Pool<PgConnection>;

impl Lendable for PgConnection {
    async fn recover(&mut self, in_transaction: bool) -> sqlx::Result<()> {
        if in_transaction { control(self, "ROLLBACK").await } else { self.ping().await }
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
                run_alone(pool, sql, arguments, want).await
            }
            Self::Write(pool) => {
                refuse_nested()?;
                if let Some(unit) = unit::current() {
                    return unit.write_postgres(sql, arguments, want).await;
                }
                let mut attempt = 1;
                loop {
                    match run_alone(pool, sql, arguments.clone(), want).await {
                        Err(error) if error.is_conflict() && attempt < ATTEMPTS => {}
                        result => return result,
                    }
                    back_off(attempt).await;
                    attempt += 1;
                }
            }
            Self::Tx(lent) => run_in(lent, sql, arguments, want).await,
        }
    }
}

async fn run_alone(pool: &Pool, sql: &'static str, arguments: PgArguments, want: Want) -> Result<Answer<PgRow>, Error> {
    let mut pooled = pool.acquire().await?;
    let answer = run(pooled.conn()?, sql, arguments, want).await?;
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
    let result = run(pooled.conn()?, sql, arguments, want).await;
    fate.note(before, &result);
    result
}

async fn run(
    conn: &mut PgConnection,
    sql: &'static str,
    arguments: PgArguments,
    want: Want,
) -> Result<Answer<PgRow>, Error> {
    let query = sqlx::query_with(sql, arguments);
    Ok(match want {
        Want::Count => Answer::Count(query.execute(conn).await?.rows_affected()),
        Want::First => Answer::Rows(query.fetch_optional(conn).await?.into_iter().collect()),
        Want::All => Answer::Rows(query.fetch_all(conn).await?),
    })
}

/// Runs a statement that steers a transaction.
pub(crate) async fn control(conn: &mut PgConnection, sql: &'static str) -> sqlx::Result<()> {
    sqlx::raw_sql(sql).execute(conn).await.map(drop)
}

/// Waits before the next attempt: up to 4 ms after the first, twice as long after each further
/// one. At random, so that those who collided don't meet again.
#[expect(clippy::disallowed_methods, reason = "what it draws changes when, never what")]
pub(crate) async fn back_off(attempt: u32) {
    let most = Duration::from_millis(2) * 2_u32.saturating_pow(attempt.min(ATTEMPTS));
    tokio::time::sleep(most.mul_f64(rand::random())).await;
}

pub(crate) async fn connect(url: &str, max_connections: u32) -> Result<Pool, Error> {
    let mut options = options(url)?;
    if options.get_options().is_none() {
        options = options.options(SESSION);
    }
    // A pooler in front of the server may need it to be 0.
    if !url.contains("statement-cache-capacity") {
        options = options.statement_cache_capacity(STATEMENTS);
    }
    let limits = Limits {
        max: max_connections.max(1),
        ping_after: Duration::from_secs(1),
        idle: Duration::from_mins(5),
        age: Duration::from_mins(30),
    };
    let pool = Pool::new(options, limits);
    // A wrong address or password is to be told now, not to the first request.
    pool.acquire().await?.release();
    Ok(pool)
}

/// A connection of its own for work that may take longer than a request's statement.
pub(crate) async fn connect_unhurried(url: &str) -> Result<PgConnection, Error> {
    Ok(PgConnection::connect_with(&options(url)?).await?)
}

fn options(url: &str) -> Result<PgConnectOptions, Error> {
    let options = PgConnectOptions::from_str(url)?;
    Ok(match options.get_application_name() {
        Some(_) => options,
        None => options.application_name("network-hub"),
    })
}

/// The end of a transaction that was lent to its closure.
pub(crate) struct Turn(oneshot::Receiver<(Pooled<PgConnection>, Fate)>);

pub(crate) async fn begin(pool: &Pool) -> Result<(Lent<Pooled<PgConnection>>, Turn), Error> {
    let mut pooled = pool.acquire().await?;
    pooled.in_transaction = true;
    control(pooled.conn()?, "BEGIN").await?;
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
        match control(pooled.conn()?, if commit { "COMMIT" } else { "ROLLBACK" }).await {
            Ok(()) => pooled.release(),
            Err(error) if commit => {
                let error = Error::from(error);
                return Err(if error.is_conflict() { Error::Conflict } else { error });
            }
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

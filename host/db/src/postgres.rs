//! The PostgreSQL side.

use std::{str::FromStr, time::Duration};

use sqlx::{
    Connection, PgConnection, PgPool, Postgres,
    postgres::{PgArguments, PgConnectOptions, PgPoolOptions, PgRow},
};
use tokio::sync::oneshot;

use crate::{
    Error,
    sql::{Answer, Want},
    tx::{Fate, Lent},
};

/// How often a transaction that keeps losing against others is tried in all.
pub(crate) const ATTEMPTS: u32 = 8;

/// How long a caller waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection stays open unused.
const IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// How long a connection is used in all, so that a failover or a new certificate is noticed.
const MAX_LIFETIME: Duration = Duration::from_mins(30);
/// A connection unused for longer is tried before it is lent: the server may have gone.
const PING_AFTER: Duration = Duration::from_secs(1);

/// No statement may hold its locks, or its caller, for ever.
const SESSION: [(&str, &str); 2] = [("statement_timeout", "15s"), ("idle_in_transaction_session_timeout", "15s")];

/// A transaction that holds its pooled connection.
pub(crate) type PgTransaction = sqlx::Transaction<'static, Postgres>;

/// Where a statement runs.
pub(crate) enum Target<'c> {
    /// On a pooled connection, outside any transaction.
    Read(&'c PgPool),
    /// The same, and again if it loses against a concurrent transaction.
    Write(&'c PgPool),
    /// In a transaction.
    Tx(&'c mut Lent<PgTransaction>),
}

impl Target<'_> {
    pub(crate) async fn run(
        self,
        sql: &'static str,
        arguments: PgArguments,
        want: Want,
    ) -> Result<Answer<PgRow>, Error> {
        match self {
            Self::Read(pool) => run(&mut *pool.acquire().await?, sql, arguments, want).await,
            Self::Write(pool) => {
                let mut attempt = 1;
                loop {
                    let mut conn = pool.acquire().await?;
                    match run(&mut conn, sql, arguments.clone(), want).await {
                        Err(error) if error.is_conflict() && attempt < ATTEMPTS => {}
                        result => return result,
                    }
                    drop(conn);
                    back_off(attempt).await;
                    attempt += 1;
                }
            }
            Self::Tx(lent) => {
                let (conn, fate) = lent.parts()?;
                let before = fate.begin();
                let result = run(conn, sql, arguments, want).await;
                fate.note(before, &result);
                result
            }
        }
    }
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

/// Waits before the next attempt: up to 4 ms after the first, twice as long after each further
/// one. At random, so that those who collided don't meet again.
pub(crate) async fn back_off(attempt: u32) {
    let most = Duration::from_millis(2) * 2_u32.saturating_pow(attempt.min(ATTEMPTS));
    tokio::time::sleep(most.mul_f64(rand::random())).await;
}

pub(crate) async fn connect(url: &str, max_connections: u32) -> Result<PgPool, Error> {
    let mut options = options(url)?;
    if options.get_options().is_none() {
        options = options.options(SESSION);
    }
    Ok(PgPoolOptions::new()
        .max_connections(max_connections.max(1))
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(IDLE_TIMEOUT)
        .max_lifetime(MAX_LIFETIME)
        .test_before_acquire(false)
        .before_acquire(|conn, meta| {
            Box::pin(async move {
                if meta.idle_for > PING_AFTER {
                    conn.ping().await?;
                }
                Ok(true)
            })
        })
        .connect_with(options)
        .await?)
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
pub(crate) struct Turn(oneshot::Receiver<(PgTransaction, Fate)>);

pub(crate) async fn begin(pool: &PgPool) -> Result<(Lent<PgTransaction>, Turn), Error> {
    let (lent, back) = Lent::new(pool.begin().await?);
    Ok((lent, Turn(back)))
}

impl Turn {
    /// Ends the transaction: keeps its work if asked to and sound, else undoes it.
    pub(crate) async fn settle(mut self, keep: bool) -> Result<(), Error> {
        let Ok((transaction, fate)) = self.0.try_recv() else {
            // The closure has put its handle somewhere else; dropped there, it rolls back.
            return Err(Error::Aborted);
        };
        if keep && fate == Fate::Sound {
            return match transaction.commit().await.map_err(Error::from) {
                Err(error) if error.is_conflict() => Err(Error::Conflict),
                result => result,
            };
        }
        if let Err(error) = transaction.rollback().await {
            // The server itself rolls back what a lost connection leaves behind.
            tracing::debug!(%error, "rollback failed");
        }
        match fate {
            Fate::Conflict => Err(Error::Conflict),
            Fate::Failed if keep => Err(Error::Aborted),
            Fate::Failed | Fate::Sound => Ok(()),
        }
    }
}

//! The PostgreSQL side.

mod connect;
mod migrate;
mod run;

use std::time::Duration;

use sqlx::{ConnectOptions as _, Connection, PgConnection, postgres::PgConnectOptions};
use tokio::{sync::oneshot, time::Instant};

pub(crate) use self::connect::Server;
use self::connect::{Pool, SessionSettings, Timeouts};
pub(crate) use self::migrate::migrate;
use self::run::{begin, run};
pub(crate) use self::run::{control, run_leased};
use crate::{
    Error,
    epoch::notice_copy,
    lease::{LeasedConnection, TxOutcome},
    limits::TimeLimits,
    pool::{Pooled, Reusable},
    pool_kind::PoolKind,
    query::{Fetched, Query},
    retry::Attempts,
    stats::DbStats,
};

/// Connections that never wait behind a tenant.
const RESERVED_CONNECTIONS: u32 = 2;
/// Time within which a connection that is lost fails; one that stalls takes longer.
const NOTICED_WITHIN: Duration = Duration::from_secs(1);

impl Reusable for PgConnection {
    type Options = PgConnectOptions;
    type Settings = SessionSettings;

    async fn open(options: &PgConnectOptions) -> sqlx::Result<Self> {
        let mut connection = options.connect().await?;
        notice_copy(&mut connection).await?;
        Ok(connection)
    }

    fn is_exhausted(error: &sqlx::Error) -> bool {
        // Too many connections: of the server, of the role or of the database.
        error.as_database_error().is_some_and(|error| error.code().as_deref() == Some("53300"))
    }

    async fn ping(&mut self) -> sqlx::Result<()> {
        Connection::ping(self).await
    }

    async fn close(self) -> sqlx::Result<()> {
        Connection::close(self).await
    }

    async fn recover(&mut self, settings: &SessionSettings, in_transaction: bool) -> sqlx::Result<()> {
        let recovery = async {
            if in_transaction {
                sqlx::raw_sql("ROLLBACK").execute(self).await.map(drop)
            } else {
                Connection::ping(self).await
            }
        };
        // Statements still under way may need this long.
        tokio::time::timeout(settings.response_timeout, recovery).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }
}

/// A server and the connections to it.
pub(crate) struct Postgres {
    server: Server,
    pool: Pool,
    reserved: Pool,
    time_critical: Pool,
    transaction_limit: Duration,
}

impl Postgres {
    pub(crate) async fn connect(
        url: &str,
        max_connections: u32,
        statement_timeout: Duration,
        time_limits: TimeLimits,
    ) -> Result<Self, Error> {
        let server = Server::new(url)?;
        let timeouts = Timeouts::usual(statement_timeout);
        let patience = time_limits.connection;
        let pool = server.pool(max_connections, patience, timeouts, true);
        server.check(&pool).await?;
        let reserved = server.pool(RESERVED_CONNECTIONS, patience, Timeouts::RESERVED, false);
        let time_critical = server.pool(1, patience, Timeouts::TIME_CRITICAL, false);
        // Time for one statement of maximum duration, and others.
        let transaction_limit = time_limits.transaction.max(2 * statement_timeout);
        Ok(Self { server, pool, reserved, time_critical, transaction_limit })
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn transaction_limit(&self) -> Duration {
        self.transaction_limit
    }

    pub(crate) fn stats(&self) -> DbStats {
        let pools = [("shared", &self.pool), ("reserved", &self.reserved), ("time_critical", &self.time_critical)];
        DbStats { pools: pools.map(|(name, pool)| pool.stats(name)).to_vec(), queued_writes: 0 }
    }

    fn pool(&self, kind: PoolKind) -> &Pool {
        match kind {
            PoolKind::Shared => &self.pool,
            PoolKind::Reserved => &self.reserved,
            PoolKind::TimeCritical => &self.time_critical,
        }
    }

    /// True if the server had no more connections a moment ago.
    pub(crate) fn lacks_connections(&self) -> bool {
        [&self.pool, &self.reserved, &self.time_critical].into_iter().any(Pool::is_exhausted)
    }

    /// A connection. If the server has none for the small pools, whose statements must not wait, it is one of the large.
    async fn acquire(&self, kind: PoolKind) -> Result<Pooled<PgConnection>, Error> {
        match self.pool(kind).acquire().await {
            Err(Error::Driver(error)) if !matches!(kind, PoolKind::Shared) && PgConnection::is_exhausted(&error) => {
                self.pool.acquire().await
            }
            acquired => acquired,
        }
    }

    pub(crate) async fn read(&self, pool: PoolKind, query: Query) -> Result<Fetched, Error> {
        self.run_again_if(Error::is_stale, true, pool, query).await
    }

    pub(crate) async fn write(&self, pool: PoolKind, query: Query) -> Result<Fetched, Error> {
        self.run_again_if(Error::is_conflict, false, pool, query).await
    }

    /// Runs a statement outside any transaction, and repeats it while it fails in that way. One that only reads is
    /// repeated once over another connection, too.
    async fn run_again_if(
        &self,
        is_passing: fn(&Error) -> bool,
        mut may_reconnect: bool,
        pool: PoolKind,
        query: Query,
    ) -> Result<Fetched, Error> {
        let (mut attempts, began) = (Attempts::first(), Instant::now());
        loop {
            match self.run_once(pool, query.clone()).await {
                Err(error) if is_passing(&error) => attempts.retry(error).await?,
                // Those that were open beside it are not used again. Where a connection just stalls, its caller has waited enough.
                Err(error) if may_reconnect && error.breaks_connection() && began.elapsed() < NOTICED_WITHIN => {
                    may_reconnect = false;
                }
                result => return result,
            }
        }
    }

    async fn run_once(&self, pool: PoolKind, query: Query) -> Result<Fetched, Error> {
        let mut pooled = self.acquire(pool).await?;
        // A statement is prepared in one step and run in the next, which a pooler may give to another session.
        let in_transaction = !pooled.settings().owns_session;
        if in_transaction {
            begin(&mut pooled).await?;
        }
        let fetched = run(&mut pooled, query).await?;
        if in_transaction {
            control(&mut pooled, "COMMIT").await?;
        }
        pooled.release();
        Ok(fetched)
    }

    pub(crate) async fn begin(
        &self,
        pool: PoolKind,
    ) -> Result<(LeasedConnection<Pooled<PgConnection>>, CommitHandle), Error> {
        let mut pooled = self.acquire(pool).await?;
        begin(&mut pooled).await?;
        let (lease, returned) = LeasedConnection::new(pooled);
        Ok((lease, CommitHandle(returned)))
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
        self.reserved.close().await;
        self.time_critical.close().await;
    }
}

/// The end of a transaction whose connection is leased to its closure.
pub(crate) struct CommitHandle(oneshot::Receiver<(Pooled<PgConnection>, TxOutcome)>);

impl CommitHandle {
    /// Commits if asked to and nothing failed, else rolls back.
    pub(crate) async fn finish(mut self, commit: bool) -> Result<(), Error> {
        let Ok((mut pooled, outcome)) = self.0.try_recv() else {
            // The closure moved its handle elsewhere; dropped there, it rolls back.
            return Err(Error::Aborted);
        };
        let commits = commit && outcome == TxOutcome::Succeeded;
        match control(&mut pooled, if commits { "COMMIT" } else { "ROLLBACK" }).await {
            Ok(()) => pooled.release(),
            Err(error) if commits => return Err(if error.is_conflict() { Error::Conflict } else { error }),
            // The server itself rolls back the transactions of lost connections.
            Err(error) => tracing::debug!(%error, "rollback failed"),
        }
        match outcome {
            TxOutcome::Conflict => Err(Error::Conflict),
            TxOutcome::Failed if commit => Err(Error::Aborted),
            TxOutcome::Failed | TxOutcome::Succeeded => Ok(()),
        }
    }
}

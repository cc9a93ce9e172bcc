//! The PostgreSQL side.

mod connect;
mod migrate;
mod run;

use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::sync::oneshot;

pub(crate) use self::connect::Server;
use self::connect::{Pool, SessionSettings};
pub(crate) use self::migrate::migrate;
use self::run::{begin, run};
pub(crate) use self::run::{control, run_leased};
use crate::{
    Error,
    lease::{LeasedConnection, TxOutcome},
    pool::{Pooled, Recover},
    query::{Fetched, Query},
    retry::Attempts,
};

impl Recover for PgConnection {
    type Settings = SessionSettings;

    async fn recover(&mut self, settings: &SessionSettings, in_transaction: bool) -> sqlx::Result<()> {
        let recovery = async {
            if in_transaction { sqlx::raw_sql("ROLLBACK").execute(self).await.map(drop) } else { self.ping().await }
        };
        // What is still under way may take its time.
        tokio::time::timeout(settings.response_timeout, recovery).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }
}

/// A server and the connections to it.
pub(crate) struct Postgres {
    server: Server,
    pool: Pool,
}

impl Postgres {
    pub(crate) async fn connect(url: &str, max_connections: u32, statement_timeout: Duration) -> Result<Self, Error> {
        let server = Server::new(url, statement_timeout)?;
        let pool = server.pool(max_connections).await?;
        Ok(Self { server, pool })
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) async fn read(&self, query: Query) -> Result<Fetched, Error> {
        self.run_again_if(Error::is_stale, query).await
    }

    pub(crate) async fn write(&self, query: Query) -> Result<Fetched, Error> {
        self.run_again_if(Error::is_conflict, query).await
    }

    /// Runs a statement outside any transaction, and again as long as it fails in that way.
    async fn run_again_if(&self, is_passing: fn(&Error) -> bool, query: Query) -> Result<Fetched, Error> {
        let mut attempts = Attempts::first();
        loop {
            match self.run_once(query.clone()).await {
                Err(error) if is_passing(&error) => attempts.retry(error).await?,
                result => return result,
            }
        }
    }

    async fn run_once(&self, query: Query) -> Result<Fetched, Error> {
        let mut pooled = self.pool.acquire().await?;
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

    pub(crate) async fn begin(&self) -> Result<(LeasedConnection<Pooled<PgConnection>>, CommitHandle), Error> {
        let mut pooled = self.pool.acquire().await?;
        begin(&mut pooled).await?;
        let (lease, returned) = LeasedConnection::new(pooled);
        Ok((lease, CommitHandle(returned)))
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

/// The end of a transaction whose connection is leased to its closure.
pub(crate) struct CommitHandle(oneshot::Receiver<(Pooled<PgConnection>, TxOutcome)>);

impl CommitHandle {
    /// Commits if asked to and nothing failed, else rolls back.
    pub(crate) async fn finish(mut self, commit: bool) -> Result<(), Error> {
        let Ok((mut pooled, outcome)) = self.0.try_recv() else {
            // The closure has put its handle somewhere else; dropped there, it rolls back.
            return Err(Error::Aborted);
        };
        let commits = commit && outcome == TxOutcome::Succeeded;
        match control(&mut pooled, if commits { "COMMIT" } else { "ROLLBACK" }).await {
            Ok(()) => pooled.release(),
            Err(error) if commits => return Err(if error.is_conflict() { Error::Conflict } else { error }),
            // The server itself rolls back what a lost connection leaves behind.
            Err(error) => tracing::debug!(%error, "rollback failed"),
        }
        match outcome {
            TxOutcome::Conflict => Err(Error::Conflict),
            TxOutcome::Failed if commit => Err(Error::Aborted),
            TxOutcome::Failed | TxOutcome::Succeeded => Ok(()),
        }
    }
}

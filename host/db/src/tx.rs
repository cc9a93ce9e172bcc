//! A transaction's handle.

use futures_util::future::BoxFuture;
use sqlx::PgConnection;

use crate::{
    Backend, Error,
    ended::EndHooks,
    lease::{LeasedConnection, TxOutcome},
    pool::Pooled,
    postgres,
    query::{Fetched, Query},
    sqlite::{self, TimedConnection},
};

/// Work of a transaction; returns whether it succeeded. It may run again.
pub(crate) type Work<'w> = dyn FnMut(Tx) -> BoxFuture<'w, bool> + Send + 'w;

tokio::task_local! {
    /// Set while the work of a transaction runs. A write of the same task beside it would wait, on SQLite, for the very
    /// connection its own transaction holds.
    static IN_TRANSACTION: ();
}

pub(crate) fn is_in_transaction() -> bool {
    IN_TRANSACTION.try_with(|()| ()).is_ok()
}

/// Refuses a call that would wait for its own transaction.
pub(crate) fn refuse_nested() -> Result<(), Error> {
    if is_in_transaction() { Err(Error::Nested) } else { Ok(()) }
}

/// A transaction under way, given to the closure of [`Db::transaction`](crate::Db::transaction).
pub struct Tx {
    lease: Lease,
    hooks: EndHooks,
    notes: Vec<&'static str>,
}

pub(crate) enum Lease {
    Sqlite(LeasedConnection<TimedConnection>),
    Postgres(LeasedConnection<Pooled<PgConnection>>),
}

impl From<LeasedConnection<TimedConnection>> for Lease {
    fn from(lease: LeasedConnection<TimedConnection>) -> Self {
        Self::Sqlite(lease)
    }
}

impl From<LeasedConnection<Pooled<PgConnection>>> for Lease {
    fn from(lease: LeasedConnection<Pooled<PgConnection>>) -> Self {
        Self::Postgres(lease)
    }
}

impl Tx {
    pub(crate) fn new(lease: impl Into<Lease>, hooks: &EndHooks) -> Self {
        Self { lease: lease.into(), hooks: hooks.clone(), notes: vec![] }
    }

    /// Runs `hook` once the transaction has ended: after its commit or rollback, and before its caller gets the result;
    /// also when the caller hung up or panicked meanwhile. Then, on PostgreSQL, the commit may still be under way.
    /// Inside an [ambient transaction](crate::Db::ambient_transaction) it runs at the ambient one's end. A hook runs on
    /// the task that commits for all, so it must not block.
    pub fn on_end(&self, hook: impl FnOnce() + Send + 'static) {
        self.hooks.add(hook);
    }

    /// Remembers something about this transaction until it ends, or is tried again; false if it was noted already.
    pub fn note(&mut self, what: &'static str) -> bool {
        let is_new = !self.notes.contains(&what);
        if is_new {
            self.notes.push(what);
        }
        is_new
    }

    pub(crate) fn backend(&self) -> Backend {
        match self.lease {
            Lease::Sqlite(_) => Backend::Sqlite,
            Lease::Postgres(_) => Backend::Postgres,
        }
    }

    pub(crate) async fn run(&mut self, query: Query) -> Result<Fetched, Error> {
        match &mut self.lease {
            Lease::Sqlite(lease) => sqlite::run_leased(lease, query).await,
            Lease::Postgres(lease) => postgres::run_leased(lease, query).await,
        }
    }

    /// Runs a statement whose failure does not fail the transaction.
    pub(crate) async fn run_unrecorded(&mut self, query: Query) -> Result<Fetched, Error> {
        let before = *self.outcome();
        let result = self.run(query).await;
        *self.outcome() = before;
        result
    }

    fn outcome(&mut self) -> &mut TxOutcome {
        match &mut self.lease {
            Lease::Sqlite(lease) => &mut lease.outcome,
            Lease::Postgres(lease) => &mut lease.outcome,
        }
    }

    /// Runs a statement that controls the transaction.
    pub(crate) async fn control(&mut self, sql: &'static str) -> Result<(), Error> {
        match &mut self.lease {
            Lease::Sqlite(lease) => lease.parts()?.0.control_part(sql).await,
            Lease::Postgres(lease) => postgres::control(lease.parts()?.0, sql).await,
        }
    }

    /// Runs the closure of a transaction to its end.
    pub(crate) async fn run_work(self, work: &mut Work<'_>) -> bool {
        IN_TRANSACTION.scope((), work(self)).await
    }

    /// Runs the closure of a nested transaction; also returns the outcome of its statements.
    pub(crate) async fn run_nested(&mut self, work: &mut Work<'_>) -> Result<(bool, TxOutcome), Error> {
        let hooks = &self.hooks;
        Ok(match &mut self.lease {
            Lease::Sqlite(lease) => {
                let (sublease, inner) = lease.sublease()?;
                (Self::new(inner, hooks).run_work(work).await, sublease.end())
            }
            Lease::Postgres(lease) => {
                let (sublease, inner) = lease.sublease()?;
                (Self::new(inner, hooks).run_work(work).await, sublease.end())
            }
        })
    }
}

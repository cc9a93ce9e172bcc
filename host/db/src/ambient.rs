//! Writes of one task as one transaction, although the task issues them one by one.
//!
//! A caller that must record the effects of a piece of code, atomically with these effects, cannot hand that code a
//! transaction: it calls [`Db::write`](crate::Db::write) and [`Db::transaction`](crate::Db::transaction) as usual.
//! Inside [`Db::ambient_transaction`](crate::Db::ambient_transaction) these join the ambient transaction. It begins
//! with the first write, so that code which computes for long and writes at the end does not block the writer
//! meanwhile.

use std::{mem, sync::Arc};

use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use crate::{
    Backend, Error, Tx,
    engine::{CommitHandle, Engine},
    lease::TxOutcome,
    pool_kind::PoolKind,
    query::{Fetched, Query},
    tx::{self, Work},
};

tokio::task_local! {
    static AMBIENT: Arc<AmbientTransaction>;
}

/// First statements of an ambient transaction; false cancels the transaction.
pub type OnBegin = Arc<dyn for<'a> Fn(&'a mut Tx) -> BoxFuture<'a, Result<bool, Error>> + Send + Sync>;

/// Outcome of an [ambient transaction](crate::Db::ambient_transaction).
#[derive(Debug)]
pub enum AmbientOutcome<T> {
    /// Nothing was written, so no transaction was begun.
    NotBegun(T),
    /// Committed or rolled back, as `before_commit` answered.
    Finished(T),
    /// `on_begin` cancelled it: nothing is kept.
    Cancelled,
}

pub(crate) struct AmbientTransaction {
    engine: Arc<Engine>,
    on_begin: OnBegin,
    /// Notified when the transaction begins.
    begun: Notify,
    // Concurrent statements of one task queue for the one connection.
    state: tokio::sync::Mutex<State>,
}

enum State {
    NotBegun,
    Open(Tx, CommitHandle),
    Cancelled,
    /// Lost against a concurrent transaction: all of it has to run again.
    Conflict,
}

/// Final state of an ambient transaction after its work.
pub(crate) enum End {
    NotBegun,
    Open(Tx, CommitHandle),
    Cancelled,
}

/// True if this task is in a [transaction](crate::Db::transaction), or in an [ambient
/// one](crate::Db::ambient_transaction) that has written something.
pub fn has_uncommitted_writes() -> bool {
    // A locked state belongs to a statement or transaction under way.
    let is_open = |ambient: &Arc<AmbientTransaction>| {
        ambient.state.try_lock().map_or(true, |state| matches!(*state, State::Open(..)))
    };
    tx::is_in_transaction() || AMBIENT.try_with(is_open).unwrap_or(false)
}

/// True if this task is in an [ambient transaction](crate::Db::ambient_transaction), begun or not.
pub fn is_in_ambient_transaction() -> bool {
    AMBIENT.try_with(|_| ()).is_ok()
}

impl AmbientTransaction {
    pub(crate) fn new(engine: &Arc<Engine>, on_begin: &OnBegin) -> Arc<Self> {
        Arc::new(Self {
            engine: Arc::clone(engine),
            on_begin: Arc::clone(on_begin),
            begun: Notify::new(),
            state: tokio::sync::Mutex::new(State::NotBegun),
        })
    }

    /// The ambient transaction on `engine` that this task is in. A transaction inside it runs its own statements.
    pub(crate) fn current(engine: &Engine) -> Option<Arc<Self>> {
        let ambient = AMBIENT.try_with(Arc::clone).ok()?;
        (std::ptr::eq(Arc::as_ptr(&ambient.engine), engine) && !tx::is_in_transaction()).then_some(ambient)
    }

    /// Runs `work` in this transaction; `None` after the time limit, with `work` dropped.
    pub(crate) async fn scope<T>(self: &Arc<Self>, work: BoxFuture<'_, T>) -> Option<T> {
        let expired = async {
            match self.engine.transaction_limit() {
                Some(limit) => {
                    self.begun.notified().await;
                    tokio::time::sleep(limit).await;
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            result = AMBIENT.scope(Arc::clone(self), work) => Some(result),
            () = expired => None,
        }
    }

    /// The transaction, begun if it is not yet.
    async fn open<'s>(&self, state: &'s mut State) -> Result<&'s mut Tx, Error> {
        if matches!(state, State::NotBegun) {
            let (mut tx, commit) = self.engine.begin(PoolKind::Shared).await?;
            self.begun.notify_one();
            match (self.on_begin)(&mut tx).await {
                Ok(true) => *state = State::Open(tx, commit),
                answer => {
                    drop(tx);
                    // Everything is discarded, so the result does not matter.
                    let _ = commit.finish(false).await;
                    match answer {
                        Err(error) if error.is_conflict() => *state = State::Conflict,
                        Err(error) => return Err(error),
                        Ok(_) => *state = State::Cancelled,
                    }
                }
            }
        }
        match state {
            State::Open(tx, _) => Ok(tx),
            State::Cancelled => Err(Error::Cancelled),
            State::NotBegun | State::Conflict => Err(Error::Conflict),
        }
    }

    /// Runs a single write; a failure undoes this write only.
    pub(crate) async fn write(&self, query: Query) -> Result<Fetched, Error> {
        let mut state = self.state.lock().await;
        let tx = self.open(&mut state).await?;
        if tx.backend() == Backend::Sqlite && !query.is_script {
            // SQLite itself undoes just the statement that fails.
            return tx.run_unrecorded(query).await;
        }
        tx.control("SAVEPOINT part").await?;
        let result = tx.run_unrecorded(query).await;
        match &result {
            Ok(_) => tx.control("RELEASE part").await?,
            Err(error) if error.is_conflict() => *state = State::Conflict,
            Err(_) => tx.control("ROLLBACK TO part").await?,
        }
        result
    }

    /// Runs a read, which sees the transaction's own writes.
    pub(crate) async fn read(&self, query: Query) -> Result<Fetched, Error> {
        let mut state = self.state.lock().await;
        if let State::Open(tx, _) = &mut *state {
            return tx.run_unrecorded(query).await;
        }
        drop(state);
        self.engine.read(PoolKind::Shared, query).await
    }

    /// Runs a nested transaction; a failure undoes the nested one only.
    pub(crate) async fn transaction(&self, work: &mut Work<'_>) -> Result<(), Error> {
        let mut state = self.state.lock().await;
        let tx = self.open(&mut state).await?;
        tx.control("SAVEPOINT part").await?;
        match tx.run_nested(work).await? {
            (_, TxOutcome::Conflict) => {
                *state = State::Conflict;
                Err(Error::Conflict)
            }
            (true, TxOutcome::Succeeded) => tx.control("RELEASE part").await,
            (succeeded, outcome) => {
                tx.control("ROLLBACK TO part").await?;
                if succeeded && outcome == TxOutcome::Failed { Err(Error::Aborted) } else { Ok(()) }
            }
        }
    }

    /// Runs `hook` once the transaction has ended.
    pub(crate) async fn on_end(&self, hook: impl FnOnce() + Send + 'static) {
        match &*self.state.lock().await {
            State::Open(tx, _) => tx.on_end(hook),
            State::NotBegun | State::Cancelled | State::Conflict => hook(),
        }
    }

    /// Accepts no further statements.
    pub(crate) fn end(&self) -> BoxFuture<'_, Result<End, Error>> {
        Box::pin(async {
            match mem::replace(&mut *self.state.lock().await, State::Cancelled) {
                State::NotBegun => Ok(End::NotBegun),
                State::Open(tx, commit) => Ok(End::Open(tx, commit)),
                State::Cancelled => Ok(End::Cancelled),
                State::Conflict => Err(Error::Conflict),
            }
        })
    }

    /// Commits or rolls back the answer of [`AmbientTransaction::end`].
    pub(crate) fn finish(
        tx: Tx,
        commit: CommitHandle,
        answer: Result<bool, Error>,
    ) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            drop(tx);
            let finished = commit.finish(matches!(answer, Ok(true))).await;
            answer?;
            finished
        })
    }
}

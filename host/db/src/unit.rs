//! All that one task writes as one transaction, although it asks for it piece by piece.
//!
//! A caller that has to keep a record of what a piece of code did, exactly when it did it, cannot hand that code a
//! transaction: it calls [`Db::write`](crate::Db::write) and [`Db::transaction`](crate::Db::transaction) as it
//! always does. Inside [`Db::unit`](crate::Db::unit) these find the unit they belong to. Its transaction opens with the
//! first write, so that code which thinks for long and writes at the end holds no writer up meanwhile.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use sqlx::{
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

use crate::{
    Db, Error,
    db::Turn,
    sql::{Answer, Want},
    tx::Tx,
};

tokio::task_local! {
    static UNIT: Arc<Unit>;
}

/// What runs as the first thing of a unit's transaction; false gives the unit up.
pub type Opening = Arc<dyn for<'a> Fn(&'a mut Tx) -> BoxFuture<'a, Result<bool, Error>> + Send + Sync>;

/// How a [unit](crate::Db::unit) ended.
#[derive(Debug)]
pub enum Ended<T> {
    /// Nothing was written, so nothing was opened or closed.
    Untouched(T),
    /// Kept or undone, as the closing said.
    Settled(T),
    /// The opening gave it up: nothing was kept.
    Refused,
}

/// A unit under way.
pub(crate) struct Unit {
    db: Db,
    opening: Opening,
    // Statements of one task that run at once take turns on the one connection.
    state: tokio::sync::Mutex<State>,
    after: Mutex<Vec<BoxFuture<'static, ()>>>,
}

enum State {
    Idle,
    Open {
        tx: Tx,
        turn: Turn,
    },
    /// The opening said no.
    Refused,
    /// Lost against a concurrent transaction: all of it is to be done again.
    Conflict,
}

/// The unit this task is in.
pub(crate) fn current() -> Option<Arc<Unit>> {
    UNIT.try_with(Arc::clone).ok()
}

/// Whether this task has written something that is not committed yet: it is in a [unit](crate::Db::unit) that is open.
pub async fn is_uncommitted() -> bool {
    match current() {
        Some(unit) => matches!(*unit.state.lock().await, State::Open { .. }),
        None => false,
    }
}

/// Does `work` when what was written so far is committed: at once, unless it [is not](is_uncommitted). What a unit does not
/// keep is not followed by anything.
pub async fn after_commit(work: impl Future<Output = ()> + Send + 'static) {
    match current() {
        Some(unit) if is_uncommitted().await => unit.after.lock().push(Box::pin(work)),
        _ => work.await,
    }
}

impl Unit {
    pub(crate) fn new(db: &Db, opening: Opening) -> Arc<Self> {
        Arc::new(Self { db: db.clone(), opening, state: tokio::sync::Mutex::new(State::Idle), after: Mutex::default() })
    }

    /// Runs `work` inside.
    pub(crate) async fn scope<T>(self: &Arc<Self>, work: impl Future<Output = T>) -> T {
        UNIT.scope(Arc::clone(self), work).await
    }

    /// The transaction, opened if it is not yet.
    async fn open<'s>(&self, state: &'s mut State) -> Result<&'s mut Tx, Error> {
        if matches!(state, State::Idle) {
            let (mut tx, turn) = self.db.begin().await?;
            match (self.opening)(&mut tx).await {
                Ok(true) => *state = State::Open { tx, turn },
                answer => {
                    drop(tx);
                    // Nothing of it is wanted; the turn ends all the same.
                    let _ = turn.settle(false).await;
                    match answer {
                        Err(error) if error.is_conflict() => *state = State::Conflict,
                        Err(error) => return Err(error),
                        Ok(_) => *state = State::Refused,
                    }
                }
            }
        }
        match state {
            State::Open { tx, .. } => Ok(tx),
            State::Refused => Err(Error::Refused),
            State::Idle | State::Conflict => Err(Error::Conflict),
        }
    }

    /// A single write.
    pub(crate) async fn write_sqlite(
        &self,
        sql: &'static str,
        arguments: SqliteArguments,
        want: Want,
    ) -> Result<Answer<SqliteRow>, Error> {
        let mut state = self.state.lock().await;
        // SQLite undoes a statement that fails by itself.
        self.open(&mut state).await?.run_sqlite(sql, arguments, want).await
    }

    /// As [`Self::write_sqlite`].
    pub(crate) async fn write_postgres(
        &self,
        sql: &'static str,
        arguments: PgArguments,
        want: Want,
    ) -> Result<Answer<PgRow>, Error> {
        let mut state = self.state.lock().await;
        let tx = self.open(&mut state).await?;
        tx.control("SAVEPOINT part").await?;
        let result = tx.run_postgres(sql, arguments, want).await;
        match &result {
            Ok(_) => tx.control("RELEASE part").await?,
            Err(error) if error.is_conflict() => *state = State::Conflict,
            Err(_) => tx.control("ROLLBACK TO part").await?,
        }
        result
    }

    /// A read, which must see what the unit has written; none where it has written nothing.
    pub(crate) async fn read_sqlite(
        &self,
        sql: &'static str,
        arguments: SqliteArguments,
        want: Want,
    ) -> Result<Result<Answer<SqliteRow>, SqliteArguments>, Error> {
        match &mut *self.state.lock().await {
            State::Open { tx, .. } => tx.run_sqlite(sql, arguments, want).await.map(Ok),
            _ => Ok(Err(arguments)),
        }
    }

    /// As [`Self::read_sqlite`].
    pub(crate) async fn read_postgres(
        &self,
        sql: &'static str,
        arguments: PgArguments,
        want: Want,
    ) -> Result<Result<Answer<PgRow>, PgArguments>, Error> {
        match &mut *self.state.lock().await {
            State::Open { tx, .. } => tx.run_postgres(sql, arguments, want).await.map(Ok),
            _ => Ok(Err(arguments)),
        }
    }

    /// A transaction: a part of the unit's, undone alone if it fails.
    pub(crate) async fn transaction<T, E, F>(&self, work: impl FnOnce(Tx) -> F) -> Result<T, E>
    where
        E: From<Error>,
        F: Future<Output = Result<T, E>>,
    {
        let mut state = self.state.lock().await;
        let tx = self.open(&mut state).await?;
        tx.control("SAVEPOINT part").await?;
        let outcome = {
            let (mut part, inner) = tx.lend()?;
            let outcome = work(inner).await;
            part.take_back();
            outcome
        };
        if tx.is_conflict() {
            *state = State::Conflict;
            return Err(Error::Conflict.into());
        }
        let sound = tx.is_sound();
        if outcome.is_ok() && sound {
            tx.control("RELEASE part").await?;
            return outcome;
        }
        tx.control("ROLLBACK TO part").await?;
        tx.forgive();
        if sound { outcome } else { outcome.and(Err(Error::Aborted.into())) }
    }

    /// What became of it, and what is to follow.
    pub(crate) async fn finish<T>(
        &self,
        done: &T,
        closing: impl for<'a> FnOnce(&'a mut Tx, &'a T) -> BoxFuture<'a, Result<bool, Error>>,
    ) -> Result<End, Error> {
        match std::mem::replace(&mut *self.state.lock().await, State::Refused) {
            State::Idle => Ok(End::Untouched),
            State::Refused => Ok(End::Refused),
            State::Conflict => Err(Error::Conflict),
            State::Open { mut tx, turn } => {
                let closed = closing(&mut tx, done).await;
                drop(tx);
                let keep = matches!(closed, Ok(true));
                let settled = turn.settle(keep).await;
                closed?;
                settled?;
                Ok(End::Settled(if keep { std::mem::take(&mut self.after.lock()) } else { Vec::new() }))
            }
        }
    }
}

/// How a unit's transaction ended.
pub(crate) enum End {
    Untouched,
    Refused,
    Settled(Vec<BoxFuture<'static, ()>>),
}

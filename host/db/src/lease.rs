//! A connection that a transaction's closure holds while it runs.

use std::mem;

use tokio::sync::oneshot;

use crate::Error;

/// Outcome of a transaction, by its statements so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TxOutcome {
    /// All succeeded.
    Succeeded,
    /// One failed or was abandoned half-way. PostgreSQL would answer COMMIT with a rollback.
    Failed,
    /// One lost against a concurrent transaction.
    Conflict,
}

impl TxOutcome {
    /// Counts a statement as failed until [`TxOutcome::record`] receives its success, because its future may be
    /// dropped. Returns the previous outcome.
    pub(crate) fn start_statement(&mut self) -> Self {
        mem::replace(self, Self::Failed)
    }

    /// Records the result of the statement that was started at `before`.
    pub(crate) fn record<T>(&mut self, before: Self, result: &Result<T, Error>) {
        match result {
            Ok(_) => *self = before,
            Err(error) if error.is_conflict() => *self = Self::Conflict,
            Err(_) => {}
        }
    }
}

/// A connection leased to a transaction's closure. However the closure ends (it may panic, or its caller hang up), the
/// connection goes back to its owner, together with the outcome of its statements.
pub(crate) struct LeasedConnection<C> {
    conn: Option<C>,
    pub(crate) outcome: TxOutcome,
    owner: Option<oneshot::Sender<(C, TxOutcome)>>,
}

impl<C> LeasedConnection<C> {
    /// Leases `conn`, which comes back through the second half.
    pub(crate) fn new(conn: C) -> (Self, oneshot::Receiver<(C, TxOutcome)>) {
        let (owner, returned) = oneshot::channel();
        (Self { conn: Some(conn), outcome: TxOutcome::Succeeded, owner: Some(owner) }, returned)
    }

    pub(crate) fn parts(&mut self) -> Result<(&mut C, &mut TxOutcome), Error> {
        let conn = self.conn.as_mut().ok_or(Error::Closed)?;
        Ok((conn, &mut self.outcome))
    }

    /// Leases the connection to a transaction inside this one.
    pub(crate) fn sublease(&mut self) -> Result<(Sublease<'_, C>, Self), Error> {
        let (inner, returned) = Self::new(self.conn.take().ok_or(Error::Closed)?);
        let before = self.outcome.start_statement();
        Ok((Sublease { lease: self, before, returned }, inner))
    }
}

impl<C> Drop for LeasedConnection<C> {
    fn drop(&mut self) {
        if let (Some(conn), Some(owner)) = (self.conn.take(), self.owner.take()) {
            // The owner is gone only when the caller is dropped entirely: then so is `conn`.
            let _ = owner.send((conn, self.outcome));
        }
    }
}

/// A lease inside a lease. Dropped before it has ended, it counts as a failed statement.
pub(crate) struct Sublease<'l, C> {
    lease: &'l mut LeasedConnection<C>,
    before: TxOutcome,
    returned: oneshot::Receiver<(C, TxOutcome)>,
}

impl<C> Sublease<'_, C> {
    /// Takes the connection back and returns the outcome of the inner transaction. A connection that the closure moved
    /// elsewhere is lost.
    pub(crate) fn end(mut self) -> TxOutcome {
        let outcome = self.restore();
        self.lease.outcome = self.before;
        outcome
    }

    fn restore(&mut self) -> TxOutcome {
        let Ok((conn, outcome)) = self.returned.try_recv() else { return TxOutcome::Failed };
        self.lease.conn = Some(conn);
        outcome
    }
}

impl<C> Drop for Sublease<'_, C> {
    fn drop(&mut self) {
        self.restore();
    }
}

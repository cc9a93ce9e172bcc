//! Jobs of the writer.

use std::{sync::Arc, time::Duration};

use tokio::sync::oneshot;

use super::connection::TimedConnection;
use crate::{
    Error,
    ended::EndHooks,
    lease::LeasedConnection,
    query::{Fetched, Query},
};

pub(super) enum Job {
    /// One statement, which the writer runs itself.
    Write(Write),
    /// A transaction, which needs the connection for a while.
    Transaction(Transaction),
}

pub(super) struct Write {
    pub(super) query: Query,
    pub(super) limit: Option<Duration>,
    pub(super) reply: oneshot::Sender<Result<Fetched, Error>>,
}

pub(super) struct Transaction {
    /// Sends the connection to the caller.
    pub(super) lease: oneshot::Sender<Result<LeasedConnection<TimedConnection>, Error>>,
    /// Receives the end request; nothing comes from a caller that hung up or panicked.
    pub(super) end: oneshot::Receiver<EndRequest>,
}

/// Caller's request to end its transaction.
pub(super) struct EndRequest {
    /// True to keep the work since the savepoint.
    pub(super) commit: bool,
    /// Replied to after the commit.
    pub(super) reply: oneshot::Sender<Result<(), Error>>,
    /// Run after the commit, before the reply.
    pub(super) hooks: EndHooks,
}

impl Job {
    /// Fails a job that was not even started.
    pub(super) fn fail(self, reason: &Arc<sqlx::Error>) {
        let error = Error::Commit(Arc::clone(reason));
        match self {
            Self::Write(write) => drop(write.reply.send(Err(error))),
            Self::Transaction(transaction) => drop(transaction.lease.send(Err(error))),
        }
    }
}

/// The end of a transaction in its batch.
pub(crate) struct CommitHandle(pub(super) oneshot::Sender<EndRequest>);

impl CommitHandle {
    /// Keeps or undoes the work and waits for the batch's commit: even undone work has read the others' uncommitted
    /// writes, and its answer depends on them.
    pub(crate) async fn finish(self, commit: bool, hooks: EndHooks) -> Result<(), Error> {
        let (reply, committed) = oneshot::channel();
        // A writer that is gone does not reply.
        let _ = self.0.send(EndRequest { commit, reply, hooks });
        committed.await.unwrap_or(Err(Error::Closed))
    }
}

//! Kinds of jobs, and the outcomes of attempts.

use crate::clock::Millis;
use crate::jobs::backoff::Backoff;

/// Nodes that run jobs of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsAt {
    /// Any node.
    AnyNode,
    /// The owner of the job's network.
    Owner,
}

/// Kind of job.
#[derive(Debug)]
pub struct JobKind {
    /// Name in the database, in metrics and in `hub admin jobs`.
    pub name: &'static str,
    pub runs_at: RunsAt,
    /// True if the jobs are the hub's own, of the operator's network. Others, from an imported file, are never run.
    pub is_of_hub: bool,
    /// Maximum number that a node runs at once. A network gets half of them at most, or one.
    pub concurrency: usize,
    pub backoff: Backoff,
    /// Number of failed attempts after which a job is given up; none: never.
    pub max_attempts: Option<i64>,
}

/// Outcome of an attempt that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOutcome {
    /// The job is done.
    Done,
    /// There is more to do from then on; other jobs come first.
    RunAt(Millis),
    /// The job's [turn is over](crate::jobs::is_turn_over): it goes on when it is its network's turn again.
    NextTurn,
}

/// Failure of an attempt.
#[derive(Debug)]
pub struct JobError {
    pub(super) message: String,
    /// False if a repetition would fail, too.
    pub(super) is_permanent: bool,
}

impl JobError {
    /// A failure that a repetition would not change.
    pub fn permanent(error: &impl ToString) -> Self {
        Self { message: error.to_string(), is_permanent: true }
    }

    pub(super) fn new(error: &impl ToString) -> Self {
        Self { message: error.to_string(), is_permanent: false }
    }
}

impl<E: std::error::Error> From<E> for JobError {
    fn from(error: E) -> Self {
        Self::new(&error)
    }
}

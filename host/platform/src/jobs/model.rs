//! Jobs.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use uuid::Uuid;

use crate::clock::Millis;
use crate::jobs::kind::JobKind;
use crate::values::NetworkId;

/// A job to be queued.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub(super) kind: &'static str,
    pub(super) network: NetworkId,
    pub(super) key: String,
    pub(super) payload: Value,
}

impl NewJob {
    /// A job of this kind, for a network; the hub's own are for the operator's. It is queued once under its key.
    pub fn new(kind: &JobKind, network: NetworkId, key: &(impl ToString + ?Sized)) -> Self {
        Self { kind: kind.name, network, key: key.to_string(), payload: Value::Null }
    }

    /// With data for the job. A job that is queued already keeps its own.
    #[must_use]
    pub fn with_payload(self, payload: Value) -> Self {
        Self { payload, ..self }
    }
}

/// A job that this node has leased.
#[derive(Clone, Debug)]
pub struct Job {
    pub network: NetworkId,
    pub key: String,
    pub payload: Value,
    /// Number of attempts, with this one.
    pub attempts: i64,
    /// Times that its node was killed while it ran.
    pub kills: i64,
    pub(super) kind: &'static str,
    pub(super) lease: Uuid,
}

/// Name of a job, as `hub admin jobs` prints it: kind, network and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobId {
    pub kind: String,
    pub network: NetworkId,
    pub key: String,
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.network, self.key)
    }
}

impl FromStr for JobId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (kind, rest) = text.split_once('/')?;
            let (network, key) = rest.split_once('/')?;
            Some(Self { kind: kind.to_owned(), network: NetworkId(network.parse().ok()?), key: key.to_owned() })
        };
        parse().ok_or_else(|| "expected KIND/NETWORK/KEY, as `hub admin jobs list` prints it".to_owned())
    }
}

/// State of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum JobState {
    /// It waits for its time, or for a slot.
    Waiting,
    /// A node has it.
    Running,
    /// The latest attempt failed; there will be another.
    Failing,
    /// It was given up.
    Dead,
}

/// A job as it is stored.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct StoredJob {
    pub network_id: NetworkId,
    pub kind: String,
    pub job_key: String,
    pub created_at: Millis,
    /// Time of the next attempt, or end of the lease; none if it was given up.
    pub due_at: Option<Millis>,
    pub attempts: i64,
    pub last_error: Option<String>,
    pub is_running: bool,
}

impl StoredJob {
    pub fn id(&self) -> JobId {
        JobId { kind: self.kind.clone(), network: self.network_id, key: self.job_key.clone() }
    }

    pub fn state(&self) -> JobState {
        match (self.due_at, self.is_running, &self.last_error) {
            (None, ..) => JobState::Dead,
            (_, true, _) => JobState::Running,
            (.., Some(_)) => JobState::Failing,
            (.., None) => JobState::Waiting,
        }
    }
}

/// Numbers of jobs of a kind.
#[derive(Clone, Debug, Default, sqlx::FromRow)]
pub struct JobStats {
    /// Jobs that are due or will be, without those that run.
    pub waiting: i64,
    pub running: i64,
    /// Waiting jobs whose latest attempt failed.
    pub failing: i64,
    pub dead: i64,
    /// Earliest time of an attempt at a waiting job.
    pub next_at: Option<Millis>,
    /// Error of one of the failing or dead jobs.
    pub last_error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        let id = JobId { kind: "mail".to_owned(), network: NetworkId(Uuid::nil()), key: "a/b".to_owned() };
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("mail/a".parse::<JobId>().is_err() && "mail/a/b".parse::<JobId>().is_err());
    }
}

//! The host of a test case.

use super::fixture::FixtureHost;
use crate::contract::state::StateChanges;
use crate::host::Host;
use crate::recorded::RecordedHost;
use std::sync::Arc;

/// Answers the host calls of a test case.
#[derive(Clone)]
pub enum TestCaseHost {
    /// Answers described by the case.
    Described(FixtureHost),
    /// Answers recorded with the case.
    Recorded(Arc<RecordedHost>),
}

impl TestCaseHost {
    /// The host at that time.
    pub fn at(&self, now_ms: u64) -> Arc<dyn Host> {
        match self {
            Self::Described(host) => Arc::new(host.at(now_ms)),
            Self::Recorded(host) => Arc::<RecordedHost>::clone(host),
        }
    }

    /// Applies what a call at that time wrote into `state`. A record has the values after it.
    pub fn commit(&self, changes: &StateChanges, now_ms: u64) {
        match self {
            Self::Described(host) => host.commit(changes, now_ms),
            Self::Recorded(_) => {}
        }
    }

    /// Number of calls missing in the record.
    pub fn unrecorded(&self) -> u64 {
        match self {
            Self::Described(_) => 0,
            Self::Recorded(host) => host.unrecorded(),
        }
    }
}

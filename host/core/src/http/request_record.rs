//! Additional data for a request's log line.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::values::NetworkId;

/// Request extension, filled on the way.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestRecord(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    caller: OnceLock<(NetworkId, String)>,
    statements: Arc<AtomicU32>,
}

impl RequestRecord {
    /// Records the caller's network and key.
    pub(crate) fn set_caller(&self, network: NetworkId, key: &str) {
        let _ = self.0.caller.set((network, key.to_owned()));
    }

    pub(super) fn network(&self) -> Option<NetworkId> {
        self.0.caller.get().map(|(network, _)| *network)
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.0.caller.get().map(|(_, key)| key.as_str())
    }

    /// Counter of the request's SQL statements.
    pub(super) fn statements(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.0.statements)
    }

    pub(super) fn queries(&self) -> u32 {
        self.0.statements.load(Ordering::Relaxed)
    }
}

//! Faults of a node and their start times.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;

/// Kind of fault, as reported by `/readyz`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema, strum::EnumIter, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FaultKind {
    /// The database does not answer.
    Database,
    /// A disk is full.
    Disk,
    /// NATS is unreachable.
    Bus,
    /// A clock is wrong: this node's, or the one by which the hub keeps its time.
    Clock,
    /// Parts of different hubs were put together.
    Cluster,
    /// The database server has no more connections.
    Connections,
    /// Some networks have no shard owner.
    Homes,
    /// Periodic work takes too long.
    Passes,
    /// This node and others cannot reach each other.
    Peers,
    /// The hub is stopping.
    Stopping,
}

/// An active fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// Message for the operator. It is public, so it contains no addresses and no networks.
    pub message: Cow<'static, str>,
    /// True if other nodes serve clients better.
    pub is_disabling: bool,
}

impl Fault {
    /// A fault that prevents this node from working.
    pub fn disabling(kind: FaultKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), is_disabling: true }
    }

    /// A fault for the operator's attention that does not affect clients of this node.
    pub fn tolerable(kind: FaultKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), is_disabling: false }
    }
}

/// Start times of the active faults.
#[derive(Debug, Default)]
pub struct FaultLog(Mutex<BTreeMap<FaultKind, Millis>>);

impl FaultLog {
    /// Kinds of faults at the last observation.
    pub fn kinds(&self) -> BTreeSet<FaultKind> {
        self.0.lock().keys().copied().collect()
    }

    /// Records the current faults, at most one of each kind, and returns them with their start times.
    pub fn observe(&self, faults: Vec<Fault>, now: Millis) -> Vec<(Fault, Millis)> {
        let mut log = self.0.lock();
        let with_since = |fault: Fault| {
            let since = log.get(&fault.kind).copied().unwrap_or(now);
            (fault, since)
        };
        let lasting: Vec<_> = faults.into_iter().map(with_since).collect();
        *log = lasting.iter().map(|(fault, since)| (fault.kind, *since)).collect();
        lasting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_lasts_since_it_was_first_seen() {
        let log = FaultLog::default();
        let fault = |kind| Fault::disabling(kind, "…");
        let since =
            |faults: Vec<Fault>, now| log.observe(faults, now).into_iter().map(|(_, at)| at).collect::<Vec<_>>();
        assert_eq!(since(vec![fault(FaultKind::Bus)], 10), [10]);
        assert_eq!(since(vec![fault(FaultKind::Database), fault(FaultKind::Bus)], 20), [20, 10]);
        assert_eq!(since(vec![fault(FaultKind::Database)], 30), [20]);
        assert_eq!(since(vec![fault(FaultKind::Bus)], 40), [40], "it was gone meanwhile");
    }
}

//! What can be wrong with a node, and since when it is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;

/// What can be wrong, as `/readyz` names it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema, strum::EnumIter, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum FaultKind {
    /// The database does not answer.
    Database,
    /// A disk is full.
    Disk,
    /// NATS is unreachable.
    Bus,
    /// This node's clock differs from the database's.
    Clock,
    /// Some networks have no shard owner.
    Homes,
    /// This node and others do not reach each other.
    Peers,
    /// The hub is stopping.
    Stopping,
}

/// Something that is wrong now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// For the operator. Anybody may read it: it names no address and no network.
    pub(crate) message: Cow<'static, str>,
    /// Whether callers are better served by another node.
    pub(crate) is_disabling: bool,
}

impl Fault {
    /// One with which this node cannot do its work.
    pub(crate) fn disabling(kind: FaultKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), is_disabling: true }
    }

    /// One that the operator should see, while callers are served here as well as elsewhere.
    pub(crate) fn tolerable(kind: FaultKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), is_disabling: false }
    }
}

/// Since when each fault lasts.
#[derive(Debug, Default)]
pub struct FaultLog(Mutex<BTreeMap<FaultKind, Millis>>);

impl FaultLog {
    /// What was wrong when it was last looked.
    pub(crate) fn kinds(&self) -> BTreeSet<FaultKind> {
        self.0.lock().keys().copied().collect()
    }

    /// Takes the faults of this moment, at most one of each kind; answers since when each lasts.
    pub(crate) fn observe(&self, faults: Vec<Fault>, now: Millis) -> Vec<(Fault, Millis)> {
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

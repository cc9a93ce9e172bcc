//! State of the jobs at this node, in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::clock::Millis;
use crate::ids::Ids;
use crate::jobs::slots::JobSlots;
use crate::values::NetworkId;

/// State of the jobs at this node.
#[derive(Debug)]
pub struct Jobs {
    /// Unique name of this process in leases.
    node: String,
    queues: Mutex<BTreeMap<&'static str, Arc<Queue>>>,
}

impl Jobs {
    pub(super) fn new(ids: &Ids) -> Self {
        Self { node: ids.token(16), queues: Mutex::default() }
    }

    /// Names of the kinds that run here.
    pub fn kinds(&self) -> Vec<&'static str> {
        self.queues.lock().keys().copied().collect()
    }

    pub(super) fn node(&self) -> &str {
        &self.node
    }

    pub(super) fn queue(&self, kind: &'static str) -> Arc<Queue> {
        Arc::clone(self.queues.lock().entry(kind).or_default())
    }
}

/// Jobs of a kind at this node.
#[derive(Debug, Default)]
pub(super) struct Queue {
    wake: Notify,
    slots: Mutex<JobSlots>,
}

impl Queue {
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }

    pub(super) fn slots(&self) -> MutexGuard<'_, JobSlots> {
        self.slots.lock()
    }

    pub(super) fn is_turn_over(&self, network: NetworkId, now: Millis) -> bool {
        self.slots().is_turn_over(network, now)
    }
}

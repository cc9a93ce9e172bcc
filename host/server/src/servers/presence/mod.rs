//! Who is online, in memory: a state per network, each behind its own lock, which is never held over an await.

mod network;
mod reservation;
mod saving;
mod server;
#[cfg(test)]
mod tests;
mod unsaved;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

pub(crate) use network::{NetworkPresence, PresenceError};
pub(crate) use reservation::{HOLD, Reservation};
pub(crate) use saving::{Changes, SavedPlayer, SavedServer, SavedWorld};
pub(crate) use server::{LiveWorld, Server, free_slots};
pub(crate) use unsaved::{SavedSlot, Unsaved};

use crate::values::NetworkId;

/// Who is online, in memory.
#[derive(Debug, Default)]
pub struct Presence {
    networks: RwLock<HashMap<NetworkId, Arc<Slot>>>,
    with_slots: bool,
}

/// One network's presence.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    state: Mutex<NetworkPresence>,
    /// Held by whoever writes this network's changes to the database, so that they arrive in their order. The number of
    /// the last [taking](NetworkPresence::taken) that was written, with all before it.
    pub(super) saving: tokio::sync::Mutex<u64>,
}

impl Presence {
    /// Nobody is online yet. `with_slots`: reserved slots are written down, too, for they must outlive this process.
    pub fn new(with_slots: bool) -> Self {
        Self { networks: RwLock::default(), with_slots }
    }

    /// Looks at or changes who is online in a network.
    pub(crate) fn with<T>(&self, network: NetworkId, work: impl FnOnce(&mut NetworkPresence) -> T) -> T {
        self.slot(network).with(work)
    }

    pub(super) fn slot(&self, network: NetworkId) -> Arc<Slot> {
        if let Some(slot) = self.networks.read().get(&network) {
            return Arc::clone(slot);
        }
        let new = || Arc::new(Slot { state: Mutex::new(NetworkPresence::new(self.with_slots)), ..Slot::default() });
        Arc::clone(self.networks.write().entry(network).or_insert_with(new))
    }

    /// Lets go of a network that lives elsewhere.
    pub(crate) fn forget(&self, network: NetworkId) {
        self.networks.write().remove(&network);
    }

    pub(super) fn slots(&self) -> Vec<(NetworkId, Arc<Slot>)> {
        self.networks.read().iter().map(|(network, slot)| (*network, Arc::clone(slot))).collect()
    }
}

impl Slot {
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut NetworkPresence) -> T) -> T {
        work(&mut self.state.lock())
    }
}

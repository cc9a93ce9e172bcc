//! Presence in memory: one state per network, each behind its own lock, which is never held over an await.

mod changes;
#[cfg(test)]
mod counts;
mod index;
mod network;
mod reservation;
mod server;
#[cfg(test)]
mod tests;
mod unreported;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::{Mutex, RwLock};

pub(super) use changes::Changes;
pub use changes::SavedVisit;
pub(crate) use changes::Unsaved;
pub(super) use changes::{PlayerPresence, ServerPresence};
pub(super) use changes::{PresenceEvent, PresenceEvents, SavedPlayer, SavedReservation, SavedServer};
pub(crate) use index::join_order;
pub use network::{NetworkPresence, PresenceError};
pub(crate) use reservation::RESERVATION_TTL;
pub use reservation::Reservation;
pub use server::LiveWorld;
pub use server::{Server, free_slots};
pub use unreported::{Arrival, Departures};
pub(crate) use watch::{Watched, Watcher};

use crate::clock::Millis;
use crate::side_by_side::SideBySide;
use crate::values::NetworkId;

/// A map with keys hashed in a few nanoseconds, by a seed of this process: a heartbeat looks up all its players several
/// times.
type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Servers, players and reservations of all networks.
#[derive(Debug, Default)]
pub struct Presence {
    networks: RwLock<HashMap<NetworkId, Arc<SharedPresence>>>,
    saves_reservations: bool,
    /// Start time of the database server that has all saved changes.
    server_start: Mutex<Option<Millis>>,
    /// The loop that saves.
    pub(super) pass: SideBySide,
}

/// One network's presence behind its lock.
#[derive(Debug, Default)]
pub(crate) struct SharedPresence {
    state: Mutex<NetworkPresence>,
    /// Held while this network is being saved, so that batches are saved in order. The number of the last saved
    /// [batch](NetworkPresence::batch).
    pub(super) saved_batch: tokio::sync::Mutex<u64>,
    /// Held while players are recorded who came or left without a report.
    pub(super) recording: tokio::sync::Mutex<()>,
    /// True if all of it is to be saved again, because the database may lack saved changes.
    pub(super) is_saved_again: AtomicBool,
}

impl Presence {
    /// No servers yet. `saves_reservations` if they must outlive this process.
    pub fn new(saves_reservations: bool) -> Self {
        Self { saves_reservations, ..Self::default() }
    }

    /// Reads or changes a network's presence.
    pub fn with<T>(&self, network: NetworkId, work: impl FnOnce(&mut NetworkPresence) -> T) -> T {
        self.shared(network).with(work)
    }

    pub(super) fn shared(&self, network: NetworkId) -> Arc<SharedPresence> {
        if let Some(shared) = self.networks.read().get(&network) {
            return Arc::clone(shared);
        }
        let new = || SharedPresence {
            state: Mutex::new(NetworkPresence::new(self.saves_reservations)),
            ..SharedPresence::default()
        };
        Arc::clone(self.networks.write().entry(network).or_insert_with(|| Arc::new(new())))
    }

    /// A network's presence, if this node has it.
    pub(super) fn find(&self, network: NetworkId) -> Option<Arc<SharedPresence>> {
        self.networks.read().get(&network).cloned()
    }

    /// Drops a network's presence, which moved to another node.
    pub(crate) fn evict(&self, network: NetworkId) {
        self.networks.write().remove(&network);
    }

    /// Start time of the database server that has all saved changes.
    pub(super) fn server_start(&self) -> Option<Millis> {
        *self.server_start.lock()
    }

    pub(super) fn set_server_start(&self, started_at: Millis) {
        *self.server_start.lock() = Some(started_at);
    }

    /// Moves the times by which anything ends, as the clock is set from `before`.
    pub(super) fn shift(&self, before: Millis, by: Millis) {
        for (_, shared) in self.all() {
            shared.with(|presence| presence.shift(before, by));
        }
    }

    /// Number of players and servers of all networks that are online, or not swept yet.
    pub fn counts(&self) -> (usize, usize) {
        let add = |(players, servers), network: &NetworkPresence| {
            let (more_players, more_servers) = network.counts();
            (players + more_players, servers + more_servers)
        };
        self.all().into_iter().fold((0, 0), |sum, (_, shared)| shared.with(|network| add(sum, network)))
    }

    /// Peak number of players and servers of each network since the last call.
    pub(crate) fn take_peaks(&self) -> Vec<(NetworkId, usize, usize)> {
        let peaks = self.all().into_iter().map(|(network, shared)| (network, shared.with(NetworkPresence::take_peaks)));
        peaks.map(|(network, (players, servers))| (network, players, servers)).collect()
    }

    pub(super) fn all(&self) -> Vec<(NetworkId, Arc<SharedPresence>)> {
        self.networks.read().iter().map(|(network, shared)| (*network, Arc::clone(shared))).collect()
    }
}

impl SharedPresence {
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut NetworkPresence) -> T) -> T {
        work(&mut self.state.lock())
    }
}

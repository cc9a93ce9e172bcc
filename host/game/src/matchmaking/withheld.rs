//! Slots that are free and not for everyone: players in waiting lines have a prior claim to them.
//!
//! The lines are a component above this one, which registers each network in which somebody waits. Where nobody does, a
//! match costs one read of a number.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;

use crate::matchmaking::candidate::PlayerContext;
use crate::presence::{LiveWorld, Server};
use crate::values::NetworkId;

/// Free slots that a match would take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedSlot<'a> {
    pub(crate) server: &'a Server,
    pub(crate) world: Option<&'a LiveWorld>,
    /// Slots that the match needs.
    pub(crate) needed: u32,
    /// Free slots of the server.
    pub(crate) server_free: u32,
}

/// Claims to free slots. Called under presence's lock.
pub(crate) trait Withheld: Debug + Send + Sync {
    /// True if others have a prior claim to these slots.
    fn is_withheld(&self, player: &PlayerContext, slot: WantedSlot<'_>) -> bool;
}

/// Networks in which somebody waits.
#[derive(Debug, Default)]
pub(crate) struct WaitingPlayers {
    networks: RwLock<HashMap<NetworkId, Arc<dyn Withheld>>>,
    count: AtomicUsize,
}

impl WaitingPlayers {
    /// Claims of those who wait in the network; none if nobody does.
    pub(crate) fn of(&self, network: NetworkId) -> Option<Arc<dyn Withheld>> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.networks.read().get(&network).cloned()
    }

    /// Records the claims of a network, or that nobody waits there.
    pub(crate) fn set(&self, network: NetworkId, claims: Option<Arc<dyn Withheld>>) {
        let mut networks = self.networks.write();
        match claims {
            Some(claims) => drop(networks.insert(network, claims)),
            None => drop(networks.remove(&network)),
        }
        self.count.store(networks.len(), Ordering::Relaxed);
    }
}

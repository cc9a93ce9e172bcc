//! Players who came with a server's list, or left without a report, for the components above presence.

use std::sync::Arc;

use crate::clock::Millis;
use crate::presence::memory::FastMap;
use crate::presence::memory::network::NetworkPresence;
use crate::values::{Identifier, PlayerId};

/// Maximum number of players of each kind that wait for the database; beyond it they are left out.
const MAX_PLAYERS: usize = 100_000;

/// Player on a server that listed them, with a name that is new, or for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub player: PlayerId,
    pub name: Option<Identifier>,
    pub server: Arc<str>,
    pub at: Millis,
}

impl Arrival {
    pub(super) fn of(player: PlayerId, name: Option<&Identifier>, server: &Arc<str>, at: Millis) -> Self {
        Self { player, name: name.cloned(), server: Arc::clone(server), at }
    }
}

/// Players who left without a report, with the ends of their visits.
pub type Departures = Vec<(PlayerId, Millis)>;

/// Changes that no call reported, at most one of each kind of a player.
#[derive(Debug, Default)]
pub(super) struct Unreported {
    arrived: FastMap<PlayerId, Arrival>,
    departed: FastMap<PlayerId, Millis>,
}

impl Unreported {
    pub(super) fn arrived(&mut self, arrival: Arrival) {
        if self.arrived.len() < MAX_PLAYERS {
            self.arrived.insert(arrival.player, arrival);
        }
    }

    pub(super) fn departed(&mut self, player: PlayerId, at: Millis) {
        if self.departed.len() < MAX_PLAYERS {
            self.departed.insert(player, at);
        }
    }

    /// The player is on a server again, which is a later sign of them.
    pub(super) fn returned(&mut self, player: PlayerId) {
        self.departed.remove(&player);
    }

    /// A call reported what became of the player.
    pub(super) fn reported(&mut self, player: PlayerId) {
        self.arrived.remove(&player);
        self.departed.remove(&player);
    }
}

impl NetworkPresence {
    /// Takes up to `most` arrivals and departures each.
    pub(crate) fn take_unreported(&mut self, most: usize) -> (Vec<Arrival>, Departures) {
        let Unreported { arrived, departed } = &mut self.unreported;
        let players: Vec<_> = arrived.keys().take(most).copied().collect();
        let arrivals = players.iter().filter_map(|player| arrived.remove(player)).collect();
        let players: Vec<_> = departed.keys().take(most).copied().collect();
        let departures = players.iter().filter_map(|player| departed.remove_entry(player)).collect();
        (arrivals, departures)
    }

    /// Puts back what could not be recorded, of players who are still there and of whom nothing is known since.
    pub(crate) fn put_back_arrivals(&mut self, arrivals: Vec<Arrival>) {
        for arrival in arrivals {
            if self.server_of(arrival.player) == Some(&*arrival.server) {
                self.unreported.arrived.entry(arrival.player).or_insert(arrival);
            }
        }
    }

    /// The same for players who are on no server since.
    pub(crate) fn put_back_departures(&mut self, departures: Departures) {
        for (player, at) in departures {
            if self.server_of(player).is_none() {
                self.unreported.departed.entry(player).or_insert(at);
            }
        }
    }

    /// Drops what is to be recorded of an erased player.
    pub(crate) fn forget_unreported(&mut self, player: PlayerId) {
        self.unreported.reported(player);
    }
}

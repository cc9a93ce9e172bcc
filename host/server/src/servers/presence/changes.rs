//! What changed in memory and is not saved yet.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use uuid::Uuid;

use crate::clock::Millis;
use crate::servers::model::{GameState, ServerInfo};
use crate::servers::presence::reservation::Reservation;
use crate::servers::presence::server::LiveWorld;
use crate::values::{Identifier, PlayerId};

/// A live server as it is saved.
#[derive(Clone, Debug)]
pub(crate) struct SavedServer {
    pub(crate) info: Arc<ServerInfo>,
    pub(crate) started_at: Millis,
    pub(crate) last_heartbeat: Millis,
    pub(crate) game_state: Option<GameState>,
    pub(crate) players_to_start: u32,
    pub(crate) worlds: Vec<LiveWorld>,
}

/// An online player as they are saved.
#[derive(Clone, Debug)]
pub(crate) struct SavedPlayer {
    pub(crate) player: PlayerId,
    pub(crate) server_id: Identifier,
    pub(crate) name: Option<Identifier>,
    pub(crate) world: Option<Identifier>,
    pub(crate) previous_world: Option<Identifier>,
    pub(crate) joined_at: Millis,
}

/// A reservation as it is saved.
#[derive(Clone, Debug)]
pub(crate) struct SavedReservation {
    pub(crate) server: Arc<str>,
    pub(crate) reservation: Reservation,
}

/// The values to write for what changed.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) servers: Vec<SavedServer>,
    /// Servers of which nothing but the time of the last heartbeat changed.
    pub(crate) heartbeats: Vec<(Arc<str>, Millis)>,
    /// Servers that went offline, with their last heartbeat.
    pub(crate) offline: Vec<(Arc<str>, Millis)>,
    pub(crate) joined: Vec<SavedPlayer>,
    pub(crate) left: Vec<PlayerId>,
    pub(crate) reserved: Vec<SavedReservation>,
    pub(crate) released: Vec<Uuid>,
}

/// Which servers, players and reservations changed since the last save.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    pub(super) servers: HashMap<Arc<str>, ServerChange>,
    pub(super) players: HashSet<PlayerId>,
    /// Reservations made, or (none) released.
    pub(super) reservations: HashMap<Uuid, Option<SavedReservation>>,
    /// Whether reservations are saved at all.
    pub(super) saves_reservations: bool,
}

/// How much of a server changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ServerChange {
    /// It went offline; the time of its last heartbeat.
    Offline(Millis),
    /// Nothing but the time of its last heartbeat.
    Heartbeat,
    /// Anything.
    Any,
}

impl Unsaved {
    pub(crate) fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.players.is_empty() && self.reservations.is_empty()
    }

    /// Takes everything and leaves nothing.
    pub(super) fn take(&mut self) -> Self {
        let empty = Self { saves_reservations: self.saves_reservations, ..Self::default() };
        std::mem::replace(self, empty)
    }

    pub(super) fn reserved(&mut self, server: &Arc<str>, reservation: &Reservation) {
        if self.saves_reservations {
            let saved = SavedReservation { server: Arc::clone(server), reservation: reservation.clone() };
            self.reservations.insert(reservation.id, Some(saved));
        }
    }

    pub(super) fn released(&mut self, reservation: &Reservation) {
        if self.saves_reservations {
            self.reservations.insert(reservation.id, None);
        }
    }

    pub(super) fn server(&mut self, id: &Arc<str>, change: ServerChange) {
        match self.servers.get_mut(&**id) {
            Some(ServerChange::Any) if change == ServerChange::Heartbeat => {}
            Some(before) => *before = change,
            None => drop(self.servers.insert(Arc::clone(id), change)),
        }
    }

    /// Puts back what could not be saved. What changed since takes precedence.
    pub(super) fn put_back(&mut self, earlier: Self) {
        self.players.extend(earlier.players);
        for (id, reservation) in earlier.reservations {
            self.reservations.entry(id).or_insert(reservation);
        }
        for (id, change) in earlier.servers {
            let since = self.servers.entry(id).or_insert(change);
            if *since == ServerChange::Heartbeat && change == ServerChange::Any {
                *since = ServerChange::Any;
            }
        }
    }
}

//! Reserving and releasing slots.

use std::sync::Arc;

use uuid::Uuid;

use crate::clock::Millis;
use crate::presence::memory::network::NetworkPresence;
use crate::presence::memory::reservation::Reservation;
use crate::values::{Identifier, PlayerId};

impl NetworkPresence {
    /// Reserves a slot on a server, and releases the player's previous one.
    pub fn reserve(&mut self, server: &Identifier, reservation: Reservation) {
        let id = self.servers.id_of(server.as_str());
        if let Some(player) = reservation.player
            && let Some(before) = self.reserved.insert(player, Arc::clone(&id))
            && let Some(mut server) = self.servers.get_mut(&before)
            && let Some(released) = server.reservations.remove(player)
        {
            self.unsaved.released(&released);
        }
        if let Some(mut server) = self.servers.get_mut(&id) {
            self.unsaved.reserved(&id, &reservation);
            server.reservations.add(reservation);
        }
    }

    /// Releases the player's slot on that server.
    pub fn release(&mut self, server: &Identifier, player: PlayerId) {
        if self.reserved_on(player) == Some(server.as_str()) {
            self.reserved.remove(&player);
            let server = self.servers.get_mut(server.as_str());
            if let Some(released) = server.and_then(|mut server| server.reservations.remove(player)) {
                self.unsaved.released(&released);
            }
        }
    }

    /// Releases the player's slot on any server.
    pub(crate) fn release_any(&mut self, player: PlayerId) {
        let Some(id) = self.reserved.remove(&player) else { return };
        let server = self.servers.get_mut(&id);
        if let Some(released) = server.and_then(|mut server| server.reservations.remove(player)) {
            self.unsaved.released(&released);
        }
    }

    /// Releases those of the slots that are still reserved on that server.
    pub(crate) fn release_slots(&mut self, server: &Identifier, slots: &[Uuid]) {
        let Some(mut at) = self.servers.get_mut(server.as_str()) else { return };
        for released in slots.iter().filter_map(|id| at.reservations.remove_slot(*id)) {
            if let Some(player) = released.player {
                self.reserved.remove(&player);
            }
            self.unsaved.released(&released);
        }
    }

    /// Releases the slots of expired reservations.
    pub(crate) fn release_expired(&mut self, now: Millis) {
        for id in self.servers.with_expired(now) {
            let Some(mut server) = self.servers.get_mut(&id) else { continue };
            for reservation in server.reservations.remove_expired(now) {
                self.unsaved.released(&reservation);
                if let Some(player) = reservation.player.filter(|player| self.reserved.get(player) == Some(&id)) {
                    self.reserved.remove(&player);
                }
            }
        }
    }

    /// The player's slot on that server.
    pub fn reservation(&self, server: &Identifier, player: PlayerId, now: Millis) -> Option<&Reservation> {
        self.server(server.as_str(), now)?.reservations.find(player, now)
    }

    /// Id of the server on which the player has a slot reserved.
    pub(crate) fn reserved_on(&self, player: PlayerId) -> Option<&str> {
        self.reserved.get(&player).map(|id| &**id)
    }
}

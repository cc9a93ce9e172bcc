//! Slots reserved for players on their way.

use std::collections::VecDeque;

use uuid::Uuid;

use crate::clock::Millis;
use crate::values::{Identifier, PlayerId};

/// Duration of a match's reservation, in milliseconds.
pub(crate) const RESERVATION_TTL: Millis = 15_000;

/// A slot reserved for one player, or for anyone.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// Also the id of the transfer it is for.
    pub id: Uuid,
    pub player: Option<PlayerId>,
    pub world: Option<Identifier>,
    /// True if a match has published the id and no transfer has used it yet.
    pub promised: bool,
    pub expires_at: Millis,
}

/// A server's reservations, the soonest to expire first.
#[derive(Debug, Default)]
pub(super) struct Reservations(VecDeque<Reservation>);

impl Reservations {
    pub(super) fn add(&mut self, new: Reservation) {
        // At the end, unless lifetimes differ or the clock was set back.
        if self.0.back().is_none_or(|last| last.expires_at <= new.expires_at) {
            return self.0.push_back(new);
        }
        let position = self.0.partition_point(|it| it.expires_at <= new.expires_at);
        self.0.insert(position, new);
    }

    /// Moves their ends.
    pub(super) fn shift(&mut self, by: Millis) {
        for reservation in &mut self.0 {
            reservation.expires_at = reservation.expires_at.saturating_add(by);
        }
    }

    /// The player's reservation, unless it has expired.
    pub(super) fn find(&self, player: PlayerId, now: Millis) -> Option<&Reservation> {
        self.live(now).find(|it| it.player == Some(player))
    }

    /// Expiry of the first reservation, if there is any.
    pub(super) fn first_expiry(&self) -> Option<Millis> {
        self.0.front().map(|it| it.expires_at)
    }

    /// Number of reservations, expired or not.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Number of reservations that have not expired, without those of `except`.
    pub(super) fn count(&self, now: Millis, except: &[PlayerId]) -> u32 {
        let live = self.0.len() - self.expired(now);
        let excepted = except.iter().filter(|player| self.find(**player, now).is_some()).count();
        (live - excepted) as u32
    }

    /// Number of those for that world.
    pub(super) fn count_in(&self, world: &Identifier, now: Millis, except: &[PlayerId]) -> u32 {
        let is_excepted = |it: &Reservation| it.player.is_some_and(|player| except.contains(&player));
        let counts = |it: &&Reservation| it.world.as_ref() == Some(world) && !is_excepted(it);
        self.live(now).filter(counts).count() as u32
    }

    /// Removes and returns the player's reservation, expired or not.
    pub(super) fn remove(&mut self, player: PlayerId) -> Option<Reservation> {
        let position = self.0.iter().position(|it| it.player == Some(player))?;
        self.0.remove(position)
    }

    /// Removes and returns the reservation with that id.
    pub(super) fn remove_slot(&mut self, id: Uuid) -> Option<Reservation> {
        let position = self.0.iter().position(|it| it.id == id)?;
        self.0.remove(position)
    }

    /// Removes and returns the expired reservations.
    pub(super) fn remove_expired(&mut self, now: Millis) -> impl Iterator<Item = Reservation> {
        let expired = self.expired(now);
        self.0.drain(..expired)
    }

    /// All reservations, expired or not.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.0.iter()
    }

    /// Number of expired reservations. Called for each candidate of a match, and nearly always 0.
    fn expired(&self, now: Millis) -> usize {
        if self.first_expiry().is_none_or(|first| first > now) {
            return 0;
        }
        self.0.partition_point(|it| it.expires_at <= now)
    }

    fn live(&self, now: Millis) -> impl Iterator<Item = &Reservation> {
        self.0.range(self.expired(now)..)
    }
}

//! Slots that are kept for players on their way.

use std::collections::VecDeque;

use uuid::Uuid;

use crate::clock::Millis;
use crate::values::{Identifier, PlayerId};

/// How long a slot is kept for who was found one, in milliseconds.
pub(crate) const HOLD: Millis = 15_000;

/// A slot kept for one player, or for a caller who did not say for whom.
#[derive(Clone, Debug)]
pub(crate) struct Reservation {
    /// Its own, and that of the transfer it is for.
    pub(crate) id: Uuid,
    pub(crate) player: Option<PlayerId>,
    pub(crate) world: Option<Identifier>,
    /// The id was given out, and no transfer has used it yet.
    pub(crate) promised: bool,
    pub(crate) expires_at: Millis,
}

/// A server's reservations, the soonest to expire first.
#[derive(Debug, Default)]
pub(super) struct Reservations(VecDeque<Reservation>);

impl Reservations {
    pub(super) fn add(&mut self, new: Reservation) {
        // At the end, but for slots that are kept for unequal times or a clock that was set back.
        let position = self.0.partition_point(|it| it.expires_at <= new.expires_at);
        self.0.insert(position, new);
    }

    /// The player's, if it still counts.
    pub(super) fn of(&self, player: PlayerId, now: Millis) -> Option<&Reservation> {
        self.live(now).find(|it| it.player == Some(player))
    }

    /// How many count at `now`, without that of `except`.
    pub(super) fn count(&self, now: Millis, except: Option<PlayerId>) -> u32 {
        let live = self.0.len() - self.expired(now);
        (live - usize::from(except.is_some_and(|player| self.live(now).any(|it| it.player == Some(player))))) as u32
    }

    /// How many of those are for that world.
    pub(super) fn count_in(&self, world: &Identifier, now: Millis, except: Option<PlayerId>) -> u32 {
        let counts = |it: &&Reservation| it.world.as_ref() == Some(world) && (except.is_none() || it.player != except);
        self.live(now).filter(counts).count() as u32
    }

    /// Removes and returns the player's, also one that has expired.
    pub(super) fn take_of(&mut self, player: PlayerId) -> Option<Reservation> {
        let position = self.0.iter().position(|it| it.player == Some(player))?;
        self.0.remove(position)
    }

    /// Removes and returns what has expired.
    pub(super) fn prune(&mut self, now: Millis) -> impl Iterator<Item = Reservation> {
        let expired = self.expired(now);
        self.0.drain(..expired)
    }

    /// All, also what has expired.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.0.iter()
    }

    fn expired(&self, now: Millis) -> usize {
        self.0.partition_point(|it| it.expires_at <= now)
    }

    fn live(&self, now: Millis) -> impl Iterator<Item = &Reservation> {
        self.0.range(self.expired(now)..)
    }
}

//! What the database has yet to be told.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use uuid::Uuid;

use crate::clock::Millis;
use crate::servers::presence::reservation::Reservation;
use crate::values::PlayerId;

/// Marks on what changed since it was last saved.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    pub(super) servers: HashMap<Arc<str>, Mark>,
    pub(super) players: HashSet<PlayerId>,
    /// Slots that were kept, or (none) are not kept any more.
    pub(super) slots: HashMap<Uuid, Option<SavedSlot>>,
    /// Slots are saved at all.
    pub(super) with_slots: bool,
}

/// A slot as it is saved.
#[derive(Clone, Debug)]
pub(crate) struct SavedSlot {
    pub(crate) server: Arc<str>,
    pub(crate) slot: Reservation,
}

/// How much of a server changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// It is gone; this is when it was last heard of.
    Gone(Millis),
    /// The time of its last heartbeat alone.
    Beat,
    /// Anything.
    Whole,
}

impl Unsaved {
    pub(crate) fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.players.is_empty() && self.slots.is_empty()
    }

    /// All there is, and nothing is left.
    pub(super) fn take(&mut self) -> Self {
        let nothing = Self { with_slots: self.with_slots, ..Self::default() };
        std::mem::replace(self, nothing)
    }

    pub(super) fn kept(&mut self, server: &Arc<str>, slot: &Reservation) {
        if self.with_slots {
            self.slots.insert(slot.id, Some(SavedSlot { server: Arc::clone(server), slot: slot.clone() }));
        }
    }

    pub(super) fn freed(&mut self, slot: &Reservation) {
        if self.with_slots {
            self.slots.insert(slot.id, None);
        }
    }

    pub(super) fn server(&mut self, id: &Arc<str>, mark: Mark) {
        match self.servers.get_mut(&**id) {
            Some(Mark::Whole) if mark == Mark::Beat => {}
            Some(before) => *before = mark,
            None => drop(self.servers.insert(Arc::clone(id), mark)),
        }
    }

    /// Takes back marks that were not saved after all. What happened since counts more.
    pub(super) fn put_back(&mut self, earlier: Self) {
        self.players.extend(earlier.players);
        for (id, slot) in earlier.slots {
            self.slots.entry(id).or_insert(slot);
        }
        for (id, mark) in earlier.servers {
            let since = self.servers.entry(id).or_insert(mark);
            if *since == Mark::Beat && mark == Mark::Whole {
                *since = Mark::Whole;
            }
        }
    }
}

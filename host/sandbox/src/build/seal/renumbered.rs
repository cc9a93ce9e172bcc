//! New indices after some items were removed.

/// Index of removed items. No item has it, so using it makes the component invalid.
const REMOVED: u32 = u32::MAX;

/// One index space of a component.
#[derive(Default)]
pub(super) struct Renumbered {
    /// By the original index: the new one, and true for an item that is not part of the contract.
    seen: Vec<(u32, bool)>,
    next: u32,
}

impl Renumbered {
    /// Keeps the next item.
    pub(super) fn keep(&mut self, foreign: bool) {
        self.seen.push((self.next, foreign));
        self.next += 1;
    }

    /// Removes the next item.
    pub(super) fn remove(&mut self) {
        self.seen.push((REMOVED, true));
    }

    /// The new index.
    pub(super) fn index(&self, index: u32) -> u32 {
        self.seen.get(index as usize).map_or(REMOVED, |(new, _)| *new)
    }

    /// True if the item is not part of the contract.
    pub(super) fn is_foreign(&self, index: u32) -> bool {
        self.seen.get(index as usize).is_some_and(|(_, foreign)| *foreign)
    }
}

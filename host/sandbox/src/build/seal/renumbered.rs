//! Where things are after some of them are gone.

/// The index of what is gone. Nothing has it, so using it makes the component invalid.
const GONE: u32 = u32::MAX;

/// One index space of a component.
#[derive(Default)]
pub(super) struct Renumbered {
    /// By the original's index: the index now, and whether it comes from elsewhere.
    seen: Vec<(u32, bool)>,
    now: u32,
}

impl Renumbered {
    /// What was next stays.
    pub(super) fn keep(&mut self, foreign: bool) {
        self.seen.push((self.now, foreign));
        self.now += 1;
    }

    /// What was next is gone.
    pub(super) fn remove(&mut self) {
        self.seen.push((GONE, true));
    }

    /// Its index now.
    pub(super) fn index(&self, index: u32) -> u32 {
        self.seen.get(index as usize).map_or(GONE, |(now, _)| *now)
    }

    /// Whether it comes from elsewhere.
    pub(super) fn is_foreign(&self, index: u32) -> bool {
        self.seen.get(index as usize).is_some_and(|(_, foreign)| *foreign)
    }
}

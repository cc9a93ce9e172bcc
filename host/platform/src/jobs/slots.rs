//! Slots for the jobs of a kind at this node.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::clock::{Millis, millis};
use crate::values::NetworkId;

/// Length of a job's first turn, and number of times that it is doubled at most.
const FIRST_TURN: Duration = Duration::from_secs(5);
const MOST_DOUBLINGS: u32 = 8;

/// Jobs that run here, by network.
#[derive(Debug, Default)]
pub(super) struct JobSlots {
    taken: HashMap<NetworkId, usize>,
    total: usize,
    /// Number of slots of jobs in a further turn.
    of_further_turns: usize,
    /// Times at which the jobs began.
    began: HashMap<(NetworkId, String), Millis>,
    /// Number of turns that a network's job has had.
    turns: HashMap<NetworkId, u32>,
    /// Networks without a slot whose jobs are due.
    waiting: HashSet<NetworkId>,
    /// Network that got the latest slot.
    last: Option<NetworkId>,
}

impl JobSlots {
    fn is_full(&self, concurrency: usize) -> bool {
        self.total >= concurrency
    }

    /// Acquires a slot for a network; `None` if all are taken, or the network has its share. Jobs in a further turn leave
    /// one slot to those in their first. Returns true for a further turn.
    pub(super) fn acquire(&mut self, network: NetworkId, concurrency: usize) -> Option<bool> {
        let share = (concurrency / 2).max(1);
        let taken = self.taken.get(&network).copied().unwrap_or(0);
        let is_further = self.turns.contains_key(&network);
        let leaves_none = is_further && self.of_further_turns >= concurrency.saturating_sub(1).max(1);
        if self.is_full(concurrency) || leaves_none || taken >= share {
            if taken == 0 {
                self.waiting.insert(network);
            }
            return None;
        }
        *self.taken.entry(network).or_default() += 1;
        self.total += 1;
        self.of_further_turns += usize::from(is_further);
        Some(is_further)
    }

    /// Assigns an acquired slot to a job, whose network has had its turn.
    pub(super) fn assign(&mut self, network: NetworkId, key: &str, now: Millis) {
        self.began.insert((network, key.to_owned()), now);
        self.last = Some(network);
    }

    /// Keys of a network's jobs.
    pub(super) fn keys(&self, network: NetworkId) -> Vec<String> {
        self.began.keys().filter(|(of, _)| *of == network).map(|(_, key)| key.clone()).collect()
    }

    /// Releases a slot. `has_turn_ended` says that the job goes on in another turn.
    pub(super) fn release(&mut self, network: NetworkId, key: Option<String>, is_further: bool, has_turn_ended: bool) {
        if let Some(key) = key {
            self.began.remove(&(network, key));
            if has_turn_ended {
                *self.turns.entry(network).or_default() += 1;
            } else {
                self.turns.remove(&network);
            }
        }
        self.total -= 1;
        self.of_further_turns -= usize::from(is_further);
        if let Some(taken) = self.taken.get_mut(&network) {
            *taken -= 1;
            if *taken == 0 {
                self.taken.remove(&network);
            }
        }
    }

    /// Forgets who waited at the last search.
    pub(super) fn begin_search(&mut self) {
        self.waiting.clear();
    }

    /// True if a network's job has had its turn, and another network waits.
    pub(super) fn is_turn_over(&self, network: NetworkId, now: Millis) -> bool {
        let doublings = self.turns.get(&network).copied().unwrap_or(0).min(MOST_DOUBLINGS);
        let ends = |began: &Millis| began.saturating_add(millis(FIRST_TURN) << doublings);
        let mut jobs = self.began.iter().filter(|((of, _), _)| *of == network);
        self.waiting.iter().any(|waiting| *waiting != network) && jobs.any(|(_, began)| now >= ends(began))
    }

    /// Orders networks by their turn: first those after the one that was served last.
    pub(super) fn order(&self, networks: &mut [NetworkId]) {
        let Some(last) = self.last else { return };
        networks.sort_unstable_by_key(|network| (*network <= last, *network));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks() -> [NetworkId; 3] {
        [1, 2, 3].map(|number| NetworkId(uuid::Uuid::from_u128(number)))
    }

    #[test]
    fn networks_take_turns_and_get_half_at_most() {
        let [a, b, c] = networks();
        let mut slots = JobSlots::default();
        let mut acquire = |network| slots.acquire(network, 4).is_some();
        assert!(acquire(a) && acquire(a) && !acquire(a));
        assert!(acquire(b) && acquire(c) && !acquire(c));
        slots.release(a, None, false, false);
        assert!(slots.acquire(c, 4).is_some());
        let mut one = JobSlots::default();
        assert!(one.acquire(a, 1).is_some() && one.acquire(b, 1).is_none());
        let mut networks = [a, b, c];
        slots.assign(a, "one", 0);
        assert_eq!(slots.keys(a), ["one"]);
        assert!(slots.keys(b).is_empty());
        slots.order(&mut networks);
        assert_eq!(networks, [b, c, a]);
    }

    #[test]
    fn a_turn_ends_when_others_wait_and_leaves_a_slot_to_new_jobs() {
        let [a, b, c] = networks();
        let mut slots = JobSlots::default();
        let begin = |slots: &mut JobSlots, network, now| {
            let is_further = slots.acquire(network, 2)?;
            slots.assign(network, "job", now);
            Some(is_further)
        };
        assert_eq!((begin(&mut slots, a, 0), begin(&mut slots, b, 0)), (Some(false), Some(false)));
        assert!(!slots.is_turn_over(a, 5_000), "nobody waits");
        assert_eq!(begin(&mut slots, c, 0), None);
        assert!(!slots.is_turn_over(a, 4_999) && slots.is_turn_over(a, 5_000) && slots.is_turn_over(b, 5_000));
        for network in [a, b] {
            slots.release(network, Some("job".to_owned()), false, true);
        }
        slots.begin_search();
        assert_eq!(begin(&mut slots, a, 5_000), Some(true));
        assert_eq!(begin(&mut slots, b, 5_000), None, "the other slot is for new jobs");
        assert_eq!(begin(&mut slots, c, 5_000), Some(false));
        assert!(!slots.is_turn_over(a, 14_999) && slots.is_turn_over(a, 15_000), "the second turn is longer");
        slots.release(a, Some("job".to_owned()), true, false);
        assert_eq!(begin(&mut slots, a, 15_000), Some(false), "its next job is a new one");
    }
}

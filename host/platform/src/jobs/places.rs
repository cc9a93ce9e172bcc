//! Places of a kind's jobs at this node.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::clock::{Millis, millis};
use crate::values::NetworkId;

/// Length of a job's first turn, and number of times that it is doubled at most.
const FIRST_TURN: Duration = Duration::from_secs(5);
const MOST_DOUBLINGS: u32 = 8;

/// Jobs that run here, by network.
#[derive(Debug, Default)]
pub(super) struct Places {
    taken: HashMap<NetworkId, usize>,
    total: usize,
    /// Number of places of jobs in a further turn.
    of_further_turns: usize,
    /// Times at which the jobs began.
    began: HashMap<(NetworkId, String), Millis>,
    /// Number of turns that a network's job has had.
    turns: HashMap<NetworkId, u32>,
    /// Networks without a place whose jobs are due.
    waiting: HashSet<NetworkId>,
    /// Network that got the latest place.
    last: Option<NetworkId>,
}

impl Places {
    fn is_full(&self, concurrency: usize) -> bool {
        self.total >= concurrency
    }

    /// Takes a place for a network; none if none is free, or the network has its share. Jobs in a further turn leave one
    /// place to those in their first. Returns true for a further turn.
    pub(super) fn enter(&mut self, network: NetworkId, concurrency: usize) -> Option<bool> {
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

    /// Gives a place to a job, whose network has had its turn.
    pub(super) fn fill(&mut self, network: NetworkId, key: &str, now: Millis) {
        self.began.insert((network, key.to_owned()), now);
        self.last = Some(network);
    }

    /// Keys of a network's jobs.
    pub(super) fn keys(&self, network: NetworkId) -> Vec<String> {
        self.began.keys().filter(|(of, _)| *of == network).map(|(_, key)| key.clone()).collect()
    }

    /// Leaves a place. `has_turn_ended` says that the job goes on in another turn.
    pub(super) fn leave(&mut self, network: NetworkId, key: Option<String>, is_further: bool, has_turn_ended: bool) {
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
        let mut places = Places::default();
        let mut enter = |network| places.enter(network, 4).is_some();
        assert!(enter(a) && enter(a) && !enter(a));
        assert!(enter(b) && enter(c) && !enter(c));
        places.leave(a, None, false, false);
        assert!(places.enter(c, 4).is_some());
        let mut one = Places::default();
        assert!(one.enter(a, 1).is_some() && one.enter(b, 1).is_none());
        let mut networks = [a, b, c];
        places.fill(a, "one", 0);
        assert_eq!(places.keys(a), ["one"]);
        assert!(places.keys(b).is_empty());
        places.order(&mut networks);
        assert_eq!(networks, [b, c, a]);
    }

    #[test]
    fn a_turn_ends_when_others_wait_and_leaves_a_place_to_new_jobs() {
        let [a, b, c] = networks();
        let mut places = Places::default();
        let begin = |places: &mut Places, network, now| {
            let is_further = places.enter(network, 2)?;
            places.fill(network, "job", now);
            Some(is_further)
        };
        assert_eq!((begin(&mut places, a, 0), begin(&mut places, b, 0)), (Some(false), Some(false)));
        assert!(!places.is_turn_over(a, 5_000), "nobody waits");
        assert_eq!(begin(&mut places, c, 0), None);
        assert!(!places.is_turn_over(a, 4_999) && places.is_turn_over(a, 5_000) && places.is_turn_over(b, 5_000));
        for network in [a, b] {
            places.leave(network, Some("job".to_owned()), false, true);
        }
        places.begin_search();
        assert_eq!(begin(&mut places, a, 5_000), Some(true));
        assert_eq!(begin(&mut places, b, 5_000), None, "the other place is for new jobs");
        assert_eq!(begin(&mut places, c, 5_000), Some(false));
        assert!(!places.is_turn_over(a, 14_999) && places.is_turn_over(a, 15_000), "the second turn is longer");
        places.leave(a, Some("job".to_owned()), true, false);
        assert_eq!(begin(&mut places, a, 15_000), Some(false), "its next job is a new one");
    }
}

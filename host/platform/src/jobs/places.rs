//! Places of a kind's jobs at this node.

use std::collections::{HashMap, HashSet};

use crate::values::NetworkId;

/// Jobs that run here, by network.
#[derive(Debug, Default)]
pub(super) struct Places {
    taken: HashMap<NetworkId, usize>,
    total: usize,
    keys: HashSet<(NetworkId, String)>,
    /// Network that got the latest place.
    last: Option<NetworkId>,
}

impl Places {
    pub(super) fn is_full(&self, concurrency: usize) -> bool {
        self.total >= concurrency
    }

    /// Takes a place for a network; false if none is free, or the network has its share.
    pub(super) fn enter(&mut self, network: NetworkId, concurrency: usize) -> bool {
        let share = (concurrency / 2).max(1);
        if self.is_full(concurrency) || self.taken.get(&network).is_some_and(|taken| *taken >= share) {
            return false;
        }
        *self.taken.entry(network).or_default() += 1;
        self.total += 1;
        true
    }

    /// Gives a place to a job, whose network has had its turn.
    pub(super) fn fill(&mut self, network: NetworkId, key: &str) {
        self.keys.insert((network, key.to_owned()));
        self.last = Some(network);
    }

    /// Keys of a network's jobs.
    pub(super) fn keys(&self, network: NetworkId) -> Vec<String> {
        self.keys.iter().filter(|(of, _)| *of == network).map(|(_, key)| key.clone()).collect()
    }

    pub(super) fn leave(&mut self, network: NetworkId, key: Option<String>) {
        if let Some(key) = key {
            self.keys.remove(&(network, key));
        }
        self.total -= 1;
        if let Some(taken) = self.taken.get_mut(&network) {
            *taken -= 1;
            if *taken == 0 {
                self.taken.remove(&network);
            }
        }
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

    #[test]
    fn networks_take_turns_and_get_half_at_most() {
        let [a, b, c] = [1, 2, 3].map(|number| NetworkId(uuid::Uuid::from_u128(number)));
        let mut places = Places::default();
        assert!(places.enter(a, 4) && places.enter(a, 4) && !places.enter(a, 4));
        assert!(places.enter(b, 4) && places.enter(c, 4) && !places.enter(c, 4));
        places.leave(a, None);
        assert!(places.enter(c, 4));
        let mut one = Places::default();
        assert!(one.enter(a, 1) && !one.enter(b, 1));
        let mut networks = [a, b, c];
        places.fill(a, "one");
        assert_eq!(places.keys(a), ["one"]);
        assert!(places.keys(b).is_empty());
        places.order(&mut networks);
        assert_eq!(networks, [b, c, a]);
    }
}

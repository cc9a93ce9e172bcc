//! Players that a file has named, in little memory: two million take 32 MiB.

use std::collections::HashSet;

use crate::budget::{Budget, Exhausted};
use crate::values::PlayerId;

/// Number of players that are kept unsorted.
const MOST_UNSORTED: usize = 65_536;

/// Set of players: sorted ones, and the newest.
#[derive(Debug, Default)]
pub(in crate::imports) struct PlayerSet {
    sorted: Vec<u128>,
    newest: HashSet<u128>,
}

impl PlayerSet {
    /// Adds a player; false if it has them.
    pub(in crate::imports) fn insert(&mut self, player: PlayerId, budget: &Budget) -> Result<bool, Exhausted> {
        let player = player.0.as_u128();
        if self.sorted.binary_search(&player).is_ok() || !self.newest.insert(player) {
            return Ok(false);
        }
        if self.newest.len() >= MOST_UNSORTED {
            budget.memory(self.newest.len() * size_of::<u128>())?;
            self.sorted.reserve_exact(self.newest.len());
            self.sorted.extend(self.newest.drain());
            self.sorted.sort_unstable();
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::budget::Allowance;

    #[test]
    fn each_player_is_new_once() {
        let allowance = Allowance { bytes: 0, steps: 0, memory: 4 << 20, time: Duration::from_secs(60) };
        let budget = Budget::begin(allowance);
        let mut set = PlayerSet::default();
        let id = |at: u128| PlayerId(uuid::Uuid::from_u128(at.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)));
        for is_new in [true, false] {
            for at in 0..150_000 {
                assert_eq!(set.insert(id(at), &budget), Ok(is_new), "{at}");
            }
        }
    }
}

//! Canaries: they run for their share of the players, replacing the active links of the same name.

use super::Chain;
use super::breaker::Admission;
use super::call::Call;
use super::link::Mode;
use crate::contract::Point;
use sha2::{Digest, Sha256};

/// Links of a chain that take part in a call. Both lists are empty for a chain without canaries.
#[derive(Default)]
pub(super) struct Selection<'a> {
    /// For each link, true if it is left out.
    left_out: Vec<bool>,
    /// Admitted canaries. They are admitted here, since they replace others.
    admitted: Vec<Option<Admission<'a>>>,
}

impl<'a> Selection<'a> {
    pub(super) fn is_left_out(&self, at: usize) -> bool {
        self.left_out.get(at).copied().unwrap_or(false)
    }

    /// The admission of the canary at this position.
    pub(super) fn take_admission(&mut self, at: usize) -> Option<Admission<'a>> {
        self.admitted.get_mut(at)?.take()
    }
}

impl Chain {
    /// Selects the links that take part in a call of this player.
    pub(super) fn select(&self, point: Point, player: Option<&str>, call: &Call) -> Selection<'_> {
        if !self.has_canaries {
            return Selection::default();
        }
        let mut left_out = vec![false; self.links.len()];
        let mut admitted: Vec<_> = self.links.iter().map(|_| None).collect();
        for (at, link) in self.links.iter().enumerate() {
            let Mode::Canary { percent } = link.config.mode else { continue };
            let name = &link.config.name;
            // While a canary's breaker is open, the active link serves its players again.
            let is_chosen = bucket(point, name, player, call.seed) < u64::from(percent);
            if let Some(admission) = is_chosen.then(|| link.admit(call.now_ms)).flatten() {
                admitted[at] = Some(admission);
                let replaced = self.links.iter().zip(&mut left_out);
                replaced
                    .filter(|(other, _)| other.config.mode == Mode::Active && other.config.name == *name)
                    .for_each(|(_, left_out)| *left_out = true);
            } else {
                left_out[at] = true;
            }
        }
        Selection { left_out, admitted }
    }
}

/// A player's number from 0 to 99: always the same for a module at a point, so that raising the percentage keeps the
/// earlier players, on every node. A call without a player has a random number.
fn bucket(point: Point, module: &str, player: Option<&str>, seed: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(point.name());
    hash.update([0]);
    hash.update(module);
    hash.update([0]);
    match player {
        Some(player) => hash.update(player.to_ascii_lowercase()),
        None => hash.update(seed.to_le_bytes()),
    }
    let sum: [u8; 32] = hash.finalize().into();
    sum.first_chunk().map_or(0, |first| u64::from_le_bytes(*first)) % 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_players_bucket_is_their_own_and_never_changes() {
        let of = |module, player| bucket(Point::Chat, module, player, 0);
        // Fixed on every node and in every version of the hub.
        assert_eq!(of("guard", Some("069a79f4-44e9-4726-a5be-fca90e38aaf5")), 3);
        assert_eq!(of("guard", Some("069A79F4-44E9-4726-A5BE-FCA90E38AAF5")), 3);
        assert_ne!(of("other", Some("069a79f4-44e9-4726-a5be-fca90e38aaf5")), 3);
    }

    #[test]
    fn buckets_are_filled_evenly() {
        let mut counts = [0; 100];
        for player in 0..10_000 {
            counts[bucket(Point::Matchmaking, "m", Some(&player.to_string()), 0) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (50..200).contains(count)), "{counts:?}");
        let low = (0..10_000).filter(|seed| bucket(Point::Chat, "m", None, *seed) < 25).count();
        assert!((2_000..3_000).contains(&low), "{low}");
    }
}

//! Ranks that purchases gave, by player: a rank lasts as long as one of its purchases.

use crate::Failure;
use network_hub_module::effects::{Effect, PutPermission, RemovePermission};
use network_hub_module::state;
use serde::{Deserialize, Serialize};

/// A rank from one purchase.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Grant {
    rank: String,
    payment: String,
    from: u64,
    /// None: for ever.
    until: Option<u64>,
}

/// Ranks of one player.
#[derive(Debug)]
pub(crate) struct Ranks {
    player: String,
    now: u64,
    grants: Vec<Grant>,
    changed: Vec<String>,
}

impl Ranks {
    /// Reads a player's ranks.
    pub(crate) fn of(player: &str, now: u64) -> Result<Self, Failure> {
        let stored = state::get(&key(player))?.unwrap_or_else(|| "[]".into());
        let mut grants: Vec<Grant> =
            serde_json::from_str(&stored).map_err(|error| Failure::Reject(format!("ranks of {player}: {error}")))?;
        grants.retain(|grant| grant.until.is_none_or(|until| until > now));
        Ok(Self { player: player.into(), now, grants, changed: vec![] })
    }

    /// Gives a rank until a time, or for ever.
    pub(crate) fn give_until(&mut self, rank: &str, payment: &str, until: Option<u64>) {
        self.push(Grant { rank: rank.into(), payment: payment.into(), from: self.now, until });
    }

    /// Gives a rank for a duration, which begins at the end of the one that the player has.
    pub(crate) fn give_for(&mut self, rank: &str, payment: &str, duration_ms: u64) {
        let ends = self.grants.iter().filter(|grant| grant.rank == rank).filter_map(|grant| grant.until);
        let from = ends.max().unwrap_or(self.now);
        self.push(Grant { rank: rank.into(), payment: payment.into(), from, until: Some(from + duration_ms) });
    }

    fn push(&mut self, grant: Grant) {
        self.touch(&grant.rank.clone());
        self.grants.push(grant);
    }

    fn touch(&mut self, rank: &str) {
        if !self.changed.iter().any(|changed| changed == rank) {
            self.changed.push(rank.into());
        }
    }

    /// Takes the ranks of a payment; those that began at its end begin earlier.
    pub(crate) fn take(&mut self, payment: &str) {
        while let Some(at) = self.grants.iter().position(|grant| grant.payment == payment) {
            let taken = self.grants.remove(at);
            self.touch(&taken.rank);
            let Some(end) = taken.until else { continue };
            let unused = end - taken.from.max(self.now).min(end);
            for later in self.grants.iter_mut().filter(|later| later.rank == taken.rank && later.from >= end) {
                later.from -= unused;
                later.until = later.until.map(|until| until - unused);
            }
        }
    }

    /// Keeps the ranks, and has the hub change the permissions.
    pub(crate) fn save(self) -> Result<Vec<Effect>, Failure> {
        if self.grants.is_empty() {
            state::delete(&key(&self.player))?;
        } else {
            // Kept until the last rank ends.
            let ends: Option<Vec<u64>> = self.grants.iter().map(|grant| grant.until).collect();
            let ttl = ends.and_then(|ends| ends.into_iter().max()).map(|end| end - self.now);
            state::set(&key(&self.player), &network_hub_module::effects::json(&self.grants), ttl)?;
        }
        Ok(self.changed.iter().map(|rank| self.permission(rank)).collect())
    }

    fn permission(&self, rank: &str) -> Effect {
        let (player_uuid, node) = (self.player.clone(), format!("group.{rank}"));
        let ends: Vec<_> = self.grants.iter().filter(|grant| grant.rank == rank).map(|grant| grant.until).collect();
        if ends.is_empty() {
            return RemovePermission { player_uuid, node, context: None, world: None }.into();
        }
        let expires_at_ms = if ends.contains(&None) { None } else { ends.into_iter().flatten().max() };
        PutPermission { player_uuid, node, value: true, context: None, world: None, expires_at_ms }.into()
    }
}

fn key(player: &str) -> String {
    format!("ranks:{player}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::effects::Action;
    use network_hub_module::testing;

    const DAY: u64 = 86_400_000;

    const FOR_EVER: u64 = u64::MAX;

    /// End of the rank; 0 if it is taken.
    fn until(effects: &[Effect]) -> u64 {
        match &effects[0].action {
            Action::PutPermission(put) => put.expires_at_ms.unwrap_or(FOR_EVER),
            _ => 0,
        }
    }

    fn change(now: u64, change: impl Fn(&mut Ranks)) -> u64 {
        let _ = testing::handler_context(now, "{}");
        let mut ranks = Ranks::of("p", now).unwrap();
        change(&mut ranks);
        until(&ranks.save().unwrap())
    }

    #[test]
    fn a_rank_is_prolonged_and_shortened() {
        let buy = |payment: &'static str| move |ranks: &mut Ranks| ranks.give_for("vip", payment, 30 * DAY);
        let refund = |payment: &'static str| move |ranks: &mut Ranks| ranks.take(payment);
        assert_eq!(change(0, buy("a")), 30 * DAY);
        assert_eq!(change(0, buy("b")), 60 * DAY);
        assert_eq!(change(0, buy("c")), 90 * DAY);
        assert_eq!(change(10 * DAY, refund("a")), 70 * DAY, "10 days of it were used");
        assert_eq!(change(20 * DAY, refund("c")), 40 * DAY);
        assert_eq!(change(20 * DAY, refund("b")), 0);
    }

    #[test]
    fn a_rank_for_ever_outlives_others() {
        assert_eq!(change(0, |ranks| ranks.give_until("vip", "a", None)), FOR_EVER);
        assert_eq!(change(0, |ranks| ranks.give_until("vip", "b", Some(DAY))), FOR_EVER);
        assert_eq!(change(0, |ranks| ranks.take("a")), DAY);
        assert_eq!(change(2 * DAY, |ranks| ranks.give_for("vip", "c", DAY)), 3 * DAY, "the past is over");
    }
}

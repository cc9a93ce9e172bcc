//! Keeps parties together: the others follow the first, to a target with room for all.

mod config;
mod group;

use config::Config;
use group::{Group, name_of};
use network_hub_module::matchmaking::{Candidate, MatchRequest, Matchmaking, Ranking};
use network_hub_module::{CallContext, candidates, config, warn};
use std::cmp::Reverse;

/// Of the 8 data calls one reads the group and one writes it.
const MAX_CANDIDATES: usize = 6;

struct PartyTogether;

#[network_hub_module::export]
impl Matchmaking for PartyTogether {
    fn rank(context: &CallContext, request: &MatchRequest, candidates: &[Candidate]) -> Ranking {
        let config: Config = config(context);
        let mut ranked: Vec<&Candidate> = candidates.iter().collect();
        let Some(group) = Group::of(&config, request) else {
            ranked.sort_by_key(|candidate| !candidate.affinity);
            return Ok(ranked.into_iter().map(|candidate| candidate.index).collect());
        };
        let followed = group.followed(context.now_ms, config.follow_ms);
        let followed = followed.and_then(|name| candidates.iter().find(|candidate| name_of(candidate.index) == name));
        let followed = followed.map(|candidate| candidate.index);
        let members = if followed.is_some() { Vec::new() } else { members(&config, &group, candidates) };
        // A stable sort: equals keep their order.
        ranked.sort_by_key(|candidate| {
            let present = members.iter().find(|(index, _)| *index == candidate.index).map_or(0, |(_, count)| *count);
            let missing = group.size.saturating_sub(present);
            (
                !candidate.affinity,
                followed != Some(candidate.index),
                Reverse(present),
                Reverse(candidate.free_slots.min(missing)),
            )
        });
        if let (Some(first), Some(player)) = (ranked.first(), &request.player_uuid)
            && group.remember(&config, context.now_ms, player, &name_of(first.index)).is_err()
        {
            warn!("where the group is sent could not be remembered");
        }
        Ok(ranked.into_iter().map(|candidate| candidate.index).collect())
    }
}

/// Number of the group's members on each of the first candidates that have players.
fn members(config: &Config, group: &Group, candidates: &[Candidate]) -> Vec<(u32, u32)> {
    if group.others.is_empty() {
        return Vec::new();
    }
    let with_players = candidates.iter().filter(|candidate| candidate.current_players > 0);
    let searched = with_players.take(config.candidates.min(MAX_CANDIDATES));
    // Without data, no member counts.
    let count = |candidate: &Candidate| {
        let players = candidates::players(candidate.index).unwrap_or_default();
        let members = group.others.iter().filter(|other| players.contains(other));
        (candidate.index, u32::try_from(members.count()).unwrap_or(u32::MAX))
    };
    searched.map(count).collect()
}

#[cfg(test)]
mod tests;

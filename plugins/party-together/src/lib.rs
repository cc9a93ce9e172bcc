//! Keeps parties together: the others follow the first, to a target with room for all.

mod config;
mod group;

use config::Config;
use group::{Group, name_of};
use network_hub_module::matchmaking::{MatchRequest, Matchmaking, Place, Ranking};
use network_hub_module::{CallContext, candidates, config, warn};
use std::cmp::Reverse;

/// Of the 8 data calls one reads the group and one writes it.
const MAX_CANDIDATES: usize = 6;

struct PartyTogether;

#[network_hub_module::export]
impl Matchmaking for PartyTogether {
    fn rank(context: &CallContext, request: &MatchRequest, places: &[Place]) -> Ranking {
        let config: Config = config(context);
        let mut ranked: Vec<&Place> = places.iter().collect();
        let Some(group) = Group::of(&config, request) else {
            ranked.sort_by_key(|place| !place.affinity);
            return Ok(ranked.into_iter().map(|place| place.index).collect());
        };
        let followed = group.followed(context.now_ms, config.follow_ms);
        let followed = followed.and_then(|name| places.iter().find(|place| name_of(place.index) == name));
        let followed = followed.map(|place| place.index);
        let members = if followed.is_some() { Vec::new() } else { members(&config, &group, places) };
        // A stable sort: equals keep their order.
        ranked.sort_by_key(|place| {
            let present = members.iter().find(|(index, _)| *index == place.index).map_or(0, |(_, count)| *count);
            let missing = group.size.saturating_sub(present);
            (!place.affinity, followed != Some(place.index), Reverse(present), Reverse(place.free_slots.min(missing)))
        });
        if let (Some(first), Some(player)) = (ranked.first(), &request.player_uuid)
            && group.remember(&config, context.now_ms, player, &name_of(first.index)).is_err()
        {
            warn!("where the group is sent could not be remembered");
        }
        Ok(ranked.into_iter().map(|place| place.index).collect())
    }
}

/// Number of the group's members on each of the first candidates that have players.
fn members(config: &Config, group: &Group, places: &[Place]) -> Vec<(u32, u32)> {
    if group.others.is_empty() {
        return Vec::new();
    }
    let with_players = places.iter().filter(|place| place.current_players > 0);
    let searched = with_players.take(config.candidates.min(MAX_CANDIDATES));
    // Without data, no member counts.
    let count = |place: &Place| {
        let players = candidates::players(place.index).unwrap_or_default();
        let members = group.others.iter().filter(|other| players.contains(other));
        (place.index, u32::try_from(members.count()).unwrap_or(u32::MAX))
    };
    searched.map(count).collect()
}

#[cfg(test)]
mod tests;

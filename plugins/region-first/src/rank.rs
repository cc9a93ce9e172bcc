//! The order of candidates, servers and worlds alike.

use crate::config::Config;
use network_hub_module::candidates::{region_name, region_number};
use network_hub_module::matchmaking::{Candidate, Ranking, Refusal};

/// Affinity, then region, then the minigame that needs the fewest players, then the given order.
pub(crate) fn rank(config: &Config, player_region: u16, candidates: &[Candidate]) -> Ranking {
    let near = regions_by_distance(config, player_region);
    let mut ranked: Vec<_> = candidates
        .iter()
        .filter_map(|candidate| {
            let is_preferred = config.affinity_first && candidate.affinity;
            let distance = near.iter().position(|&region| region == candidate.region);
            if config.neighbours_only && !is_preferred && distance.is_none() {
                return None;
            }
            let distance = if is_preferred { 0 } else { distance.unwrap_or(near.len()) };
            Some((!is_preferred, distance, candidate.players_needed, candidate.index))
        })
        .collect();
    if ranked.is_empty() {
        return Err(Refusal { reason: "There is nothing to join in or near your region right now.".into() });
    }
    ranked.sort_unstable();
    Ok(ranked.into_iter().map(|(.., index)| index).collect())
}

/// The player's region, then the configured ones; regions without a candidate have no number.
fn regions_by_distance(config: &Config, player_region: u16) -> Vec<u16> {
    let mut near = vec![player_region];
    if !config.neighbours.is_empty() {
        let name = region_name(player_region);
        let neighbours = config.neighbours.iter().find(|(region, _)| **region == name);
        let neighbours = neighbours.into_iter().flat_map(|(_, neighbours)| neighbours);
        near.extend(neighbours.filter_map(|neighbour| region_number(neighbour)));
    }
    near
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use network_hub_module::{config, testing};

    const UNKNOWN: u16 = 0;
    const EUROPE: u16 = 1;
    const ASIA: u16 = 2;
    const OCEANIA: u16 = 3;

    fn candidate(index: u32, region: u16, needed: u32) -> Candidate {
        Candidate { region, players_needed: needed, ..testing::candidate(index) }
    }

    fn ranked(text: &str, player_region: u16, candidates: &[Candidate]) -> Ranking {
        let names = ["UNKNOWN", "EUROPE", "ASIA", "OCEANIA"];
        testing::hub(|hub| hub.regions = names.map(String::from).to_vec());
        let config: Config = config(&testing::context(text));
        rank(&config, player_region, candidates)
    }

    #[test]
    fn the_players_region_comes_first_and_the_rest_keeps_its_order() {
        let candidates = [candidate(0, ASIA, 0), candidate(1, UNKNOWN, 0), candidate(2, EUROPE, 0)];
        assert_eq!(ranked("{}", EUROPE, &candidates).unwrap(), [2, 0, 1]);
    }

    #[test]
    fn nearby_regions_follow_in_their_order() {
        let text = r#"{"neighbours": {"OCEANIA": ["AFRICA", "ASIA", "EUROPE"]}}"#;
        let candidates =
            [candidate(0, UNKNOWN, 0), candidate(1, EUROPE, 0), candidate(2, ASIA, 0), candidate(3, OCEANIA, 0)];
        assert_eq!(ranked(text, OCEANIA, &candidates).unwrap(), [3, 2, 1, 0]);
        assert_eq!(ranked(text, EUROPE, &candidates).unwrap(), [1, 0, 2, 3]);
    }

    #[test]
    fn within_a_region_the_game_that_needs_the_fewest_players_comes_first() {
        let candidates = [candidate(0, EUROPE, 6), candidate(1, EUROPE, 2), candidate(2, ASIA, 1)];
        assert_eq!(ranked("{}", EUROPE, &candidates).unwrap(), [1, 0, 2]);
    }

    #[test]
    fn affinity_beats_the_region_unless_configured_otherwise() {
        let friend = Candidate { affinity: true, ..candidate(1, ASIA, 0) };
        let candidates = [candidate(0, EUROPE, 0), friend];
        assert_eq!(ranked("{}", EUROPE, &candidates).unwrap(), [1, 0]);
        assert_eq!(ranked(r#"{"affinityFirst": false}"#, EUROPE, &candidates).unwrap(), [0, 1]);
    }

    #[test]
    fn far_regions_can_be_left_out() {
        let text = r#"{"neighboursOnly": true, "neighbours": {"EUROPE": ["ASIA"]}}"#;
        let candidates = [candidate(0, OCEANIA, 0), candidate(1, ASIA, 0)];
        assert_eq!(ranked(text, EUROPE, &candidates).unwrap(), [1]);
        assert!(ranked(text, EUROPE, &candidates[..1]).is_err());
    }

    #[test]
    fn the_example_configuration_is_valid() {
        let config: Config = config(&testing::context(include_str!("../config.example.json")));
        assert_eq!(config.neighbours["EUROPE"][0], "AFRICA");
    }
}

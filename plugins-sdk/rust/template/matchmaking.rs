//! Fill up: servers of the player's region first, then those with the party's game, then the fullest with room.

use network_hub_module::matchmaking::{
    MatchRequest, Matchmaking, Ranking, Refusal, ServerCandidate, WorldCandidate,
};
use network_hub_module::{CallContext, config};
use serde::Deserialize;
use std::cmp::Reverse;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// Maximum fill level of a server, as a share of its slots.
    max_fill: f64,
    /// Server types to which no player is sent.
    closed_types: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self { max_fill: 1.0, closed_types: Vec::new() }
    }
}

/// Input of the ranking: index, region, affinity, players and slots.
struct Candidate(u32, u16, bool, u32, u32);

struct FillUp;

#[network_hub_module::export]
impl Matchmaking for FillUp {
    fn rank_servers(context: &CallContext, request: &MatchRequest, servers: Vec<ServerCandidate>) -> Ranking {
        let candidates = servers.iter().map(|server| {
            Candidate(server.index, server.region, server.affinity, server.current_players, server.max_players)
        });
        rank(context, request, candidates)
    }

    fn rank_worlds(context: &CallContext, request: &MatchRequest, worlds: Vec<WorldCandidate>) -> Ranking {
        let candidates = worlds.iter().map(|world| {
            Candidate(world.index, world.region, world.affinity, world.current_players, world.max_players)
        });
        rank(context, request, candidates)
    }
}

fn rank(context: &CallContext, request: &MatchRequest, candidates: impl Iterator<Item = Candidate>) -> Ranking {
    let config: Config = config(context);
    if config.closed_types.contains(&request.server_type) {
        return Err(Refusal { reason: format!("No {} is open right now.", request.server_type) });
    }
    let has_room = |candidate: &Candidate| {
        let Candidate(.., players, most) = *candidate;
        most == 0 || f64::from(players) < f64::from(most) * config.max_fill
    };
    let mut wanted: Vec<_> = candidates.filter(has_room).collect();
    wanted.sort_by_key(|&Candidate(_, region, affinity, players, _)| {
        (Reverse(region == request.region), Reverse(affinity), Reverse(players))
    });
    Ok(wanted.iter().map(|candidate| candidate.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    fn order(config: &str, candidates: &[(u16, u32)]) -> Vec<u32> {
        let request = MatchRequest {
            player_uuid: None,
            player_name: None,
            region: 1,
            server_type: "lobby".into(),
            world_type: None,
            affinity_game_id: None,
            affinity_owner_scope: None,
            affinity_owner_id: None,
        };
        let candidates = (0..).zip(candidates).map(|(at, &(region, players))| Candidate(at, region, false, players, 10));
        rank(&testing::context(config), &request, candidates).unwrap()
    }

    #[test]
    fn the_region_counts_more_than_the_players() {
        assert_eq!(order("{}", &[(2, 9), (1, 3), (1, 5)]), [2, 1, 0]);
    }

    #[test]
    fn a_server_over_its_share_is_left_out() {
        assert_eq!(order(r#"{"maxFill": 0.5}"#, &[(1, 5), (1, 4)]), [1]);
    }
}

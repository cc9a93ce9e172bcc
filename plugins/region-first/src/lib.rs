//! Sends players to their own region first, then to its neighbours, then anywhere.

mod config;
mod rank;

use config::Config;
use network_hub_module::matchmaking::{MatchRequest, Matchmaking, Ranking, ServerCandidate, WorldCandidate};
use network_hub_module::{CallContext, config};
use rank::{Place, rank};

struct RegionFirst;

#[network_hub_module::export]
impl Matchmaking for RegionFirst {
    fn rank_servers(context: &CallContext, request: &MatchRequest, servers: Vec<ServerCandidate>) -> Ranking {
        let config: Config = config(context);
        rank(&config, request.region, servers.iter().map(Place::from))
    }

    fn rank_worlds(context: &CallContext, request: &MatchRequest, worlds: Vec<WorldCandidate>) -> Ranking {
        let config: Config = config(context);
        rank(&config, request.region, worlds.iter().map(Place::from))
    }
}

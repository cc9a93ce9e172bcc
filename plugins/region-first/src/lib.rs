//! Sends players to their own region first, then to nearby ones, then anywhere.

mod config;
mod rank;

use config::Config;
use network_hub_module::matchmaking::{Candidate, MatchRequest, Matchmaking, Ranking};
use network_hub_module::{CallContext, config};

struct RegionFirst;

#[network_hub_module::export]
impl Matchmaking for RegionFirst {
    fn rank(context: &CallContext, request: &MatchRequest, candidates: &[Candidate]) -> Ranking {
        let config: Config = config(context);
        rank::rank(&config, request.region, candidates)
    }
}

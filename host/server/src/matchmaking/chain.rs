use hub_sandbox::Candidates;
use hub_sandbox::contract::Point;
use hub_sandbox::contract::matchmaking::{ServerCandidate, WorldCandidate};

use crate::app::App;
use crate::values::NetworkId;

#[allow(dead_code)]
pub(super) enum Ranking {
    BuiltIn,
    Order(Vec<u32>),
    Refused(String),
}

pub(super) fn has_chain(_: &App, _: NetworkId, _: Point) -> bool {
    false
}

pub(super) async fn rank_servers(_: &App, _: NetworkId, _: Candidates<ServerCandidate>) -> Ranking {
    Ranking::BuiltIn
}

pub(super) async fn rank_worlds(_: &App, _: NetworkId, _: Candidates<WorldCandidate>) -> Ranking {
    Ranking::BuiltIn
}

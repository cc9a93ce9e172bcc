//! The extension point `matchmaking`: where a player is sent.

pub use crate::bindings::matchmaking::exports::network_hub::module::matchmaking::{
    GameState, MatchRequest, Refusal, ServerCandidate, WorldCandidate,
};

use crate::CallContext;
use crate::bindings::matchmaking::exports::network_hub::module::matchmaking::Guest;
use crate::entry::{Exported, start};

/// The indices of the candidates wanted, best first, or why nobody is matched. What is left out is not wanted.
pub type Ranking = Result<Vec<u32>, Refusal>;

/// Decides where a player is sent. Export it with [`export`](crate::export).
///
/// The candidates are those the player could join at all, in the order the hub would choose, or as the module
/// before this one in the chain left them. A function that is not implemented leaves that order as it is.
pub trait Matchmaking {
    /// Ranks servers.
    fn rank_servers(context: &CallContext, request: &MatchRequest, servers: Vec<ServerCandidate>) -> Ranking {
        let _ = (context, request);
        Ok(servers.iter().map(|server| server.index).collect())
    }

    /// Ranks worlds.
    fn rank_worlds(context: &CallContext, request: &MatchRequest, worlds: Vec<WorldCandidate>) -> Ranking {
        let _ = (context, request);
        Ok(worlds.iter().map(|world| world.index).collect())
    }
}

impl<T: Matchmaking> Guest for Exported<T> {
    fn rank_servers(context: CallContext, request: MatchRequest, servers: Vec<ServerCandidate>) -> Ranking {
        start();
        T::rank_servers(&context, &request, servers)
    }

    fn rank_worlds(context: CallContext, request: MatchRequest, worlds: Vec<WorldCandidate>) -> Ranking {
        start();
        T::rank_worlds(&context, &request, worlds)
    }
}

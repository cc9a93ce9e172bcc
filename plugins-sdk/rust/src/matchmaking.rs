//! The extension point `matchmaking`: the choice of a player's server or world.

pub use crate::bindings::matchmaking::exports::network_hub::module::matchmaking::{
    GameState, MatchRequest, Refusal, ServerCandidate, WorldCandidate,
};

use crate::CallContext;
use crate::bindings::matchmaking::exports::network_hub::module::matchmaking::Guest;
use crate::entry::{Exported, start};

/// Indices of the candidates to try, best first, or the refusal. Others are not tried.
pub type Ranking = Result<Vec<u32>, Refusal>;

/// Chooses the server or world of a player. Export it with [`export`](crate::export).
///
/// The candidates are those the player can join, in the hub's own order, or in the order left by the previous module of
/// the chain. Implement [`rank`](Self::rank) if servers and worlds are treated alike, otherwise the other two
/// functions; by default the given order of the candidates is kept.
pub trait Matchmaking {
    /// Ranks servers and worlds alike.
    fn rank(context: &CallContext, request: &MatchRequest, candidates: &[Candidate]) -> Ranking {
        let _ = (context, request);
        Ok(candidates.iter().map(|candidate| candidate.index).collect())
    }

    /// Ranks servers.
    fn rank_servers(context: &CallContext, request: &MatchRequest, servers: Vec<ServerCandidate>) -> Ranking {
        let candidates: Vec<_> = servers.iter().map(Candidate::from).collect();
        Self::rank(context, request, &candidates)
    }

    /// Ranks worlds.
    fn rank_worlds(context: &CallContext, request: &MatchRequest, worlds: Vec<WorldCandidate>) -> Ranking {
        let candidates: Vec<_> = worlds.iter().map(Candidate::from).collect();
        Self::rank(context, request, &candidates)
    }
}

/// The fields that servers and worlds have in common as candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its position in the list; the answer consists of these.
    pub index: u32,
    /// The number of its region in this call.
    pub region: u16,
    /// The state of its game.
    pub state: GameState,
    /// True if the preferred owner is live there.
    pub affinity: bool,
    /// Players in it.
    pub current_players: u32,
    /// 0 without a limit.
    pub max_players: u32,
    /// Slots left, 1 or more; `u32::MAX` without a limit.
    pub free_slots: u32,
    /// Players its game needs to start; 0 if it is no minigame.
    pub players_to_start: u32,
    /// Number of missing players.
    pub players_needed: u32,
}

macro_rules! candidate_from {
    ($($candidate:ty),+) => {$(
        impl From<&$candidate> for Candidate {
            fn from(candidate: &$candidate) -> Self {
                Self {
                    index: candidate.index,
                    region: candidate.region,
                    state: candidate.state,
                    affinity: candidate.affinity,
                    current_players: candidate.current_players,
                    max_players: candidate.max_players,
                    free_slots: candidate.free_slots,
                    players_to_start: candidate.players_to_start,
                    players_needed: candidate.players_needed,
                }
            }
        }
    )+};
}

candidate_from!(ServerCandidate, WorldCandidate);

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

//! Why a match went as it did.

use serde::Serialize;
use utoipa::ToSchema;

use crate::geo::Region;
use crate::http::answer::{AnswerBudget, json_size};
use crate::matchmaking::candidate::{Candidate, Ineligibility, PlayerContext};
use crate::presence::GameState;
use crate::values::Identifier;

/// Why a match went as it did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MatchExplanation)]
pub(super) struct Explanation {
    decided_by: DecidedBy,
    /// The player's region, where it is known and counts.
    player_region: Option<Region>,
    /// All that were looked at, the best first.
    candidates: Vec<ExplainedCandidate>,
    /// How many more there were than fit into the answer.
    #[schema(example = 0)]
    left_out: usize,
}

/// Who put the candidates into their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = MatchDecider)]
pub(super) enum DecidedBy {
    /// The hub's own policy.
    BuiltIn,
    /// The network's modules.
    Modules,
}

/// One candidate and what spoke for and against it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MatchCandidate)]
struct ExplainedCandidate {
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Null where servers were matched.
    world_id: Option<Identifier>,
    /// 1 is the one that is chosen; null: it cannot be joined, or the modules do not want it.
    rank: Option<u32>,
    region: Region,
    game_state: Option<GameState>,
    current_players: u32,
    /// Players on their way there.
    reserved: u32,
    /// 0: no limit.
    max_players: u32,
    /// 0: it is no minigame.
    players_to_start: u32,
    /// What counted for it.
    #[serde(rename = "for")]
    pros: Vec<String>,
    /// What counted against it.
    #[serde(rename = "against")]
    cons: Vec<String>,
}

impl Explanation {
    /// Without candidates.
    pub(super) fn empty() -> Self {
        Self { decided_by: DecidedBy::BuiltIn, player_region: None, candidates: vec![], left_out: 0 }
    }

    /// Explains `candidates`; `rank` is asked for the open ones.
    pub(super) fn of(
        decided_by: DecidedBy,
        candidates: &[Candidate<'_>],
        player: &PlayerContext,
        rank: impl Fn(&Candidate<'_>) -> Option<u32>,
    ) -> Self {
        let mut explained: Vec<_> = candidates
            .iter()
            .map(|it| {
                let rank = if it.is_open() { rank(it) } else { None };
                explain(it, rank, player)
            })
            .collect();
        explained.sort_by_key(|it| it.rank.unwrap_or(u32::MAX));
        let mut budget = AnswerBudget::default();
        let fitting = explained.iter().take_while(|it| budget.take(json_size(it))).count();
        let left_out = explained.len() - fitting;
        explained.truncate(fitting);
        Self { decided_by, player_region: player.region.clone(), candidates: explained, left_out }
    }
}

fn explain(it: &Candidate<'_>, rank: Option<u32>, player: &PlayerContext) -> ExplainedCandidate {
    let (mut pros, mut cons) = (vec![], vec![]);
    if it.affinity {
        pros.push("The world of the owner asked for is live here.".to_owned());
    }
    let region = &it.server.info.region;
    if it.same_region {
        pros.push(format!("It is in the player's region, {region}."));
    } else if let Some(own) = &player.region {
        cons.push(format!("It is in {region}, the player in {own}."));
    }
    let missing = it.players_to_start().saturating_sub(it.taken);
    match (it.players_to_start(), missing) {
        (0, _) => {}
        (_, 0) => pros.push("Its game has the players it needs to start.".to_owned()),
        (_, missing) => cons.push(format!("Its game lacks {missing} of the players it needs to start.")),
    }
    if let Some(ineligible) = it.ineligible {
        cons.push(ineligible.sentence().to_owned());
    } else if rank.is_none() {
        cons.push("The network's modules left it out.".to_owned());
    }
    ExplainedCandidate {
        server_id: it.server.info.server_id.clone(),
        world_id: it.world.map(|world| world.report.world_id.clone()),
        rank,
        region: region.clone(),
        game_state: it.state().cloned(),
        current_players: it.current_players(),
        reserved: it.taken.saturating_sub(it.current_players()),
        max_players: it.max_players(),
        players_to_start: it.players_to_start(),
        pros,
        cons,
    }
}

impl Ineligibility {
    fn sentence(self) -> &'static str {
        match self {
            Self::CurrentServer => "The player is on this server already.",
            Self::Proxy => "It is a proxy, and nobody is sent to one.",
            Self::ServerState => "The state of the server's game lets nobody join.",
            Self::WorldState => "The state of the world's game lets nobody join.",
            Self::ServerFull => "The server is full, players on their way included.",
            Self::WorldFull => "The world is full, players on their way included.",
        }
    }
}

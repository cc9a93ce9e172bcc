//! Explanations of matches.

use serde::Serialize;
use utoipa::ToSchema;

use crate::geo::Region;
use crate::http::answer::{AnswerBudget, json_size};
use crate::matchmaking::candidate::{Candidate, Ineligibility, PlayerContext};
use crate::presence::GameState;
use crate::values::Identifier;

/// Explanation of a match.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MatchExplanation)]
pub(crate) struct Explanation {
    decided_by: DecidedBy,
    /// The player's region, if it is known and counts.
    player_region: Option<Region>,
    /// All candidates that were considered, best first.
    candidates: Vec<ExplainedCandidate>,
    /// Number of further candidates that did not fit into the answer.
    #[schema(example = 0)]
    left_out: usize,
}

/// Origin of the candidates' order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = MatchDecider)]
pub(crate) enum DecidedBy {
    /// The hub's own policy.
    BuiltIn,
    /// The network's modules.
    Modules,
}

/// A candidate with its pros and cons.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MatchCandidate)]
struct ExplainedCandidate {
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Null if servers were matched.
    world_id: Option<Identifier>,
    /// 1 is the match. Null if it cannot be joined or the modules left it out.
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
    /// Reasons for it.
    #[serde(rename = "for")]
    pros: Vec<String>,
    /// Reasons against it.
    #[serde(rename = "against")]
    cons: Vec<String>,
}

impl Explanation {
    /// Explanation without candidates.
    pub(crate) fn empty() -> Self {
        Self { decided_by: DecidedBy::BuiltIn, player_region: None, candidates: vec![], left_out: 0 }
    }

    /// Explains `candidates`; `rank` is called for the open ones.
    pub(crate) fn of(
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
        pros.push("The requested owner's world is live here.".to_owned());
    }
    let region = &it.server.info.region;
    if it.same_region {
        pros.push(format!("It is in the player's region, {region}."));
    } else if let Some(own) = &player.region {
        cons.push(format!("It is in {region}; the player is in {own}."));
    }
    let missing = it.players_to_start().saturating_sub(it.taken);
    match (it.players_to_start(), missing) {
        (0, _) => {}
        (_, 0) => pros.push("Its game has enough players to start.".to_owned()),
        (_, missing) => cons.push(format!("Its game needs {missing} more players to start.")),
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
            Self::CurrentServer => "The player is already on this server.",
            Self::Proxy => "Proxies are never a destination.",
            Self::ServerState => "The server's game cannot be joined in its current state.",
            Self::WorldState => "The world's game cannot be joined in its current state.",
            Self::ServerFull => "The server is full, counting players on their way.",
            Self::WorldFull => "The world is full, counting players on their way.",
        }
    }
}

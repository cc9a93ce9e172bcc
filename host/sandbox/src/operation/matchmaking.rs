//! `matchmaking.rank-servers` and `matchmaking.rank-worlds`.

use super::Operation;
use super::any::{AnyAnswer, AnyInput};
use super::candidates::{Candidate, Candidates, RankAnswer};
use crate::bounds::check_reason;
use crate::contract::Point;
use crate::contract::matchmaking::{Refusal, ServerCandidate, WorldCandidate};
use crate::texts::CandidateTexts;
use crate::versions::Running;
use std::marker::PhantomData;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Ranks candidates of one kind. In a chain each module gets the remaining candidates of the one before it, in that
/// order.
#[derive(Clone, Copy, Debug)]
pub struct Rank<C>(PhantomData<C>);

/// `matchmaking.rank-servers`.
pub type RankServers = Rank<ServerCandidate>;

/// `matchmaking.rank-worlds`.
pub type RankWorlds = Rank<WorldCandidate>;

/// Decision of a matchmaking chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    /// No module decided: the built-in order applies.
    #[default]
    BuiltIn,
    /// Positions of the input's candidates, best first; never empty. Omitted ones are excluded.
    Order(Vec<u32>),
    /// No match; the reason, if there is one, is for the player.
    Refused(Option<String>),
}

impl From<RankAnswer> for Ranking {
    fn from(answer: RankAnswer) -> Self {
        match answer {
            Ok(order) if order.is_empty() => Self::Refused(None),
            Ok(order) => Self::Order(order),
            Err(refusal) => Self::Refused(Some(refusal.reason)),
        }
    }
}

/// Ranking of candidates of one kind.
pub trait RankCandidates: Candidate {
    /// The exported function's name.
    const NAME: &'static str;

    /// Converts the input to that of any point.
    fn any_input(input: &Arc<Candidates<Self>>) -> AnyInput;

    /// Calls the exported function.
    fn invoke(running: Running<'_>, input: &Candidates<Self>) -> wasmtime::Result<RankAnswer>;
}

impl RankCandidates for ServerCandidate {
    const NAME: &'static str = "rank-servers";

    fn any_input(input: &Arc<Candidates<Self>>) -> AnyInput {
        AnyInput::Servers(Arc::clone(input))
    }

    fn invoke(running: Running<'_>, input: &Candidates<Self>) -> wasmtime::Result<RankAnswer> {
        running.export.version.rank_servers(running, input)
    }
}

impl RankCandidates for WorldCandidate {
    const NAME: &'static str = "rank-worlds";

    fn any_input(input: &Arc<Candidates<Self>>) -> AnyInput {
        AnyInput::Worlds(Arc::clone(input))
    }

    fn invoke(running: Running<'_>, input: &Candidates<Self>) -> wasmtime::Result<RankAnswer> {
        running.export.version.rank_worlds(running, input)
    }
}

impl<C: RankCandidates> Operation for Rank<C> {
    const POINT: Point = Point::Matchmaking;
    const NAME: &'static str = C::NAME;
    type Input = Candidates<C>;
    type Answer = RankAnswer;
    type Ruling = Ranking;

    fn any_input(input: &Arc<Candidates<C>>) -> AnyInput {
        C::any_input(input)
    }

    fn ruling_answer(ruling: &Ranking) -> Option<AnyAnswer> {
        Some(AnyAnswer::Ranked(match ruling {
            Ranking::BuiltIn => return None,
            Ranking::Order(order) => Ok(order.clone()),
            Ranking::Refused(reason) => Err(Refusal { reason: reason.clone().unwrap_or_default() }),
        }))
    }

    fn unavailable() -> RankAnswer {
        Err(Refusal { reason: "Matchmaking is not available right now.".into() })
    }

    fn apply(ruling: &mut Ranking, input: &mut Arc<Candidates<C>>, answer: RankAnswer) -> ControlFlow<()> {
        match answer.into() {
            Ranking::Order(order) => {
                *input = Arc::new(input.select(&order));
                *ruling = Ranking::Order(match mem::take(ruling) {
                    Ranking::Order(before) => order.iter().filter_map(|&at| before.get(at as usize).copied()).collect(),
                    _ => order,
                });
                ControlFlow::Continue(())
            }
            refused => {
                *ruling = refused;
                ControlFlow::Break(())
            }
        }
    }

    fn invoke(running: Running<'_>, input: &Candidates<C>) -> wasmtime::Result<RankAnswer> {
        C::invoke(running, input)
    }

    fn check(input: &Candidates<C>, answer: &RankAnswer) -> Result<(), String> {
        check_ranking(input.candidates().len(), answer)
    }

    fn player(input: &Candidates<C>) -> Option<&str> {
        input.request.player_uuid.as_deref().or(input.request.player_name.as_deref())
    }

    fn texts(input: &Candidates<C>) -> Option<Arc<dyn CandidateTexts>> {
        Some(Arc::clone(&input.texts))
    }
}

/// A ranking holds positions of the input, each at most once.
fn check_ranking(candidates: usize, answer: &RankAnswer) -> Result<(), String> {
    let order = match answer {
        Ok(order) => order,
        Err(refusal) => return check_reason(&refusal.reason, true),
    };
    let mut seen = vec![false; candidates];
    for &index in order {
        match seen.get_mut(index as usize) {
            None => return Err(format!("there is no candidate {index} among {candidates}")),
            Some(true) => return Err(format!("candidate {index} is listed twice")),
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_lists_candidates_of_the_call_once() {
        assert!(check_ranking(3, &Ok(vec![2, 0])).is_ok());
        assert!(check_ranking(3, &Ok(vec![])).is_ok());
        assert!(check_ranking(3, &Ok(vec![3])).is_err());
        assert!(check_ranking(3, &Ok(vec![1, 1])).is_err());
        assert!(check_ranking(3, &Err(Refusal { reason: String::new() })).is_err());
    }
}

//! The functions modules export, one type per function: what goes in, what comes out, and what is a valid answer.

use crate::bounds::{check_duration, check_line, check_reason};
use crate::case::{AnyAnswer, Input as AnyInput};
use crate::contract::matchmaking::{MatchRequest, Refusal, ServerCandidate, WorldCandidate};
use crate::contract::{CallContext, Point, chat, punishment};
use crate::limits::MAX_FOLLOW_UPS;
use crate::module::Export;
use crate::state::State;
use crate::texts::{CandidateTexts, Picked};
use std::sync::Arc;
use wasmtime::component::Instance;
use wasmtime::{Result, Store};

/// The input of a matchmaking call.
pub struct Candidates<C> {
    request: Arc<MatchRequest>,
    list: Vec<C>,
    texts: Arc<dyn CandidateTexts>,
}

impl<C: Candidate> Candidates<C> {
    /// Who is looking for what, and what they could join: in the order the hub would choose, and numbered by
    /// this function. `texts` knows the candidates by their positions.
    pub fn new(request: Arc<MatchRequest>, mut list: Vec<C>, texts: Arc<dyn CandidateTexts>) -> Self {
        for (index, candidate) in (0..).zip(&mut list) {
            candidate.number(index);
        }
        Self { request, list, texts }
    }

    /// Who is looking for what.
    pub fn request(&self) -> &MatchRequest {
        &self.request
    }

    /// What they could join.
    pub fn candidates(&self) -> &[C] {
        &self.list
    }

    /// The candidates' texts.
    pub fn texts(&self) -> &dyn CandidateTexts {
        &*self.texts
    }

    /// The candidates at these positions, in this order: what is left for the next module of a chain.
    pub(crate) fn pick(&self, positions: &[u32]) -> Self {
        let positions: Vec<_> = positions.iter().map(|&position| position as usize).collect();
        let picked = positions.iter().filter_map(|&position| self.list.get(position).copied());
        let list = picked.collect();
        let texts = Arc::new(Picked { texts: Arc::clone(&self.texts), positions });
        Self::new(Arc::clone(&self.request), list, texts)
    }
}

/// A candidate that can be numbered.
pub trait Candidate: Copy + Send + Sync + 'static {
    /// Sets its position in the list.
    fn number(&mut self, index: u32);
}

impl Candidate for ServerCandidate {
    fn number(&mut self, index: u32) {
        self.index = index;
    }
}

impl Candidate for WorldCandidate {
    fn number(&mut self, index: u32) {
        self.index = index;
    }
}

/// The answer of a matchmaking call: indices, best first, or why nobody is matched.
pub type RankAnswer = Result<Vec<u32>, Refusal>;

/// A function of an extension point. Implemented by [`RankServers`], [`RankWorlds`], [`FilterChat`] and
/// [`ReviewPunishment`] alone.
pub trait Operation: Invoke<Self::Input, Self::Answer> + 'static {
    /// The extension point it belongs to.
    const POINT: Point;
    /// Its position in [`Point`]'s list of functions.
    #[doc(hidden)]
    const FUNCTION: usize;
    /// What a module is given beside the context.
    type Input: Send + Sync + 'static;
    /// What it answers.
    type Answer: Clone + Into<AnyAnswer> + Send + 'static;
}

/// `matchmaking.rank-servers`.
#[derive(Clone, Copy, Debug)]
pub struct RankServers;
/// `matchmaking.rank-worlds`.
#[derive(Clone, Copy, Debug)]
pub struct RankWorlds;
/// `chat.filter`.
#[derive(Clone, Copy, Debug)]
pub struct FilterChat;
/// `punishment.review`.
#[derive(Clone, Copy, Debug)]
pub struct ReviewPunishment;

impl Operation for RankServers {
    const POINT: Point = Point::Matchmaking;
    const FUNCTION: usize = 0;
    type Input = Candidates<ServerCandidate>;
    type Answer = RankAnswer;
}

impl Operation for RankWorlds {
    const POINT: Point = Point::Matchmaking;
    const FUNCTION: usize = 1;
    type Input = Candidates<WorldCandidate>;
    type Answer = RankAnswer;
}

impl Operation for FilterChat {
    const POINT: Point = Point::Chat;
    const FUNCTION: usize = 0;
    type Input = chat::Line;
    type Answer = chat::Verdict;
}

impl Operation for ReviewPunishment {
    const POINT: Point = Point::Punishment;
    const FUNCTION: usize = 0;
    type Input = punishment::Proposal;
    type Answer = punishment::Verdict;
}

/// What the sandbox itself needs of an operation.
pub(crate) mod sealed {
    use super::{AnyInput, Arc, CallContext, CandidateTexts, Export, Instance, Result, State, Store};

    /// A running call.
    pub struct Running<'a> {
        pub(crate) store: &'a mut Store<State>,
        pub(crate) instance: &'a Instance,
        pub(crate) export: Export<'a>,
        pub(crate) context: &'a CallContext,
    }

    pub trait Invoke<Input, Answer> {
        /// Calls the exported function.
        fn invoke(running: Running<'_>, input: &Input) -> Result<Answer>;

        /// Checks the answer against the bounds of the contract; says what is wrong with it.
        fn check(input: &Input, answer: &Answer) -> std::result::Result<(), String>;

        /// The input as that of any point.
        fn any(input: &Arc<Input>) -> AnyInput;

        /// The player the call is about, by UUID, else by name.
        fn player(input: &Input) -> Option<&str>;

        /// The texts host functions may look up.
        fn texts(_input: &Input) -> Option<Arc<dyn CandidateTexts>> {
            None
        }
    }
}

use sealed::{Invoke, Running};

impl Invoke<Candidates<ServerCandidate>, RankAnswer> for RankServers {
    fn invoke(running: Running<'_>, input: &Candidates<ServerCandidate>) -> Result<RankAnswer> {
        running.export.version.rank_servers(running, input)
    }

    fn check(input: &Candidates<ServerCandidate>, answer: &RankAnswer) -> Result<(), String> {
        check_ranking(input.list.len(), answer)
    }

    fn any(input: &Arc<Candidates<ServerCandidate>>) -> AnyInput {
        Arc::clone(input).into()
    }

    fn player(input: &Candidates<ServerCandidate>) -> Option<&str> {
        input.request.player_uuid.as_deref().or(input.request.player_name.as_deref())
    }

    fn texts(input: &Candidates<ServerCandidate>) -> Option<Arc<dyn CandidateTexts>> {
        Some(Arc::clone(&input.texts))
    }
}

impl Invoke<Candidates<WorldCandidate>, RankAnswer> for RankWorlds {
    fn invoke(running: Running<'_>, input: &Candidates<WorldCandidate>) -> Result<RankAnswer> {
        running.export.version.rank_worlds(running, input)
    }

    fn check(input: &Candidates<WorldCandidate>, answer: &RankAnswer) -> Result<(), String> {
        check_ranking(input.list.len(), answer)
    }

    fn any(input: &Arc<Candidates<WorldCandidate>>) -> AnyInput {
        Arc::clone(input).into()
    }

    fn player(input: &Candidates<WorldCandidate>) -> Option<&str> {
        input.request.player_uuid.as_deref().or(input.request.player_name.as_deref())
    }

    fn texts(input: &Candidates<WorldCandidate>) -> Option<Arc<dyn CandidateTexts>> {
        Some(Arc::clone(&input.texts))
    }
}

impl Invoke<chat::Line, chat::Verdict> for FilterChat {
    fn invoke(running: Running<'_>, line: &chat::Line) -> Result<chat::Verdict> {
        running.export.version.filter(running, line)
    }

    fn any(line: &Arc<chat::Line>) -> AnyInput {
        Arc::clone(line).into()
    }

    fn player(line: &chat::Line) -> Option<&str> {
        Some(&line.player.uuid)
    }

    fn check(_: &chat::Line, verdict: &chat::Verdict) -> Result<(), String> {
        match &verdict.decision {
            chat::Decision::Allow => {}
            chat::Decision::Rewrite(text) => check_line(text)?,
            chat::Decision::Refuse(reason) => check_reason(reason, true)?,
        }
        if let Some(mute) = &verdict.mute {
            check_duration(mute.duration_ms)?;
            check_reason(&mute.reason, true)?;
        }
        Ok(())
    }
}

impl Invoke<punishment::Proposal, punishment::Verdict> for ReviewPunishment {
    fn invoke(running: Running<'_>, proposal: &punishment::Proposal) -> Result<punishment::Verdict> {
        running.export.version.review(running, proposal)
    }

    fn any(proposal: &Arc<punishment::Proposal>) -> AnyInput {
        Arc::clone(proposal).into()
    }

    fn player(proposal: &punishment::Proposal) -> Option<&str> {
        proposal.player_uuid.as_deref().or(proposal.player_name.as_deref())
    }

    fn check(proposal: &punishment::Proposal, verdict: &punishment::Verdict) -> Result<(), String> {
        match &verdict.decision {
            punishment::Decision::Accept => {}
            punishment::Decision::Amend(terms) => check_terms(&proposal.terms, terms)?,
            punishment::Decision::Refuse(reason) => check_reason(reason, true)?,
        }
        if verdict.follow_ups.len() > MAX_FOLLOW_UPS {
            return Err(format!("{} follow-ups are more than {MAX_FOLLOW_UPS}", verdict.follow_ups.len()));
        }
        let mut follow_ups = verdict.follow_ups.iter();
        follow_ups.try_for_each(|terms| check_terms(&proposal.terms, terms))
    }
}

/// What a module leaves as it was proposed is the hub's own, and not checked again.
fn check_terms(proposed: &punishment::Terms, terms: &punishment::Terms) -> Result<(), String> {
    if terms.reason != proposed.reason {
        check_reason(&terms.reason, false)?;
    }
    match terms.duration_ms {
        duration if duration == proposed.duration_ms => Ok(()),
        Some(duration_ms) => check_duration(duration_ms),
        None => Ok(()),
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
            Some(fresh) => *fresh = true,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::PunishmentKind;

    #[test]
    fn a_ranking_lists_candidates_of_the_call_once() {
        assert!(check_ranking(3, &Ok(vec![2, 0])).is_ok());
        assert!(check_ranking(3, &Ok(vec![])).is_ok());
        assert!(check_ranking(3, &Ok(vec![3])).is_err());
        assert!(check_ranking(3, &Ok(vec![1, 1])).is_err());
        assert!(check_ranking(3, &Err(Refusal { reason: String::new() })).is_err());
    }

    #[test]
    fn only_what_a_module_changed_of_the_terms_is_checked() {
        let terms = |duration_ms, reason: &str| punishment::Terms {
            kind: PunishmentKind::Mute,
            duration_ms,
            reason: reason.into(),
        };
        let long = "x".repeat(300);
        let proposed = terms(Some(u64::MAX), &long);
        assert!(check_terms(&proposed, &terms(Some(u64::MAX), &long)).is_ok());
        assert!(check_terms(&proposed, &terms(None, "short")).is_ok());
        assert!(check_terms(&proposed, &terms(Some(0), "short")).is_err());
        assert!(check_terms(&proposed, &terms(Some(1), &"y".repeat(257))).is_err());
    }
}

//! What a chain decides, from what its modules decide one after the other.

use super::breaker::Admission;
use super::{Chain, Link, OnFailure};
use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::{chat, punishment};
use crate::operation::{
    Candidate, Candidates, FilterChat, Operation, RankAnswer, RankServers, RankWorlds, ReviewPunishment,
};
use crate::report::CallReport;
use crate::sandbox::Sandbox;
use std::sync::Arc;

/// What identifies one run of a chain. Each module's context is made from it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Names it in records and logs.
    pub call_id: String,
    /// The network.
    pub network_id: String,
    /// The time, in milliseconds since the Unix epoch. Breakers go by it too.
    pub now_ms: u64,
    /// A random number for the modules to derive theirs from.
    pub seed: u64,
}

/// What a chain decided, and what each of its modules did.
#[derive(Debug)]
pub struct Outcome<R, A> {
    /// The decision.
    pub ruling: R,
    /// One per module that was reached, in order. Empty for an empty chain.
    pub steps: Vec<Step<A>>,
}

/// One module's part in a run of its chain.
#[derive(Debug)]
pub struct Step<A> {
    /// The module.
    pub link: Arc<Link>,
    /// Its call; none where its breaker was open, so that it was not called.
    pub report: Option<CallReport<A>>,
}

/// What a matchmaking chain decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// No module decided: the built-in order stands.
    BuiltIn,
    /// Positions of the input's candidates, best first. Those left out are not wanted.
    Order(Vec<u32>),
    /// Nobody is matched; the reason, where there is one, is for the player.
    Refused(Option<String>),
}

impl Sandbox {
    /// Ranks servers through a chain.
    pub async fn rank_servers(
        &self,
        chain: &Chain,
        call: &Call,
        input: Candidates<ServerCandidate>,
    ) -> Outcome<Ranking, RankAnswer> {
        self.rank::<ServerCandidate, RankServers>(chain, call, input).await
    }

    /// Ranks worlds through a chain.
    pub async fn rank_worlds(
        &self,
        chain: &Chain,
        call: &Call,
        input: Candidates<WorldCandidate>,
    ) -> Outcome<Ranking, RankAnswer> {
        self.rank::<WorldCandidate, RankWorlds>(chain, call, input).await
    }

    /// Each module is given what the one before it left, in that order.
    async fn rank<C, O>(&self, chain: &Chain, call: &Call, input: Candidates<C>) -> Outcome<Ranking, RankAnswer>
    where
        C: Candidate,
        O: Operation<Input = Candidates<C>, Answer = RankAnswer>,
    {
        let mut steps = Vec::new();
        let mut order: Option<Vec<u32>> = None;
        let mut current = Arc::new(input);
        for link in chain.links() {
            let refused = match self.step::<O>(chain, link, call, &current, &mut steps).await {
                Stepped::Answered(Ok(ranked)) if ranked.is_empty() => Some(None),
                Stepped::Answered(Ok(ranked)) => {
                    current = Arc::new(current.pick(&ranked));
                    order = Some(match order {
                        None => ranked,
                        Some(before) => ranked.iter().filter_map(|&at| before.get(at as usize).copied()).collect(),
                    });
                    None
                }
                Stepped::Answered(Err(refusal)) => Some(Some(refusal.reason)),
                Stepped::Passed => None,
                Stepped::Refuses => Some(Some("Matchmaking is not available right now.".into())),
            };
            if let Some(reason) = refused {
                return Outcome { ruling: Ranking::Refused(reason), steps };
            }
        }
        let ruling = order.map_or(Ranking::BuiltIn, Ranking::Order);
        Outcome { ruling, steps }
    }

    /// Filters a chat line through a chain: rewrites pass on, a refusal ends it, the longest mute counts.
    pub async fn filter_chat(
        &self,
        chain: &Chain,
        call: &Call,
        line: chat::Line,
    ) -> Outcome<chat::Verdict, chat::Verdict> {
        let mut steps = Vec::new();
        let mut ruling = chat::Verdict { decision: chat::Decision::Allow, mute: None };
        let mut current = Arc::new(line);
        for link in chain.links() {
            let answer = match self.step::<FilterChat>(chain, link, call, &current, &mut steps).await {
                Stepped::Answered(answer) => answer,
                Stepped::Passed => continue,
                Stepped::Refuses => chat::Verdict {
                    decision: chat::Decision::Refuse("Chat is not available right now.".into()),
                    mute: None,
                },
            };
            ruling.mute = [ruling.mute, answer.mute].into_iter().flatten().max_by_key(|mute| mute.duration_ms);
            match answer.decision {
                chat::Decision::Allow => {}
                chat::Decision::Rewrite(message) => {
                    current = Arc::new(chat::Line { message: message.clone(), ..(*current).clone() });
                    ruling.decision = chat::Decision::Rewrite(message);
                }
                refuse @ chat::Decision::Refuse(_) => {
                    ruling.decision = refuse;
                    break;
                }
            }
        }
        Outcome { ruling, steps }
    }

    /// Reviews a punishment through a chain: amendments pass on, a refusal ends it (and asks for nothing more),
    /// follow-ups add up.
    pub async fn review_punishment(
        &self,
        chain: &Chain,
        call: &Call,
        proposal: punishment::Proposal,
    ) -> Outcome<punishment::Verdict, punishment::Verdict> {
        let mut steps = Vec::new();
        let mut ruling = punishment::Verdict { decision: punishment::Decision::Accept, follow_ups: Vec::new() };
        let mut current = Arc::new(proposal);
        for link in chain.links() {
            let answer = match self.step::<ReviewPunishment>(chain, link, call, &current, &mut steps).await {
                Stepped::Answered(answer) => answer,
                Stepped::Passed => continue,
                Stepped::Refuses => punishment::Verdict {
                    decision: punishment::Decision::Refuse("Punishments can't be reviewed right now.".into()),
                    follow_ups: Vec::new(),
                },
            };
            match answer.decision {
                punishment::Decision::Accept => {}
                punishment::Decision::Amend(terms) => {
                    current = Arc::new(punishment::Proposal { terms: terms.clone(), ..(*current).clone() });
                    ruling.decision = punishment::Decision::Amend(terms);
                }
                refuse @ punishment::Decision::Refuse(_) => {
                    ruling = punishment::Verdict { decision: refuse, follow_ups: Vec::new() };
                    break;
                }
            }
            ruling.follow_ups.extend(answer.follow_ups);
        }
        Outcome { ruling, steps }
    }

    /// Calls one link's module, unless its breaker is open.
    async fn step<O: Operation>(
        &self,
        chain: &Chain,
        link: &Arc<Link>,
        call: &Call,
        input: &Arc<O::Input>,
        steps: &mut Vec<Step<O::Answer>>,
    ) -> Stepped<O::Answer>
    where
        O::Answer: Clone,
    {
        let admission = link.admit(call.now_ms);
        if admission == Admission::Refused {
            steps.push(Step { link: Arc::clone(link), report: None });
            return Stepped::Passed;
        }
        let config = link.config();
        let report = self
            .call_through::<O>(
                chain.gate.as_ref(),
                &config.module,
                config.limits,
                Arc::clone(&config.host),
                link.context(call),
                Arc::clone(input),
            )
            .await;
        link.record(admission, &report, call.now_ms);
        let stepped = match &report.result {
            Ok(answer) => Stepped::Answered(answer.clone()),
            Err(_) if config.on_failure == OnFailure::Refuse => Stepped::Refuses,
            Err(_) => Stepped::Passed,
        };
        steps.push(Step { link: Arc::clone(link), report: Some(report) });
        stepped
    }
}

/// What a step means for its chain.
enum Stepped<A> {
    Answered(A),
    /// As though the module were not there.
    Passed,
    /// It failed, and its owner would rather refuse than go on without it.
    Refuses,
}

//! What a chain decides, from what its modules decide one after the other.

use super::Chain;
use super::run::{Call, Outcome, Run, Stepped};
use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::{chat, punishment};
use crate::operation::{
    Candidate, Candidates, FilterChat, Operation, RankAnswer, RankServers, RankWorlds, ReviewPunishment,
};
use crate::sandbox::Sandbox;
use std::sync::Arc;

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
        input: impl Into<Arc<Candidates<ServerCandidate>>>,
    ) -> Outcome<Ranking, RankAnswer> {
        self.rank::<ServerCandidate, RankServers>(chain, call, input.into()).await
    }

    /// Ranks worlds through a chain.
    pub async fn rank_worlds(
        &self,
        chain: &Chain,
        call: &Call,
        input: impl Into<Arc<Candidates<WorldCandidate>>>,
    ) -> Outcome<Ranking, RankAnswer> {
        self.rank::<WorldCandidate, RankWorlds>(chain, call, input.into()).await
    }

    /// Each module is given what the one before it left, in that order.
    async fn rank<C, O>(&self, chain: &Chain, call: &Call, input: Arc<Candidates<C>>) -> Outcome<Ranking, RankAnswer>
    where
        C: Candidate,
        O: Operation<Input = Candidates<C>, Answer = RankAnswer>,
    {
        let mut run = Run::new::<O>(self, chain, call, &input);
        let mut order: Option<Vec<u32>> = None;
        let mut current = input;
        for at in 0..chain.links().len() {
            let refused = match run.step::<O>(at, &current).await {
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
                return run.end(Ranking::Refused(reason));
            }
        }
        run.end(order.map_or(Ranking::BuiltIn, Ranking::Order))
    }

    /// Filters a chat line through a chain: rewrites pass on, a refusal ends it, the longest mute counts.
    pub async fn filter_chat(
        &self,
        chain: &Chain,
        call: &Call,
        line: impl Into<Arc<chat::Line>>,
    ) -> Outcome<chat::Verdict, chat::Verdict> {
        let mut current: Arc<_> = line.into();
        let mut run = Run::new::<FilterChat>(self, chain, call, &current);
        let mut ruling = chat::Verdict { decision: chat::Decision::Allow, mute: None };
        for at in 0..chain.links().len() {
            let answer = match run.step::<FilterChat>(at, &current).await {
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
        run.end(ruling)
    }

    /// Reviews a punishment through a chain: amendments pass on, a refusal ends it (and asks for nothing more),
    /// follow-ups add up.
    pub async fn review_punishment(
        &self,
        chain: &Chain,
        call: &Call,
        proposal: impl Into<Arc<punishment::Proposal>>,
    ) -> Outcome<punishment::Verdict, punishment::Verdict> {
        let mut current: Arc<_> = proposal.into();
        let mut run = Run::new::<ReviewPunishment>(self, chain, call, &current);
        let mut ruling = punishment::Verdict { decision: punishment::Decision::Accept, follow_ups: Vec::new() };
        for at in 0..chain.links().len() {
            let answer = match run.step::<ReviewPunishment>(at, &current).await {
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
        run.end(ruling)
    }
}

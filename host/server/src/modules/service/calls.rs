//! What other rooms ask: how the network's modules would decide. Without a chain the built-in behaviour stands.

use std::sync::Arc;

use hub_sandbox::case::{AnyAnswer, Input};
use hub_sandbox::contract::matchmaking::{Refusal, ServerCandidate, WorldCandidate};
use hub_sandbox::contract::{Point, chat, punishment};
use hub_sandbox::{Call, Candidates, Outcome, Ranking as Ranked};

use crate::app::App;
use crate::modules::live::{Live, Reached};
use crate::modules::records::{Record, RecordedStep};
use crate::values::NetworkId;

/// How candidates shall be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// In the built-in order.
    BuiltIn,
    /// In this order of positions in the input; those left out are not wanted. Never empty.
    Order(Vec<u32>),
    /// Not at all, for this reason, which is for the player.
    Refused(String),
}

/// What becomes of a chat line: `decision` (allow, rewrite, refuse), and a `mute` for its sender whatever was decided.
pub type ChatDecision = chat::Verdict;

/// What becomes of a punishment: `decision` (accept, amend, refuse), and `follow_ups` for the same player, to be made
/// after it and not reviewed again.
pub type Review = punishment::Verdict;

/// Whether asking can make a difference. Cheap. Before the network's first call nobody knows yet, and the answer is yes.
pub fn has_chain(app: &App, network: NetworkId, point: Point) -> bool {
    app.modules.may_have_chain(network, point)
}

/// Whether a call that no module is asked about shall be noted by [`note_built_in`]: all while they are few, else some,
/// for those whose input has to be made only for that.
pub fn samples(app: &App, network: NetworkId, point: Point) -> bool {
    app.modules.records.samples(network, point, app.clock.now())
}

/// Notes a call that no module was asked about, so that modules can be tried on it.
pub fn note_built_in(app: &App, network: NetworkId, input: impl Into<Input>) {
    let record = Record::new(new_call(app, network), input.into(), None, vec![]);
    app.modules.records.note(network, record, app.clock.now());
}

/// Ranks servers a player could join. `input.candidates` are in the built-in order.
pub async fn rank_servers(app: &App, network: NetworkId, input: Candidates<ServerCandidate>) -> Ranking {
    let input = Arc::new(input);
    match app.modules.reach(app, network, Point::Matchmaking).await {
        Reached::Chain(live) => {
            let call = new_call(app, network);
            let outcome = app.modules.sandbox.rank_servers(&live.chain, &call, Arc::clone(&input)).await;
            ranking(settle(app, network, &live, call, input.into(), outcome))
        }
        Reached::Nothing => {
            note_built_in(app, network, input);
            Ranking::BuiltIn
        }
        Reached::Refuses => Ranking::Refused("Matchmaking is not available right now.".to_owned()),
    }
}

/// Ranks worlds a player could join. `input.candidates` are in the built-in order.
pub async fn rank_worlds(app: &App, network: NetworkId, input: Candidates<WorldCandidate>) -> Ranking {
    let input = Arc::new(input);
    match app.modules.reach(app, network, Point::Matchmaking).await {
        Reached::Chain(live) => {
            let call = new_call(app, network);
            let outcome = app.modules.sandbox.rank_worlds(&live.chain, &call, Arc::clone(&input)).await;
            ranking(settle(app, network, &live, call, input.into(), outcome))
        }
        Reached::Nothing => {
            note_built_in(app, network, input);
            Ranking::BuiltIn
        }
        Reached::Refuses => Ranking::Refused("Matchmaking is not available right now.".to_owned()),
    }
}

/// Judges a chat line before anybody sees it.
pub async fn filter_chat(app: &App, network: NetworkId, line: chat::Line) -> ChatDecision {
    let line = Arc::new(line);
    let decision = match app.modules.reach(app, network, Point::Chat).await {
        Reached::Chain(live) => {
            let call = new_call(app, network);
            let outcome = app.modules.sandbox.filter_chat(&live.chain, &call, Arc::clone(&line)).await;
            return settle(app, network, &live, call, line.into(), outcome);
        }
        Reached::Nothing => {
            note_built_in(app, network, line);
            chat::Decision::Allow
        }
        Reached::Refuses => chat::Decision::Refuse("Chat is not available right now.".to_owned()),
    };
    ChatDecision { decision, mute: None }
}

/// Reviews a punishment before it is made.
pub async fn review_punishment(app: &App, network: NetworkId, proposal: punishment::Proposal) -> Review {
    let proposal = Arc::new(proposal);
    let decision = match app.modules.reach(app, network, Point::Punishment).await {
        Reached::Chain(live) => {
            let call = new_call(app, network);
            let outcome = app.modules.sandbox.review_punishment(&live.chain, &call, Arc::clone(&proposal)).await;
            return settle(app, network, &live, call, proposal.into(), outcome);
        }
        Reached::Nothing => {
            note_built_in(app, network, proposal);
            punishment::Decision::Accept
        }
        Reached::Refuses => punishment::Decision::Refuse("Punishments can't be reviewed right now.".to_owned()),
    };
    Review { decision, follow_ups: vec![] }
}

fn new_call(app: &App, network: NetworkId) -> Call {
    Call {
        call_id: app.ids.token(16),
        network_id: network.to_string(),
        now_ms: u64::try_from(app.clock.now()).unwrap_or(0),
        seed: app.ids.seed(),
    }
}

/// Keeps what the modules logged and the call itself, starts what runs beside it, and gives what the chain decided.
fn settle<R, A>(app: &App, network: NetworkId, live: &Live, call: Call, input: Input, outcome: Outcome<R, A>) -> R
where
    R: Ruling,
    A: Into<AnyAnswer>,
{
    let Outcome { ruling, steps, shadows } = outcome;
    for step in &steps {
        if let Some(report) = &step.report {
            app.modules.logs.note(network, live.point, step.link.config(), &call, report);
        }
    }
    for shadow in shadows {
        let (task, call, point, link) = (app.clone(), call.clone(), live.point, Arc::clone(shadow.link()));
        app.spawn(async move {
            if let Some(report) = task.modules.sandbox.run_shadow(shadow).await {
                task.modules.logs.note(network, point, link.config(), &call, &report);
            }
        });
    }
    let steps = steps.into_iter().map(|step| RecordedStep {
        link: Arc::clone(step.link.config()),
        input: step.input,
        report: step.report.map(|report| report.map(Into::into)),
    });
    let record = Record::new(call, input, ruling.any(), steps.collect());
    app.modules.records.note(network, record, app.clock.now());
    ruling
}

/// What a chain decides.
trait Ruling {
    /// As the answer of a module that would have decided so alone; none where that is without effect.
    fn any(&self) -> Option<AnyAnswer>;
}

impl Ruling for Ranked {
    fn any(&self) -> Option<AnyAnswer> {
        match self {
            Self::BuiltIn => None,
            Self::Order(order) => Some(Ok(order.clone()).into()),
            Self::Refused(reason) => Some(Err(Refusal { reason: reason.clone().unwrap_or_default() }).into()),
        }
    }
}

impl Ruling for chat::Verdict {
    fn any(&self) -> Option<AnyAnswer> {
        Some(self.clone().into())
    }
}

impl Ruling for punishment::Verdict {
    fn any(&self) -> Option<AnyAnswer> {
        Some(self.clone().into())
    }
}

fn ranking(ranked: Ranked) -> Ranking {
    match ranked {
        Ranked::BuiltIn => Ranking::BuiltIn,
        Ranked::Order(order) => Ranking::Order(order),
        Ranked::Refused(reason) => {
            Ranking::Refused(reason.unwrap_or_else(|| "There is no match for you right now.".to_owned()))
        }
    }
}

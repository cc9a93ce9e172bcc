//! What other rooms ask: how the network's modules would decide. Without a chain the built-in behaviour stands.

use std::sync::Arc;

use hub_sandbox::contract::matchmaking::{ServerCandidate, WorldCandidate};
use hub_sandbox::contract::{Point, chat, punishment};
use hub_sandbox::{Call, Candidates, Outcome, Ranking as Ranked};

use crate::app::App;
use crate::modules::live::{Live, Reached};
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

/// Ranks servers a player could join. `input.candidates` are in the built-in order.
pub async fn rank_servers(app: &App, network: NetworkId, input: Candidates<ServerCandidate>) -> Ranking {
    match app.modules.reach(app, network, Point::Matchmaking).await {
        Reached::Chain(live) => {
            let call = new_call(app, network);
            let outcome = app.modules.sandbox.rank_servers(&live.chain, &call, input).await;
            ranking(note(app, network, &live, &call, outcome))
        }
        Reached::Nothing => Ranking::BuiltIn,
        Reached::Refuses => Ranking::Refused("Matchmaking is not available right now.".to_owned()),
    }
}

/// Ranks worlds a player could join. `input.candidates` are in the built-in order.
pub async fn rank_worlds(app: &App, network: NetworkId, input: Candidates<WorldCandidate>) -> Ranking {
    match app.modules.reach(app, network, Point::Matchmaking).await {
        Reached::Chain(live) => {
            let call = new_call(app, network);
            let outcome = app.modules.sandbox.rank_worlds(&live.chain, &call, input).await;
            ranking(note(app, network, &live, &call, outcome))
        }
        Reached::Nothing => Ranking::BuiltIn,
        Reached::Refuses => Ranking::Refused("Matchmaking is not available right now.".to_owned()),
    }
}

/// Judges a chat line before anybody sees it.
pub async fn filter_chat(app: &App, network: NetworkId, line: chat::Line) -> ChatDecision {
    let decision = match app.modules.reach(app, network, Point::Chat).await {
        Reached::Chain(live) => {
            let call = new_call(app, network);
            let outcome = app.modules.sandbox.filter_chat(&live.chain, &call, line).await;
            return note(app, network, &live, &call, outcome);
        }
        Reached::Nothing => chat::Decision::Allow,
        Reached::Refuses => chat::Decision::Refuse("Chat is not available right now.".to_owned()),
    };
    ChatDecision { decision, mute: None }
}

/// Reviews a punishment before it is made.
pub async fn review_punishment(app: &App, network: NetworkId, proposal: punishment::Proposal) -> Review {
    let decision = match app.modules.reach(app, network, Point::Punishment).await {
        Reached::Chain(live) => {
            let call = new_call(app, network);
            let outcome = app.modules.sandbox.review_punishment(&live.chain, &call, proposal).await;
            return note(app, network, &live, &call, outcome);
        }
        Reached::Nothing => punishment::Decision::Accept,
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

/// Keeps what the modules logged, starts what runs beside them, and gives what the chain decided.
fn note<R, A>(app: &App, network: NetworkId, live: &Live, call: &Call, outcome: Outcome<R, A>) -> R {
    for step in &outcome.steps {
        if let Some(report) = &step.report {
            app.modules.logs.note(network, live.point, step.link.config(), call, report);
        }
    }
    for shadow in outcome.shadows {
        let (task, call, point, link) = (app.clone(), call.clone(), live.point, Arc::clone(shadow.link()));
        app.spawn(async move {
            if let Some(report) = task.modules.sandbox.run_shadow(shadow).await {
                task.modules.logs.note(network, point, link.config(), &call, &report);
            }
        });
    }
    outcome.ruling
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

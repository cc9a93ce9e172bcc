//! Answers that come to a node where nobody waits for them. Who asked may have done so at the home their network had
//! before, so the other nodes are told.

use hub_bus::Inbox;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::control::agents::CommandKey;
use crate::control::model::{Answer, CommandOutcome};
use crate::values::NetworkId;

/// Where nodes tell each other.
pub(super) const TOPIC: &str = "answers";

/// An answer and what it answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answered {
    /// A node agent's.
    ByAgent(CommandKey, Answer),
    /// A connector's.
    ByConnector((NetworkId, String), CommandOutcome),
}

/// Gives an answer to who waits for it, here or at another node. Nobody may be waiting any more.
pub(super) async fn give(app: &App, answered: Answered) {
    let Err(left) = give_here(app, answered) else { return };
    if app.shards.is_single_node() {
        return;
    }
    let told = match serde_json::to_vec(&left) {
        Ok(payload) => app.shards.broadcast(TOPIC, payload.into()).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = told {
        tracing::warn!(error, "the other nodes were not told of an answer");
    }
}

/// Gives it back where nobody waits for it here.
fn give_here(app: &App, answered: Answered) -> Result<(), Answered> {
    let control = &app.control;
    match answered {
        Answered::ByAgent(key, answer) => {
            control.agents.answered(&key, answer).map_err(|answer| Answered::ByAgent(key, answer))
        }
        Answered::ByConnector(key, outcome) => {
            control.commands.0.complete(&key, outcome).map_err(|outcome| Answered::ByConnector(key, outcome))
        }
    }
}

/// Hears of the other nodes' answers until the hub stops.
pub(super) async fn listen(app: App, mut inbox: Inbox) {
    while let Some(payload) = inbox.next().await {
        match serde_json::from_slice(&payload) {
            // The one this node told of comes here, too.
            Ok(answered) => drop(give_here(&app, answered)),
            Err(error) => tracing::warn!(%error, "what another node told of an answer can't be read"),
        }
    }
}

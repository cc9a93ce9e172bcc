//! Replies that arrive at a node where nobody waits for them: the request may wait at the node that owned the network
//! before, so the other nodes are told.

use hub_bus::Inbox;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::cluster::ShardRegistry;
use crate::control::Control;
use crate::control::model::{AgentReply, CommandKey, CommandOutcome};
use crate::values::NetworkId;

/// Where nodes tell each other.
pub(super) const TOPIC: &str = "answers";

/// A reply and the command it belongs to. The names are those on the wire between nodes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    #[serde(rename = "ByAgent")]
    Agent(CommandKey, AgentReply),
    #[serde(rename = "ByConnector")]
    Connector((NetworkId, String), CommandOutcome),
}

/// Hands a reply to whoever waits for it, on this or another node. Nobody may be waiting any more.
pub(super) async fn deliver(app: &App, reply: Reply) {
    let Err(undelivered) = deliver_locally(app, reply) else { return };
    if app.state::<ShardRegistry>().is_single_node() {
        return;
    }
    let told = match serde_json::to_vec(&undelivered) {
        Ok(payload) => {
            app.state::<ShardRegistry>().broadcast(TOPIC, payload.into()).await.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = told {
        tracing::warn!(error, "could not tell the other nodes of a reply");
    }
}

/// Gives the reply back where nobody waits for it on this node.
fn deliver_locally(app: &App, reply: Reply) -> Result<(), Reply> {
    let control = app.state::<Control>();
    match reply {
        Reply::Agent(key, reply) => control.agents.complete(&key, reply).map_err(|reply| Reply::Agent(key, reply)),
        Reply::Connector(key, outcome) => {
            control.console_commands.complete(&key, outcome).map_err(|outcome| Reply::Connector(key, outcome))
        }
    }
}

/// Delivers what the other nodes tell until the hub stops.
pub(super) async fn listen(app: App, mut inbox: Inbox) {
    while let Some(payload) = inbox.next().await {
        match serde_json::from_slice(&payload) {
            // What this node told comes here, too, and is dropped.
            Ok(reply) => drop(deliver_locally(&app, reply)),
            Err(error) => tracing::warn!(%error, "could not read a reply from another node"),
        }
    }
}

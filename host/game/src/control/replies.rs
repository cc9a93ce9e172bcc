//! Replies that arrive at a node without the waiting request: the request may wait at the network's previous owner, so
//! the other nodes are notified.

use hub_bus::Inbox;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::cluster::ShardRegistry;
use crate::control::Control;
use crate::control::model::{AgentReply, CommandKey, CommandOutcome};
use crate::values::NetworkId;

/// Topic for replies between nodes.
pub(super) const TOPIC: &str = "answers";

/// A reply and its command. Field names are part of the protocol between nodes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    #[serde(rename = "ByAgent")]
    Agent(CommandKey, AgentReply),
    #[serde(rename = "ByConnector")]
    Connector((NetworkId, String), CommandOutcome),
}

/// Delivers a reply to the waiting request on this or another node. The request may have ended.
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
        tracing::warn!(error, "could not forward a reply to the other nodes");
    }
}

/// Returns the reply if no request waits for it on this node.
fn deliver_locally(app: &App, reply: Reply) -> Result<(), Reply> {
    let control = app.state::<Control>();
    match reply {
        Reply::Agent(key, reply) => control.agents.complete(&key, reply).map_err(|reply| Reply::Agent(key, reply)),
        Reply::Connector(key, outcome) => {
            control.console_commands.complete(&key, outcome).map_err(|outcome| Reply::Connector(key, outcome))
        }
    }
}

/// Delivers replies from other nodes until the hub stops.
pub(super) async fn listen(app: App, mut inbox: Inbox) {
    while let Some(payload) = inbox.next().await {
        match serde_json::from_slice(&payload) {
            // This node's own messages arrive here too and are dropped.
            Ok(reply) => drop(deliver_locally(&app, reply)),
            Err(error) => tracing::warn!(%error, "could not read a reply from another node"),
        }
    }
}

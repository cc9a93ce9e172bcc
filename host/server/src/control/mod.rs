//! Control of servers: console commands by their connectors; power, console and logs by their node agents.
//!
//! An agent polls for its server's commands and reports with each poll how the server's container is. Agents and the
//! commands queued for them are in memory (`agents/`): a report comes anew with the next poll, and a command lives no
//! longer than the request that waits for it. Commands that outlive their request are stored, too.
//!
//! Invariants: a command is handed out at most once, never after its deadline, and only to the latest poll for its
//! server; a reply reaches only the request that waits for it, in the same network and about the same server; the lines of
//! a server's log are numbered without gaps, and of the stored ones only the newest 5,000 count.
//! Tables: `server_log_lines`, `server_logs`, `agent_commands`, `server_agents`.

mod agents;
mod log_stream;
mod model;
mod network_state;
mod replies;
mod routes;
mod saving;
pub mod service;
mod store;

use std::fmt;

use hub_bus::PendingReplies;

pub use model::Action;
pub(crate) use network_state::AgentState;
pub(crate) use routes::router;
use saving::restore;
pub(crate) use saving::stop;

use crate::app::App;
use crate::background::every;
use crate::cluster::ShardRegistry;
use crate::events::{EventKind, EventSchema};
use crate::networks;
use crate::values::NetworkId;

/// The state in memory.
#[derive(Default)]
pub struct Control {
    agents: agents::Agents,
    /// Console commands that wait for their connectors' outcomes.
    console_commands: PendingReplies<model::CommandOutcome, (NetworkId, String)>,
    log_followers: log_stream::LogFollowers,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}

impl Control {
    /// Drops a network's agents: it lives on another node.
    pub(crate) fn evict(&self, network: NetworkId) {
        self.agents.evict(network);
    }

    /// How many requests wait for an agent's or a connector's reply.
    pub fn waiting(&self) -> usize {
        self.agents.waiting() + self.console_commands.len()
    }
}

/// Restores the agents and commands of the last run and starts the background work. One of several nodes restores a
/// network when it becomes its owner.
pub(crate) async fn start(app: &App) -> anyhow::Result<()> {
    if app.state::<ShardRegistry>().is_single_node() {
        for network in networks::service::network_ids(&app.db).await? {
            restore(app, network).await?;
        }
    }
    if let Some(inbox) = app.state::<ShardRegistry>().listen(replies::TOPIC).await? {
        app.spawn(replies::listen(app.clone(), inbox));
    }
    every(app, agents::SWEEP_INTERVAL, "sweep agents", agents::sweep);
    Ok(())
}

/// The events of this component, for the document.
pub(crate) fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<service::ExecuteCommand<'static>>(EventKind::ExecuteCommand)]
}

//! Control of servers: console commands by their connectors; power, console and logs by their node agents.
//!
//! An agent polls for its server's commands and says with each poll how the server's container is. What agents are there
//! and what waits for them is in memory (`agents.rs`): an agent that polls again tells all of it anew, and a command
//! lives no longer than the caller who waits for it.
//!
//! Invariants: a command is handed out at most once, never after its caller's deadline and only to the newest poll for
//! its server; an answer reaches only who asked in the same network about the same server; the lines of a server's log
//! are numbered without gaps, and of what is stored only the newest 5,000 count.
//! Tables: `server_log_lines`, `server_logs`, `agent_commands`, `server_agents`.

mod agents;
mod answers;
mod follow;
mod model;
mod network_state;
mod routes;
mod saving;
pub mod service;
mod store;

pub use model::Action;
pub(crate) use model::Report;
pub(crate) use network_state::network_state;
pub(crate) use routes::router;
pub(crate) use saving::stop;

use crate::app::App;
use crate::background::every;
use crate::networks;
use crate::values::NetworkId;

/// The room's live state.
#[derive(Debug, Default)]
pub struct Control {
    agents: agents::Agents,
    commands: service::Commands,
    followers: follow::Followers,
}

impl Control {
    /// Lets go of a network that lives elsewhere.
    pub(crate) fn forget(&self, network: NetworkId) {
        self.agents.forget(network);
    }

    /// How many wait for an agent's or a connector's answer now.
    pub fn waiting(&self) -> usize {
        self.agents.waiting() + self.commands.waiting()
    }
}

/// Brings back what the last run knew and starts the room's background work. One of several nodes brings a network back
/// when it becomes its home.
pub(crate) async fn start(app: &App) -> anyhow::Result<()> {
    if app.shards.is_single_node() {
        for network in networks::service::network_ids(&app.db).await? {
            saving::bring_back(app, network).await?;
        }
    }
    if let Some(inbox) = app.shards.listen(answers::TOPIC).await? {
        app.spawn(answers::listen(app.clone(), inbox));
    }
    every(app, agents::SWEEP_EVERY, "sweep agents", agents::sweep);
    Ok(())
}

//! Control of servers: console commands through connectors; power, console and logs through node agents.
//!
//! An agent polls for its server's commands and reports the state of the server's container with each poll. Agents and
//! their queued commands are in memory (`agents/`): reports are repeated with each poll, and a command lives no longer
//! than the request that waits for it. Commands that outlive their request are also stored.
//!
//! Invariants: a command is handed out at most once, never after its deadline, and only to the latest poll of its
//! server; a reply reaches only the waiting request for the same network and server; the lines of a server's log are
//! numbered without gaps, and only the newest 5,000 stored ones count.
//! Tables: `server_log_lines`, `server_logs`, `agent_commands`, `server_agents`.

mod agents;
pub mod effects;
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
pub use network_state::AgentState;
use saving::restore;

use crate::app::App;
use crate::background::every;
use crate::cluster::ShardRegistry;
use crate::component::column::{any_number, any_text, read};
use crate::component::{Aging, Component, ErrorCode, EventSchema, Sealed, TableRule, Tag};
use crate::control::model::OutputStream;
use crate::events::EventKind;
use crate::networks;
use crate::values::{Identifier, NetworkId};

/// Table of commands that wait for agents.
const AGENT_COMMANDS: &str = "agent_commands";

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "console commands, power and logs of servers, through their node agents; agents and waiting commands are in memory",
    tags: &[
        Tag("Node agents", "Routes for the agents of game servers."),
        Tag("Manage: servers", "Monitor and control servers."),
    ],
    routes: routes::router,
    events: || vec![EventSchema::of::<service::ExecuteCommand<'static>>(EventKind::ExecuteCommand)],
    tables: &[
        TableRule::moved("server_log_lines").aging(Aging { at: "at", days: |days| days.logs, except: None }).columns(
            &[
                read::<Identifier>("server_id"),
                // The agent's own time.
                any_number("at"),
                read::<OutputStream>("stream"),
                any_text("text"),
            ],
        ),
        TableRule::moved("server_logs").columns(&[read::<Identifier>("server_id")]),
        TableRule::left(AGENT_COMMANDS)
            .not_backed_up("live for seconds")
            .without_players("short-lived commands")
            .sealed(&[Sealed::Text("command")]),
        TableRule::left("server_agents").not_backed_up("live for seconds"),
    ],
    errors: &[
        ErrorCode::new("forbidden_command", &[403], "A module's link does not grant the command."),
        ErrorCode::new("server_offline", &[409, 503], "The server is offline."),
        ErrorCode::new("not_connected", &[409, 503], "The server's event stream, or its agent, is not connected."),
        ErrorCode::new("no_node", &[404], "No node agent is connected for the server."),
        ErrorCode::new("no_answer", &[503], "The server or its agent did not answer in time."),
        ErrorCode::new("no_output", &[503], "The agent did not deliver the output in time."),
    ],
    register: |states, _| {
        states.insert(Control::default());
        Ok(())
    },
    network_state: Some(&AgentState),
    terms: &[store::COMMANDS],
    clock_set: |app, _, shift| app.state::<Control>().agents.shift(shift),
    start: |app| Box::pin(start(app)),
    stop: |app| Box::pin(saving::stop(app)),
    ..Component::new(module_path!())
};

/// In-memory state.
#[derive(Default)]
pub struct Control {
    agents: agents::Agents,
    /// Console commands waiting for their connectors' outcomes.
    console_commands: PendingReplies<model::CommandOutcome, (NetworkId, String)>,
    log_followers: log_stream::LogFollowers,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}

impl Control {
    /// Drops the agents of a network that moved to another node.
    pub(crate) fn evict(&self, network: NetworkId) {
        self.agents.evict(network);
    }

    /// Number of requests waiting for the reply of an agent or connector.
    pub fn waiting(&self) -> usize {
        self.agents.waiting() + self.console_commands.len()
    }
}

/// Restores the agents and commands of the last run and starts the background work. A node of a cluster restores a
/// network when it becomes its owner.
async fn start(app: &App) -> anyhow::Result<()> {
    if app.state::<ShardRegistry>().is_single_node() {
        // In turn: reads, before the first request.
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

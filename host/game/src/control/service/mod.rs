//! The rules of control.

mod commands;
mod console;
mod deadline;
mod error;
mod logs;
mod poll;

use crate::app::App;
use crate::control::Control;
use crate::presence::AgentReport;
use crate::values::{Identifier, NetworkId};

pub use commands::queue_action;
pub(super) use commands::{complete_action, read_output, run_action};
pub(super) use console::{ExecuteCommand, complete_command, execute_command, send_command};
pub use error::ControlError;
pub(super) use logs::{append, last_line, recent};
pub(super) use poll::poll;

/// Last report of the server's node agent, if it is connected.
pub fn report(app: &App, network: NetworkId, server: &Identifier) -> Option<AgentReport> {
    app.state::<Control>().agents.report(network, server, app.clock.now())
}

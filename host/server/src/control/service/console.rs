//! Console commands for connectors.

use serde::Serialize;

use crate::app::App;
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::control::model::CommandOutcome;
use crate::control::replies::{self, Reply};
use crate::control::service::deadline::Deadline;
use crate::control::service::error::ControlError;
use crate::events::{self, EventKind};
use crate::servers;
use crate::values::{Identifier, NetworkId};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecuteCommand<'a> {
    request_id: &'a str,
    command: &'a str,
    timeout_ms: Millis,
}

/// Has the server's connector run a console command, and waits for its outcome.
pub(in crate::control) async fn execute_command(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    command: &str,
    timeout_ms: Millis,
    lease: &RequestLease,
) -> Result<CommandOutcome, ControlError> {
    if servers::service::snapshot(app, network, server).is_none() {
        let known = servers::service::is_known_server(app, network, server).await?;
        let server = server.clone();
        return Err(if known { ControlError::Offline(server) } else { ControlError::UnknownServer(server) });
    }
    if !app.bus.is_connected(network.0.as_u128(), server.as_str()) {
        return Err(ControlError::NotConnected(server.clone()));
    }
    let request_id = app.ids.uuid().to_string();
    let deadline = Deadline::new(app, timeout_ms);
    let mut waiter = app.control.console_commands.register((network, request_id.clone()));
    let payload = ExecuteCommand { request_id: &request_id, command, timeout_ms };
    events::publish(app, network, EventKind::ExecuteCommand, Some(server.as_str()), payload).await?;
    // The outcome comes here even if the network moves.
    lease.release();
    deadline.wait(server, waiter.wait()).await
}

/// Hands a connector's outcome to the request that waits for it; an outcome that none waits for is discarded.
pub(in crate::control) async fn complete_command(
    app: &App,
    network: NetworkId,
    request_id: String,
    outcome: CommandOutcome,
) {
    replies::deliver(app, Reply::Connector((network, request_id), outcome)).await;
}

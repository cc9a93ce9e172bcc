//! Console commands for connectors.

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::control::Control;
use crate::control::model::CommandOutcome;
use crate::control::replies::{self, Reply};
use crate::control::service::deadline::Deadline;
use crate::control::service::error::ControlError;
use crate::events::{self, EventKind};
use crate::presence;
use crate::values::{Identifier, NetworkId};

/// Request to run a console command on a server.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConsoleCommandOrder)]
pub(in crate::control) struct ExecuteCommand<'a> {
    /// Id to return with the outcome.
    #[schema(example = "8c1f4e0a-2a52-4a67-9f7c-0b8a5a3f7b1e")]
    request_id: &'a str,
    #[schema(example = "say good evening")]
    command: &'a str,
    /// Time for which the caller waits for the outcome.
    #[schema(example = 10_000)]
    timeout_ms: Millis,
}

/// Runs a console command through the server's connector and waits for the outcome.
pub(in crate::control) async fn execute_command(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    command: &str,
    timeout_ms: Millis,
    lease: &RequestLease,
    origin: &Origin,
) -> Result<CommandOutcome, ControlError> {
    check_reachable(app, network, server).await?;
    let change = Change::new(Action::ServerCommanded, server).after(json!({"command": command}));
    audit::record_alone(&app.db, network, origin, change).await?;
    let request_id = app.ids.uuid().to_string();
    let deadline = Deadline::new(app, timeout_ms);
    let mut waiter = app.state::<Control>().console_commands.register((network, request_id.clone()));
    let payload = ExecuteCommand { request_id: &request_id, command, timeout_ms };
    events::publish(app, network, EventKind::ExecuteCommand, Some(server.as_str()), payload).await?;
    // The outcome arrives here even if the network moves.
    lease.release();
    deadline.wait(server, waiter.wait()).await
}

async fn check_reachable(app: &App, network: NetworkId, server: &Identifier) -> Result<(), ControlError> {
    if presence::service::snapshot(app, network, server).is_none() {
        let known = presence::service::is_known_server(app, network, server).await?;
        let server = server.clone();
        return Err(if known { ControlError::Offline(server) } else { ControlError::UnknownServer(server) });
    }
    if !app.bus.is_connected(network.0.as_u128(), server.as_str()) {
        return Err(ControlError::NotConnected(server.clone()));
    }
    Ok(())
}

/// Sends a console command to the server's connector in the caller's transaction. Its outcome is dropped.
pub(in crate::control) async fn send_command(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    command: &str,
    timeout_ms: Millis,
    origin: &Origin,
) -> Result<(), ControlError> {
    check_reachable(app, network, server).await?;
    let request_id = app.ids.uuid().to_string();
    let payload = ExecuteCommand { request_id: &request_id, command, timeout_ms };
    app.db
        .transaction(async |mut tx| {
            let change = Change::new(Action::ServerCommanded, server).after(json!({"command": command}));
            audit::record(&mut tx, network, origin, change).await?;
            let to = Some(server.as_str());
            Ok(events::publish_in(app, &mut tx, network, EventKind::ExecuteCommand, to, &payload).await?)
        })
        .await
}

/// Passes a connector's outcome to the waiting request, or discards it if none waits.
pub(in crate::control) async fn complete_command(
    app: &App,
    network: NetworkId,
    request_id: String,
    outcome: CommandOutcome,
) {
    replies::deliver(app, Reply::Connector((network, request_id), outcome)).await;
}

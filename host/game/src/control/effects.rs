//! Console commands by modules.

use axum::http::StatusCode;
use hub_sandbox::contract::effects::RunCommand;

use crate::app::App;
use crate::control::model::{ConsoleLine, TimeoutMs};
use crate::control::service::{self, ControlError};
use crate::http::error::ApiError;
use crate::modules::{ModuleActor, read_field};
use crate::values::NetworkId;

/// Sends a console command to a server's connector, once it is committed. Its outcome is not waited for, and it is lost
/// with a server that goes away.
pub async fn run(app: &App, network: NetworkId, actor: &ModuleActor, effect: &RunCommand) -> Result<(), ApiError> {
    let server = read_field("serverId", &effect.server_id)?;
    let invalid = |field: &str, reason: &str| ApiError::invalid(format!("`{field}`: {reason}."));
    let command = ConsoleLine::try_from(effect.command.clone()).map_err(|reason| invalid("command", &reason))?;
    let timeout = effect.timeout_ms.map(|ms| TimeoutMs::of(i64::try_from(ms).unwrap_or(i64::MAX))).transpose();
    let timeout = timeout.map_err(|reason| invalid("timeoutMs", reason))?.unwrap_or_default();
    if !actor.grants.permits_command(&command.0) {
        let message = "The link does not grant the command's first word.";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden_command", message));
    }
    let sent = service::send_command(app, network, &server, &command.0, timeout.0, &actor.origin(app)).await;
    // A server that is away is no failure of the hub: the effect is refused.
    let refused = |code, error: ControlError| Err(ApiError::new(StatusCode::CONFLICT, code, error.to_string()));
    match sent {
        Err(error @ ControlError::Offline(_)) => refused("server_offline", error),
        Err(error @ ControlError::NotConnected(_)) => refused("not_connected", error),
        sent => Ok(sent?),
    }
}

//! Console commands, run by the server's connector.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Plugin, ServersControl};
use crate::cluster::RequestLease;
use crate::control::model::{CommandOutcome, ConsoleLine, TimeoutMs};
use crate::control::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::values::Identifier;

pub(super) fn router() -> Endpoints {
    endpoints![execute: retry_on_owner ends_with_caller long publishing, executed]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConsoleCommand)]
struct Execute {
    /// Command as typed into the server's console, without a slash.
    #[schema(example = "whitelist add Notch")]
    command: ConsoleLine,
    /// Time to wait for the outcome, in milliseconds (default 10,000, at most 60,000).
    #[schema(example = 10_000)]
    timeout_ms: Option<TimeoutMs>,
}

/// Outcome of a console command.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConsoleCommandResult)]
struct Outcome {
    success: bool,
    /// Output of the command.
    #[schema(example = "Added Notch to the whitelist")]
    output: Option<String>,
    /// Reason for the failure.
    error: Option<String>,
}

/// Run a console command through the connector
///
/// The server's connector receives an `EXECUTE_COMMAND` event and reports the outcome. No node agent is needed, but
/// the server must be online with an open event stream. A connector that receives the event later than `timeoutMs`
/// after its `at` (for example after resuming a broken stream) must not run it.
#[utoipa::path(post, path = "/api/manage/servers/{serverId}/command", tag = "Manage: servers",
    security(("apiKey" = ["servers:control"])), params(("serverId" = Identifier, Path, example = "bedwars-1")),
    operation_id = "execute_command",
    responses((status = 200, body = Outcome), (status = 404, body = ErrorBody, description = "No such server"),
        (status = 503, body = ErrorBody, description = "Offline, not connected, or no answer in time")))]
async fn execute(
    ServersControl(caller): ServersControl,
    State(app): State<App>,
    lease: RequestLease,
    Path(server): Path<Identifier>,
    Json(body): Json<Execute>,
) -> Result<Json<Outcome>, ApiError> {
    let timeout = body.timeout_ms.unwrap_or_default();
    let outcome = service::execute_command(
        &app,
        caller.network,
        &server,
        &body.command.0,
        timeout.0,
        &lease,
        &caller.origin(&app),
    )
    .await?;
    let CommandOutcome { success, output, error } = outcome;
    Ok(Json(Outcome { success, output, error }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConsoleCommandReport)]
struct Executed {
    /// Id from the `EXECUTE_COMMAND` event.
    #[schema(example = "0b0e2c52-9f5c-4a36-8f0c-2f1f5f3c1f6e")]
    request_id: Identifier,
    success: bool,
    /// Output of the command.
    #[schema(example = "Added Notch to the whitelist")]
    output: Option<String>,
    /// Reason for the failure.
    error: Option<String>,
}

/// Report a console command's result
///
/// Called by the connector after it ran an `EXECUTE_COMMAND` event. If no request waits for the result, it is accepted
/// and discarded.
#[utoipa::path(post, path = "/api/plugin/servers/command-result", tag = "Servers",
    security(("apiKey" = ["plugin"])), operation_id = "report_executed_command",
    responses((status = 204, description = "Taken")))]
async fn executed(Plugin(caller): Plugin, State(app): State<App>, Json(body): Json<Executed>) -> StatusCode {
    let outcome = CommandOutcome { success: body.success, output: body.output, error: body.error };
    service::complete_command(&app, caller.network, body.request_id.into_string(), outcome).await;
    StatusCode::NO_CONTENT
}

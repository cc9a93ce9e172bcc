//! Power and console, through the server's node agent.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Caller, ServersControl};
use crate::cluster::RequestLease;
use crate::control::model::{Action, ConsoleLine};
use crate::control::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::values::Identifier;

pub(super) fn router() -> Endpoints {
    endpoints![
        console: retry_on_owner ends_with_caller long,
        kill: retry_on_owner ends_with_caller long,
        restart: retry_on_owner ends_with_caller long long,
        start: retry_on_owner ends_with_caller long,
        stop: retry_on_owner ends_with_caller long,
    ]
}

/// Result reported by the node agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AgentReply)]
struct Done {
    /// True if the action succeeded.
    ok: bool,
    /// Reason for the failure.
    #[schema(example = "the server is not running")]
    error: Option<String>,
    /// Additional data from the agent.
    #[schema(value_type = Option<Object>)]
    data: Option<Value>,
}

async fn run(
    app: &App,
    caller: &Caller,
    server: &Identifier,
    action: Action,
    lease: &RequestLease,
) -> Result<Json<Done>, ApiError> {
    let reply = service::run_action(app, caller.network, server, action, lease, &caller.origin(app)).await?;
    Ok(Json(Done { ok: reply.ok, error: reply.error, data: reply.result }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ConsoleInput)]
struct Console {
    /// Line to write, without its end.
    line: ConsoleLine,
}

/// Write a line to the server's console
///
/// Written to the server's standard input by its node agent. The response says that the line was written; see the
/// server's log for the effect.
#[utoipa::path(post, path = "/api/manage/servers/{serverId}/console", tag = "Manage: servers",
    security(("apiKey" = ["servers:control"])), params(("serverId" = Identifier, Path, example = "bedwars-1")),
    operation_id = "write_to_console", responses((status = 200, body = Done),
        (status = 404, body = ErrorBody, description = "No such server, or no node agent is connected for it"),
        (status = 503, body = ErrorBody, description = "The node agent did not answer within 10 s")))]
async fn console(
    ServersControl(caller): ServersControl,
    State(app): State<App>,
    lease: RequestLease,
    Path(server): Path<Identifier>,
    Json(body): Json<Console>,
) -> Result<Json<Done>, ApiError> {
    run(&app, &caller, &server, Action::Console { line: body.line.0 }, &lease).await
}

/// Kill the server
///
/// Immediately, without a clean shutdown.
#[utoipa::path(post, path = "/api/manage/servers/{serverId}/kill", tag = "Manage: servers",
    security(("apiKey" = ["servers:control"])), params(("serverId" = Identifier, Path, example = "bedwars-1")),
    operation_id = "kill_server", responses((status = 200, body = Done),
        (status = 404, body = ErrorBody, description = "No such server, or no node agent is connected for it"),
        (status = 503, body = ErrorBody, description = "The node agent did not answer within 10 s")))]
async fn kill(
    ServersControl(caller): ServersControl,
    State(app): State<App>,
    lease: RequestLease,
    Path(server): Path<Identifier>,
) -> Result<Json<Done>, ApiError> {
    run(&app, &caller, &server, Action::Kill, &lease).await
}

/// Restart the server
///
/// A clean stop, then a start. It is not refused while players are online or a match is running: check
/// `live.gameState` first.
#[utoipa::path(post, path = "/api/manage/servers/{serverId}/restart", tag = "Manage: servers",
    security(("apiKey" = ["servers:control"])), params(("serverId" = Identifier, Path, example = "bedwars-1")),
    operation_id = "restart_server", responses((status = 200, body = Done),
        (status = 404, body = ErrorBody, description = "No such server, or no node agent is connected for it"),
        (status = 503, body = ErrorBody, description = "The node agent did not answer within 10 s")))]
async fn restart(
    ServersControl(caller): ServersControl,
    State(app): State<App>,
    lease: RequestLease,
    Path(server): Path<Identifier>,
) -> Result<Json<Done>, ApiError> {
    run(&app, &caller, &server, Action::Restart, &lease).await
}

/// Start the server
///
/// Does nothing if the server is running.
#[utoipa::path(post, path = "/api/manage/servers/{serverId}/start", tag = "Manage: servers",
    security(("apiKey" = ["servers:control"])), params(("serverId" = Identifier, Path, example = "bedwars-1")),
    operation_id = "start_server", responses((status = 200, body = Done),
        (status = 404, body = ErrorBody, description = "No such server, or no node agent is connected for it"),
        (status = 503, body = ErrorBody, description = "The node agent did not answer within 10 s")))]
async fn start(
    ServersControl(caller): ServersControl,
    State(app): State<App>,
    lease: RequestLease,
    Path(server): Path<Identifier>,
) -> Result<Json<Done>, ApiError> {
    run(&app, &caller, &server, Action::Start, &lease).await
}

/// Stop the server
///
/// Requests a clean shutdown and responds once it was requested; read the server to see its state.
#[utoipa::path(post, path = "/api/manage/servers/{serverId}/stop", tag = "Manage: servers",
    security(("apiKey" = ["servers:control"])), params(("serverId" = Identifier, Path, example = "bedwars-1")),
    operation_id = "stop_server", responses((status = 200, body = Done),
        (status = 404, body = ErrorBody, description = "No such server, or no node agent is connected for it"),
        (status = 503, body = ErrorBody, description = "The node agent did not answer within 10 s")))]
async fn stop(
    ServersControl(caller): ServersControl,
    State(app): State<App>,
    lease: RequestLease,
    Path(server): Path<Identifier>,
) -> Result<Json<Done>, ApiError> {
    run(&app, &caller, &server, Action::Stop, &lease).await
}

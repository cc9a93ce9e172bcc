//! Routes of node agents.

use std::str::FromStr;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::Agent;
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::control::model::{AgentReply, NewLogLine, OutputStream};
use crate::control::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::http::page::BoundedInt;
use crate::presence::AgentReport;
use crate::values::{Identifier, Text, blank_as_absent};

pub(super) fn router() -> Endpoints {
    endpoints![poll: long, result, ship_logs]
}

/// Maximum number of capabilities in a report.
const MAX_CAPABILITIES: usize = 64;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct PollQuery {
    /// Id of the agent's node. If absent, the server is its own node.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "node-7")]
    node_id: Option<Identifier>,
    /// Container state, for example CREATED, RUNNING or EXITED.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "RUNNING")]
    container_state: Option<Text<64>>,
    /// Human-readable status.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "Running since 12:00")]
    container_status: Option<Text<1024>>,
    /// Last exit code.
    #[serde(default, deserialize_with = "blank_or_parsed")]
    #[param(value_type = Option<i64>)]
    exit_code: Option<i64>,
    /// True if the server was killed for lack of memory.
    #[serde(default, deserialize_with = "blank_or_parsed")]
    #[param(value_type = Option<bool>)]
    out_of_memory: Option<bool>,
    /// Capabilities of the agent, separated by commas.
    #[param(value_type = Option<String>, example = "start,stop,restart,kill,console,logs,install")]
    capabilities: Option<Text<4096>>,
    /// Time to wait for a command, in milliseconds (at most 30,000).
    #[serde(default)]
    #[param(inline, required = false, example = 0)]
    wait_ms: BoundedInt<0, 30_000, 0>,
}

/// Parses an optional query value; blank counts as absent.
fn blank_or_parsed<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: std::fmt::Display,
{
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.trim().is_empty());
    text.map(|text| text.parse()).transpose().map_err(de::Error::custom)
}

impl PollQuery {
    fn report(self, server: &Identifier) -> Result<AgentReport, ApiError> {
        let words = self.capabilities.as_ref().map_or("", Text::as_str).split(',').map(str::trim);
        let capabilities: Vec<_> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        if capabilities.len() > MAX_CAPABILITIES {
            let message = format!("In the query, `capabilities`: must be at most {MAX_CAPABILITIES}.");
            return Err(ApiError::invalid(message));
        }
        Ok(AgentReport {
            node_id: self.node_id.unwrap_or_else(|| server.clone()).into_string(),
            capabilities,
            container_state: self.container_state.map(Text::into_string),
            container_status: self.container_status.map(Text::into_string),
            exit_code: self.exit_code,
            out_of_memory: self.out_of_memory,
        })
    }
}

/// Commands for an agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PendingCommands)]
struct Commands {
    /// Commands, each a JSON object as text.
    #[schema(example = json!([
        "{\"commandId\":\"0b0e2c52-9f5c-4a36-8f0c-2f1f5f3c1f6e\",\"action\":\"CONSOLE\",\"line\":\"say hi\",\
         \"issuedAt\":1804680000000}"]))]
    commands: Vec<String>,
}

/// Fetch a server's commands
///
/// For the server's node agent, which reports the state of the server's container with each poll: `control` of the
/// server's record shows it until 30 s after the last poll. Each text in `commands` is a JSON object `{"commandId",
/// "action", "line"?, "lines"?, "issuedAt"}`; `action` is START, STOP, RESTART, KILL, CONSOLE (with `line`), LOGS
/// (with `lines`) or INSTALL (with `url`, `name`, `version`, `sha256`). Commands are handed out only once; post a
/// result for each.
///
/// With `waitMs` the response comes as soon as there is a command. Only the newest poll for a server gets commands; an
/// older waiting poll of the same node is answered immediately, so an agent can report changes at any time.
#[utoipa::path(get, path = "/api/plugin/servers/{serverId}/commands", tag = "Node agents",
    security(("apiKey" = ["agent", "plugin"])), params(("serverId" = Identifier, Path, example = "bedwars-1"), PollQuery),
    operation_id = "fetch_commands", responses((status = 200, body = Commands)))]
async fn poll(
    Agent(caller): Agent,
    State(app): State<App>,
    lease: RequestLease,
    method: Method,
    Path(server): Path<Identifier>,
    Query(query): Query<PollQuery>,
) -> Result<Json<Commands>, ApiError> {
    if method == Method::HEAD {
        // A HEAD request would lose the commands.
        return Ok(Json(Commands { commands: vec![] }));
    }
    let wait_ms = query.wait_ms.0;
    let report = query.report(&server)?;
    let commands = service::poll(&app, caller.network, &server, report, wait_ms, &lease).await?;
    Ok(Json(Commands { commands }))
}

/// Outcome of a command.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
enum CommandStatus {
    /// Succeeded.
    Ok,
    /// Failed; see `error`.
    Error,
}

#[derive(Debug, Deserialize, ToSchema)]
struct CommandResult {
    status: CommandStatus,
    /// Reason for the failure.
    error: Option<String>,
    /// Result data: `{"content"}` for LOGS.
    #[schema(value_type = Option<Object>, example = json!({"content": "[12:00:00 INFO]: Done (3.2s)!"}))]
    result: Option<Value>,
}

/// Report a command's result
///
/// The result is passed to the waiting request. If none waits, the result is accepted and discarded.
#[utoipa::path(post, path = "/api/plugin/servers/{serverId}/commands/{commandId}/result", tag = "Node agents",
    security(("apiKey" = ["agent", "plugin"])), operation_id = "report_command_result",
    params(("serverId" = Identifier, Path, example = "bedwars-1"),
        ("commandId" = String, Path, example = "0b0e2c52-9f5c-4a36-8f0c-2f1f5f3c1f6e")),
    responses((status = 201, description = "Taken")))]
async fn result(
    Agent(caller): Agent,
    State(app): State<App>,
    Path((server, command_id)): Path<(Identifier, Identifier)>,
    Json(body): Json<CommandResult>,
) -> StatusCode {
    let reply = AgentReply { ok: matches!(body.status, CommandStatus::Ok), error: body.error, result: body.result };
    service::complete_action(&app, caller.network, server, command_id.as_str(), reply).await;
    StatusCode::CREATED
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = LogBatch)]
struct Shipped {
    /// Lines in order.
    lines: Vec<ShippedLine>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = LogBatchLine)]
struct ShippedLine {
    /// Time at which the line was read.
    #[schema(example = 1_804_680_000_000_i64)]
    at: Millis,
    stream: OutputStream,
    /// Text without line break; truncated at 8 KiB.
    #[schema(example = "[12:00:00 INFO]: Done (3.2s)! For help, type \"help\"")]
    text: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LogBatchReceipt)]
struct Accepted {
    /// Number of accepted lines.
    #[schema(example = 1)]
    accepted: i64,
}

/// Upload console lines
///
/// The hub keeps the newest 5,000 lines of each server.
#[utoipa::path(post, path = "/api/plugin/servers/{serverId}/logs", tag = "Node agents",
    security(("apiKey" = ["agent", "plugin"])), params(("serverId" = Identifier, Path, example = "bedwars-1")),
    operation_id = "append_server_logs", responses((status = 200, body = Accepted)))]
async fn ship_logs(
    Agent(caller): Agent,
    State(app): State<App>,
    Path(server): Path<Identifier>,
    Json(body): Json<Shipped>,
) -> Result<Json<Accepted>, ApiError> {
    let lines = body.lines.into_iter();
    let lines = lines.map(|line| NewLogLine { at: line.at, stream: line.stream, text: line.text }).collect();
    let accepted = service::append(&app, caller.network, &server, lines).await?;
    Ok(Json(Accepted { accepted }))
}

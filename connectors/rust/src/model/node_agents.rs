// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CommandStatus {
    Ok,
    Error,
}

/// Output stream of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    Stdout,
    Stderr,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult {
    /// Reason for the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Result data: `{"content"}` for LOGS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    pub status: CommandStatus,
}

impl CommandResult {
    /// One with the required fields.
    pub fn new(status: CommandStatus) -> Self {
        Self { error: None, result: None, status }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogBatch {
    /// Lines in order.
    pub lines: Vec<LogBatchLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogBatchLine {
    /// Time at which the line was read.
    pub at: i64,
    pub stream: OutputStream,
    /// Text without line break; truncated at 8 KiB.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LogBatchReceipt {
    /// Number of accepted lines.
    pub accepted: i64,
}

/// Commands for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PendingCommands {
    /// Commands, each a JSON object as text.
    pub commands: Vec<String>,
}

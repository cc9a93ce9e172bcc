// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a command went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CommandStatus {
    Ok,
    Error,
}

/// Where a line was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    Stdout,
    Stderr,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult {
    /// Why it was not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whatever the command asked for: `{"content"}` for LOGS.
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
    /// In their order.
    pub lines: Vec<LogBatchLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogBatchLine {
    /// When it was read.
    pub at: i64,
    pub stream: OutputStream,
    /// Without its end; cut to 8 KiB.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LogBatchReceipt {
    /// How many lines.
    pub accepted: i64,
}

/// What an agent is to do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PendingCommands {
    /// Each a JSON object in a text.
    pub commands: Vec<String>,
}

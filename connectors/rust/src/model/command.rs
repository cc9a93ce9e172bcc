//! Chat, and what the hub asks of servers.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A line of the network's chat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessage {
    /// Who says it.
    pub player_uuid: Uuid,
    /// Who says it.
    pub player_name: String,
    /// 1 to 1,024 characters.
    pub message: String,
    /// Where it is said.
    pub server_id: String,
    /// The server's type.
    pub server_type: Option<String>,
    /// The world.
    pub world: Option<String>,
    /// The rank in front of the name.
    pub rank: Option<String>,
    /// Its color.
    pub rank_color: Option<String>,
    /// Whether it is bold.
    pub rank_bold: Option<bool>,
    /// Whether the name has the color, too.
    pub color_name_also: Option<bool>,
}

/// A signed command to send a player to another server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferCommand {
    /// The transfer. A command is good for one use.
    pub transfer_id: String,
    /// Who is to be sent.
    pub player_uuid: Uuid,
    /// Where to.
    pub target_server_id: String,
    /// The world there.
    pub target_world_id: Option<String>,
    /// The target's address.
    pub host: String,
    /// The target's port.
    pub port: u16,
    /// When it was signed.
    pub issued_at: i64,
    /// Until when it is good.
    pub expires_at: i64,
    /// One or several, separated by spaces.
    pub signature: String,
}

/// How asking for a transfer went.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TransferOutcome {
    /// The transfer.
    pub transfer_id: String,
    /// The player.
    pub player_uuid: Uuid,
    /// `SUCCESS`: the command is on its way. Else why not, such as `PLAYER_OFFLINE` or `NOT_CONNECTED`.
    pub result: String,
    /// The reason as a sentence.
    pub error_message: Option<String>,
    /// Whether it is `SUCCESS`.
    pub success: bool,
}

/// A command that the hub wants run on a server's console.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConsoleCommand {
    /// To answer with.
    pub request_id: String,
    /// The line, without a slash in front.
    pub command: String,
    /// How long the caller waits, in milliseconds.
    pub timeout_ms: i64,
    /// When it was sent.
    pub at: i64,
}

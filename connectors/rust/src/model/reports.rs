// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Kind of actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ActorType {
    Key,
    Person,
    Operator,
    System,
    Module,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// State of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ReportState {
    Open,
    Taken,
    Closed,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Decision of the network's filter about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Verdict {
    Sent,
    Rewritten,
    Refused,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Actor of a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Actor {
    /// Id of the key or person; for other actors, their kind.
    pub id: String,
    /// Name at that time.
    pub name: String,
    /// Kind of actor.
    #[serde(rename = "type")]
    pub kind: ActorType,
}

/// Chat line of the history.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChatLine {
    /// Call of the modules. Null if no module was called.
    pub call_id: Option<String>,
    /// True if the name also has the rank's color.
    pub color_name_also: Option<bool>,
    /// Rises with time. Null if the network keeps no lines.
    pub id: Option<String>,
    /// Text as it was sent, or refused.
    pub message: String,
    /// Module that decided, if only one did.
    pub module: Option<String>,
    /// Text before it was rewritten.
    pub original: Option<String>,
    pub player_name: String,
    pub player_uuid: Uuid,
    /// Prefix shown before the name.
    pub rank: Option<String>,
    pub rank_bold: Option<bool>,
    pub rank_color: Option<String>,
    /// Server on which it was sent.
    pub server_id: String,
    pub server_type: Option<String>,
    pub verdict: Verdict,
    pub version: Option<i64>,
    /// World in which it was sent.
    pub world: Option<String>,
    pub at: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewReport {
    /// The reported player.
    pub player_uuid: Uuid,
    pub reason: String,
    pub reporter_uuid: Uuid,
    /// Server on which it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
}

/// A report with what the player said before.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerReport {
    pub at: i64,
    /// The reported player.
    pub player_uuid: Uuid,
    pub reason: String,
    /// Counted from 1 in the network.
    pub report_id: i64,
    /// Null for an erased player.
    pub reporter_uuid: Option<Uuid>,
    /// Staff's answer.
    pub resolution: Option<String>,
    /// Server on which it was written.
    pub server_id: Option<String>,
    pub state: ReportState,
    /// Staff member who works, or worked, on it.
    pub taken_by: Option<Actor>,
    /// The reported player's newest 50 lines when it was written, if the network keeps a chat history; until 90 days
    /// after it was closed.
    pub chat: Vec<ChatLine>,
    /// True in a list that has no room for the lines: read the report itself. Else left out.
    pub chat_omitted: Option<bool>,
}

// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use serde_json::Value;
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
    /// The reported player's newest 50 lines when it was written, if the network keeps a chat history.
    pub chat: Vec<Value>,
}

// Generated from the hub's OpenAPI document by connectors/generate.

use serde::Serialize;
use uuid::Uuid;

/// A line of chat, as it is sent to the hub and as the `CHAT` event carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessageInput {
    /// Whether the name has the rank's color, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_name_also: Option<bool>,
    pub message: String,
    pub player_name: String,
    pub player_uuid: Uuid,
    /// What is shown before the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_bold: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_color: Option<String>,
    /// The server it was said on.
    pub server_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// The world it was said in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
}

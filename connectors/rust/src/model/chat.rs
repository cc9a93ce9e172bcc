// Generated from the hub's OpenAPI document by connectors/generate.

use serde::Serialize;
use uuid::Uuid;

/// Chat message, as sent to the hub and in the `CHAT` event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessageInput {
    /// True if the name also has the rank's color.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_name_also: Option<bool>,
    pub message: String,
    pub player_name: String,
    pub player_uuid: Uuid,
    /// Prefix shown before the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_bold: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_color: Option<String>,
    /// Server on which it was sent.
    pub server_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// World in which it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
}

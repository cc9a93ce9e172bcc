// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TransferOutcome {
    /// The reason, for a person; null for a success.
    pub error_message: Option<String>,
    pub player_uuid: Uuid,
    /// `SUCCESS`: the command was handed to the server the player is on. Else one of `PLAYER_OFFLINE`,
    /// `SERVER_NOT_FOUND`, `SERVER_OFFLINE`, `SERVER_FULL`, `WORLD_NOT_FOUND`, `ALREADY_ON_SERVER`, `NOT_CONNECTED` and
    /// `FAILED`.
    pub result: String,
    pub success: bool,
    /// Under this it is reported and read.
    pub transfer_id: Uuid,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferReport {
    /// The reason, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The player who was to be sent.
    pub player_uuid: Uuid,
    /// `SUCCESS`, or an upper-case word for what went wrong, such as `FAILED`.
    pub result: String,
    pub transfer_id: Uuid,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferRequest {
    /// Who is to be sent; they must be online.
    pub player_uuid: Uuid,
    /// Where to.
    pub target_server_id: String,
    /// Into which of its worlds; absent: the server decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_world_id: Option<String>,
}

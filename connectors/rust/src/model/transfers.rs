// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TransferOutcome {
    /// Human-readable reason; null on success.
    pub error_message: Option<String>,
    pub player_uuid: Uuid,
    /// `SUCCESS`: the command was sent to the player's server. Else one of `PLAYER_OFFLINE`, `SERVER_NOT_FOUND`,
    /// `SERVER_OFFLINE`, `SERVER_FULL`, `WORLD_NOT_FOUND`, `ALREADY_ON_SERVER`, `NOT_CONNECTED` and `FAILED`.
    pub result: String,
    pub success: bool,
    /// Id for reports and reads.
    pub transfer_id: Uuid,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferReport {
    /// Human-readable reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The transferred player.
    pub player_uuid: Uuid,
    /// `SUCCESS`, or an upper-case word for the error, such as `FAILED`.
    pub result: String,
    pub transfer_id: Uuid,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferRequest {
    /// Player to transfer; must be online.
    pub player_uuid: Uuid,
    /// Target server.
    pub target_server_id: String,
    /// Target world. Default: the server decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_world_id: Option<String>,
}

// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};

use super::ProvisioningPhase;

/// The current node agent of this hub.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentVersion {
    /// The same by the key before the last rotation, for agents that were downloaded before it; null if there is none.
    pub previous_signature: Option<String>,
    /// SHA-256 of the script in hexadecimal.
    pub sha256: String,
    /// The hub's Ed25519 signature of the script in hexadecimal: over `hub agent`, a NUL and the 32 bytes of the
    /// SHA-256.
    pub signature: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthCode {
    pub server_id: String,
    /// Code to enter there.
    pub user_code: String,
    /// Address where a person signs the machine in; http or https.
    pub verify_url: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProvisioningState {
    /// `AWAITING_AUTH`, or REGISTERED without any effect if the server has already registered.
    pub phase: ProvisioningPhase,
    pub server_id: String,
}

// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};

use super::ProvisioningPhase;

/// Which node agent this hub hands out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentVersion {
    /// The script's SHA-256 in hexadecimal.
    pub sha256: String,
    /// The hub's Ed25519 signature of the script, in hexadecimal: over `hub agent`, a NUL and the 32 bytes of the
    /// SHA-256.
    pub signature: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthCode {
    pub server_id: String,
    /// What they have to enter there.
    pub user_code: String,
    /// Where somebody lets the machine in; an http or https address.
    pub verify_url: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProvisioningState {
    /// `AWAITING_AUTH`, or REGISTERED where nothing was noted because the server is in.
    pub phase: ProvisioningPhase,
    pub server_id: String,
}

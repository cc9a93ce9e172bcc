//! The node agent that this hub serves: one Python file, part of the binary.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Agent;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::secrets::signing_key;
use crate::values::hex;

/// One file for downloads, several in the source.
const SCRIPT: &str = concat!(
    include_str!("../../../server/agent/parts/0_head.py"),
    include_str!("../../../server/agent/parts/1_hub.py"),
    include_str!("../../../server/agent/parts/2_output.py"),
    include_str!("../../../server/agent/parts/3_memory.py"),
    include_str!("../../../server/agent/parts/4_server.py"),
    include_str!("../../../server/agent/parts/5_container.py"),
    include_str!("../../../server/agent/parts/6_logins.py"),
    include_str!("../../../server/agent/parts/6_websocket.py"),
    include_str!("../../../server/agent/parts/7_management.py"),
    include_str!("../../../server/agent/parts/7_plugins.py"),
    include_str!("../../../server/agent/parts/7_properties.py"),
    include_str!("../../../server/agent/parts/7_signature.py"),
    include_str!("../../../server/agent/parts/7_stream.py"),
    include_str!("../../../server/agent/parts/7_vanilla.py"),
    include_str!("../../../server/agent/parts/7_vanilla_rules.py"),
    include_str!("../../../server/agent/parts/8_agent.py"),
    include_str!("../../../server/agent/parts/9_main.py"),
);

/// Line of the script for the public key of its hub.
const NO_KEY: &str = "SIGNED_BY = \"\"";

/// The signed node agent of this hub.
#[derive(Debug)]
pub struct SignedAgent {
    /// A Python program. It has the hub's public key and runs only newer versions signed with it.
    pub script: String,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
    /// The Ed25519 signature over `hub agent`, a NUL and the SHA-256, in hexadecimal.
    pub signature: String,
    /// The same by the key before the last rotation.
    pub previous_signature: Option<String>,
}

/// The node agent.
///
/// # Errors
/// Fails if the database with the key is unreachable.
pub async fn signed_agent(app: &App) -> Result<SignedAgent, ApiError> {
    let seeds = signing_key(app, "agent").await?.sign_with_all(b"seed of Ed25519");
    let keys = seeds.iter().map(|seed| Ed25519KeyPair::from_seed_unchecked(seed));
    let keys: Vec<_> = keys.collect::<Result<_, _>>().map_err(|error| ApiError::internal(BadSeed(error)))?;
    let public = keys.first().map_or(String::new(), |key| hex(key.public_key().as_ref()));
    let script = SCRIPT.replacen(NO_KEY, &format!("SIGNED_BY = \"{public}\""), 1);
    let sha256 = Sha256::digest(&script);
    let message = [b"hub agent\0", &sha256[..]].concat();
    let mut signatures = keys.iter().map(|key| hex(key.sign(&message).as_ref()));
    let signature = signatures.next().unwrap_or_default();
    Ok(SignedAgent { sha256: hex(&sha256), signature, previous_signature: signatures.next(), script })
}

#[derive(Debug, thiserror::Error)]
#[error("could not sign the agent: {0}")]
struct BadSeed(ring::error::KeyRejected);

pub(super) fn router() -> Endpoints {
    endpoints![agent_script, agent_version]
}

/// Download the node agent
///
/// One file for Python 3.9 or newer without dependencies. It runs a server as a child process or a container, executes
/// the commands of this hub, and replaces itself when `agent-version` changes, only by a script with this hub's
/// signature.
#[utoipa::path(get, path = "/api/plugin/provisioning/agent-script", tag = "Provisioning", operation_id = "get_agent_script",
    security(("apiKey" = ["agent", "plugin"])),
    responses((status = 200, description = "The script", content_type = "text/x-python", body = String)))]
async fn agent_script(_: Agent, State(app): State<App>) -> Result<impl IntoResponse, ApiError> {
    let agent = signed_agent(&app).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/x-python; charset=utf-8".to_owned()),
        (header::ETAG, format!("\"{}\"", agent.sha256)),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    Ok((headers, agent.script))
}

/// The current node agent of this hub.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AgentVersion {
    /// SHA-256 of the script in hexadecimal.
    #[schema(example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    sha256: String,
    /// The hub's Ed25519 signature of the script in hexadecimal: over `hub agent`, a NUL and the 32 bytes of the
    /// SHA-256.
    #[schema(
        example = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )]
    signature: String,
    /// The same by the key before the last rotation, for agents that were downloaded before it; null if there is none.
    #[schema(example = json!(null))]
    previous_signature: Option<String>,
}

/// Get the current node agent's version
///
/// Agents poll this and update themselves when it changes.
#[utoipa::path(get, path = "/api/plugin/provisioning/agent-version", tag = "Provisioning", operation_id = "get_agent_version",
    security(("apiKey" = ["agent", "plugin"])), responses((status = 200, body = AgentVersion)))]
async fn agent_version(_: Agent, State(app): State<App>) -> Result<Json<AgentVersion>, ApiError> {
    let SignedAgent { sha256, signature, previous_signature, .. } = signed_agent(&app).await?;
    Ok(Json(AgentVersion { sha256, signature, previous_signature }))
}

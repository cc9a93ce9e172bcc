//! The node agent that this hub hands out: one Python file, part of the binary.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::auth::Agent;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::extract::Json;
use crate::values::hex;

/// One file for whoever downloads it, several for whoever reads it here.
const SCRIPT: &str = concat!(
    include_str!("../../agent/parts/0_head.py"),
    include_str!("../../agent/parts/1_hub.py"),
    include_str!("../../agent/parts/2_output.py"),
    include_str!("../../agent/parts/3_memory.py"),
    include_str!("../../agent/parts/4_server.py"),
    include_str!("../../agent/parts/5_container.py"),
    include_str!("../../agent/parts/6_logins.py"),
    include_str!("../../agent/parts/7_plugins.py"),
    include_str!("../../agent/parts/8_agent.py"),
    include_str!("../../agent/parts/9_main.py"),
);

/// The node agent, a Python program.
pub fn script() -> &'static str {
    SCRIPT
}

static SHA256: LazyLock<String> = LazyLock::new(|| hex(&Sha256::digest(SCRIPT)));

pub(super) fn router() -> Endpoints {
    endpoints![agent_script, agent_version]
}

/// Download the node agent
///
/// One file for Python 3.9 or newer, with nothing else to install. It runs a server as a child process or a container,
/// does what it is told through this hub, and replaces itself when `agent-version` changes.
#[utoipa::path(get, path = "/api/plugin/provisioning/agent-script", tag = "Provisioning",
    security(("apiKey" = ["agent", "plugin"])),
    responses((status = 200, description = "The script", content_type = "text/x-python", body = String)))]
async fn agent_script(_: Agent) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/x-python; charset=utf-8".to_owned()),
        (header::ETAG, format!("\"{}\"", *SHA256)),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    (headers, SCRIPT)
}

/// Which node agent this hub hands out.
#[derive(Debug, Serialize, ToSchema)]
struct AgentVersion {
    /// The script's SHA-256 in hexadecimal.
    #[schema(value_type = String, example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    sha256: &'static str,
}

/// Read which node agent is current
///
/// Agents look here now and then and update themselves when it changed.
#[utoipa::path(get, path = "/api/plugin/provisioning/agent-version", tag = "Provisioning",
    security(("apiKey" = ["agent", "plugin"])), responses((status = 200, body = AgentVersion)))]
async fn agent_version(_: Agent) -> Json<AgentVersion> {
    Json(AgentVersion { sha256: &SHA256 })
}

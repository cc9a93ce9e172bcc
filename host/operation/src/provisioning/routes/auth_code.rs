//! Device codes of machines that are being provisioned.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Agent;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::presence::provisioned::{self, Phase, WebAddress};
use crate::values::Identifier;

pub(super) fn router() -> Endpoints {
    endpoints![auth_code]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AuthCode {
    #[schema(example = "bedwars-9")]
    server_id: Identifier,
    /// Address where a person signs the machine in; http or https.
    #[schema(value_type = String, max_length = 2048, pattern = "^https?://[A-Za-z0-9][!-~]*$",
        example = "https://accounts.example/device")]
    verify_url: WebAddress,
    /// Code to enter there.
    #[schema(example = "WDJB-MJHT")]
    user_code: Identifier,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProvisioningState)]
struct AuthCodeNoted {
    #[schema(example = "bedwars-9")]
    server_id: Identifier,
    /// `AWAITING_AUTH`, or REGISTERED without any effect if the server has already registered.
    phase: Phase,
}

/// Report a device code
///
/// For a machine that is being provisioned and waits for a person to open the address and enter the code; the owner
/// reads both at `/api/manage/provisioning/servers`. The latest values count. No effect once the server has registered.
/// An unknown server appears in the registry with the status PROVISIONING.
#[utoipa::path(post, path = "/api/plugin/provisioning/auth-code", operation_id = "report_auth_code",
    tag = "Provisioning", security(("apiKey" = ["agent", "plugin"])),
    responses((status = 201, body = AuthCodeNoted, description = "Recorded")))]
async fn auth_code(
    Agent(caller): Agent,
    State(app): State<App>,
    Json(body): Json<AuthCode>,
) -> Result<(StatusCode, Json<AuthCodeNoted>), ApiError> {
    let AuthCode { server_id, verify_url, user_code } = body;
    let code = user_code.into_string();
    let phase = provisioned::await_auth(&app, caller.network, &server_id, verify_url, code).await?;
    Ok((StatusCode::CREATED, Json(AuthCodeNoted { server_id, phase })))
}

//! `/api/manage/signing-secret`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{NetworkManage, Unbound};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::http::overlap::overlap;
use crate::secret_text::SecretText;
use crate::signing_secret::service;

/// Routes of the signing secret.
pub(super) fn router() -> Endpoints {
    endpoints![rotate_signing_secret: transactional secret]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SigningSecretRotation)]
struct RotateSigningSecret {
    /// Milliseconds for which the old secret stays valid; absent or null: 0.
    #[schema(minimum = 0, maximum = 2_592_000_000_i64, example = 60000)]
    overlap_ms: Option<Millis>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewSigningSecret)]
struct RotatedSigningSecret {
    /// New secret that signs transfers.
    #[schema(value_type = String)]
    signing_secret: SecretText,
    /// Time until which the old secret is valid.
    #[schema(example = 1_804_680_060_000_i64)]
    valid_until: Millis,
}

/// Replace the signing secret
///
/// Transfers are signed with the new secret from now on, and for `overlapMs` also with the old one: a signature then
/// contains both, separated by a space. Connectors learn the new one by the event `SIGNING_SECRET_ROTATED`, if their
/// stream names it in `types`, and when they register. Only one previous secret is kept: another rotation ends the
/// overlap of the older one. A key that expires, or is bound to servers or addresses, is refused (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/manage/signing-secret/rotate", tag = "Keys",
    security(("apiKey" = ["network:manage"])), responses((status = 201, body = RotatedSigningSecret)))]
async fn rotate_signing_secret(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Json(body): Json<RotateSigningSecret>,
) -> Result<(StatusCode, Json<RotatedSigningSecret>), ApiError> {
    let overlap = overlap(body.overlap_ms, 0)?;
    let (signing_secret, valid_until) = service::rotate(&app, caller.network, &caller.origin(&app), overlap).await?;
    Ok((StatusCode::CREATED, Json(RotatedSigningSecret { signing_secret, valid_until })))
}

//! `/api/manage/secrets`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::service;
use super::store::SecretRow;
use crate::app::App;
use crate::auth::{NetworkManage, Unbound};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};

/// Longest value.
const MAX_VALUE: usize = 4_096;
/// Longest time for which a replaced value is good: 7 days.
const MAX_OVERLAP_MS: Millis = 7 * 24 * 60 * 60 * 1_000;

/// Routes of this part.
pub(in crate::modules) fn router() -> Endpoints {
    endpoints![list, put, delete]
}

/// A secret, without its value.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModuleSecret)]
struct Secret {
    #[schema(example = "TEBEX")]
    name: String,
    /// Time of its newest value.
    #[schema(example = 1_804_680_000_000_i64)]
    set_at: Millis,
    /// Time until which a value before is good; null without one.
    #[schema(example = 1_804_683_600_000_i64)]
    previous_until: Option<Millis>,
    /// Time of the last request that was signed with it; null without one.
    #[schema(example = 1_804_682_400_000_i64)]
    last_used_at: Option<Millis>,
}

/// The network's secrets.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModuleSecrets)]
struct Secrets {
    /// By name.
    secrets: Vec<Secret>,
}

/// List secrets
///
/// Their names, never their values.
#[utoipa::path(get, path = "/api/manage/secrets", operation_id = "list_secrets", tag = "Secrets",
    security(("apiKey" = ["network:manage"])), responses((status = 200, body = Secrets)))]
async fn list(NetworkManage(caller): NetworkManage, State(app): State<App>) -> Result<Json<Secrets>, ApiError> {
    let now = app.clock.now();
    let shown = |row: SecretRow| Secret {
        name: row.name,
        set_at: row.set_at,
        previous_until: row.previous_until.filter(|until| now < *until),
        last_used_at: row.last_used_at,
    };
    let rows = service::list(&app, caller.network).await?;
    Ok(Json(Secrets { secrets: rows.into_iter().map(shown).collect() }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecretValue)]
struct PutSecret {
    /// 1 to 4,096 bytes.
    #[schema(max_length = 4096, example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    value: String,
    /// Time for which the value before is good, too: at most 7 days. Without it all values before end at once.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 604_800_000, example = 3_600_000)]
    overlap_ms: Option<Millis>,
}

fn check_name(name: &str) -> Result<(), ApiError> {
    let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    Err(ApiError::invalid("In the path, `name`: must have 1 to 64 of A-Z, 0-9 and _."))
}

/// Set a secret
///
/// Signatures of requests to the network's own routes are checked with it. It is never shown again, and no module sees it.
#[utoipa::path(put, path = "/api/manage/secrets/{name}", operation_id = "put_secret", tag = "Secrets",
    security(("apiKey" = ["network:manage"])), params(("name" = String, Path, example = "TEBEX")),
    responses((status = 204, description = "Set")))]
async fn put(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Path(name): Path<String>,
    Json(body): Json<PutSecret>,
) -> Result<StatusCode, ApiError> {
    check_name(&name)?;
    if !(1..=MAX_VALUE).contains(&body.value.len()) {
        return Err(ApiError::invalid(format!("In the body, `value`: must have 1 to {MAX_VALUE} bytes.")));
    }
    let overlap_ms = body.overlap_ms.unwrap_or(0);
    if !(0..=MAX_OVERLAP_MS).contains(&overlap_ms) {
        return Err(ApiError::invalid(format!("In the body, `overlapMs`: must be 0 to {MAX_OVERLAP_MS}.")));
    }
    service::put(&app, caller.network, &name, &body.value, overlap_ms, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Delete a secret
///
/// 409 `in_use` while an active module names it.
#[utoipa::path(delete, path = "/api/manage/secrets/{name}", operation_id = "delete_secret", tag = "Secrets",
    security(("apiKey" = ["network:manage"])), params(("name" = String, Path, example = "TEBEX")),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such secret"),
        (status = 409, body = ErrorBody, description = "An active module names it")))]
async fn delete(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::delete(&app, caller.network, &name, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

//! `/api/manage/keys`: owners manage their own keys.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{KeyId, KeyRow, NetworkManage, Scope, Scopes};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::networks::service::{self, MintedKey, NewKey};
use crate::values::Identifier;

/// The routes of keys.
pub(super) fn router() -> Endpoints {
    endpoints![list, create: transactional secret, roll: transactional secret, revoke]
}

/// A key as lists show it; its secret is not kept.
#[allow(clippy::struct_field_names, reason = "the wire calls it keyId")]
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Key {
    #[schema(value_type = String, example = "4fTq0ZkX91ab")]
    key_id: KeyId,
    #[schema(example = "lobby servers")]
    name: String,
    scopes: Vec<Scope>,
    created_at: Millis,
    /// When it was last used; written down within some seconds.
    last_used_at: Option<Millis>,
    /// When it ends by itself; null is never.
    expires_at: Option<Millis>,
}

impl From<KeyRow> for Key {
    fn from(row: KeyRow) -> Self {
        Self {
            key_id: row.key_id,
            name: row.name,
            scopes: Scopes::from_text(&row.scopes).iter().collect(),
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            expires_at: row.expires_at,
        }
    }
}

/// A key with its text, which is shown this once.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NewKey)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreatedKey {
    #[schema(value_type = String, example = "4fTq0ZkX91ab")]
    key_id: KeyId,
    /// What goes into `X-Service-Api-Key`. The hub keeps only a hash of it.
    #[schema(example = "hub_4fTq0ZkX91ab_…")]
    api_key: String,
    name: String,
    scopes: Vec<Scope>,
    expires_at: Option<Millis>,
}

impl From<MintedKey> for CreatedKey {
    fn from(key: MintedKey) -> Self {
        let scopes = key.scopes.iter().collect();
        Self { key_id: key.id, api_key: key.text, name: key.name, scopes, expires_at: key.expires_at }
    }
}

/// List the network's keys
///
/// Live keys only, oldest first: a revoked key is gone from the list.
#[utoipa::path(get, path = "/api/manage/keys", operation_id = "list_keys", tag = "Keys",
    security(("apiKey" = ["network:manage"])),
    params(PageQuery), responses((status = 200, body = Page<Key>)))]
async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<Key>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::list_keys(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(Key::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateKey {
    /// What you call it.
    #[schema(example = "lobby servers")]
    name: Identifier,
    /// What it may do; at least one, and none that the calling key lacks.
    #[schema(min_items = 1)]
    scopes: Vec<Scope>,
    /// When it ends by itself, in the future; absent or null: never.
    expires_at: Option<Millis>,
}

impl CreateKey {
    /// The key to create, if it can be one.
    pub(super) fn into_new_key(self, now: Millis) -> Result<NewKey, ApiError> {
        if self.scopes.is_empty() {
            return Err(ApiError::invalid("In the body, `scopes`: a key needs at least one."));
        }
        if self.expires_at.is_some_and(|at| at <= now) {
            return Err(ApiError::invalid("In the body, `expiresAt`: must be in the future."));
        }
        let scopes = self.scopes.into_iter().collect();
        Ok(NewKey { name: self.name.into_string(), scopes, expires_at: self.expires_at })
    }
}

/// Create a key
///
/// The answer is the only time the key's text is seen. A key cannot hand out scopes it does not have (403).
#[utoipa::path(post, path = "/api/manage/keys", operation_id = "create_key", tag = "Keys",
    security(("apiKey" = ["network:manage"])),
    responses((status = 201, body = CreatedKey)))]
async fn create(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Json(body): Json<CreateKey>,
) -> Result<(StatusCode, Json<CreatedKey>), ApiError> {
    let new = body.into_new_key(app.clock.now())?;
    let key = service::create_key_for(&app, caller.network, caller.scopes, new).await?;
    Ok((StatusCode::CREATED, Json(key.into())))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RollKey {
    /// How long the old secret stays good beside the new one, in milliseconds; absent or null: not at all.
    #[schema(minimum = 0, example = 60000)]
    overlap_ms: Option<Millis>,
}

/// Give a key a new secret
///
/// Its id, name, scopes and expiry stay. The old secret works for `overlapMs` more, so that servers can be
/// moved over one by one. A key that may do more than the calling one cannot be rolled with it (403).
#[utoipa::path(post, path = "/api/manage/keys/{keyId}/roll", operation_id = "roll_key", tag = "Keys",
    security(("apiKey" = ["network:manage"])), params(("keyId" = String, Path)),
    responses((status = 201, body = CreatedKey), (status = 404, body = ErrorBody, description = "No such key")))]
async fn roll(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<KeyId>,
    Json(body): Json<RollKey>,
) -> Result<(StatusCode, Json<CreatedKey>), ApiError> {
    let overlap = body.overlap_ms.unwrap_or(0);
    if overlap < 0 {
        return Err(ApiError::invalid("In the body, `overlapMs`: must be 0 or more."));
    }
    let key = service::roll_key(&app, caller.network, caller.scopes, &id, overlap).await?;
    Ok((StatusCode::CREATED, Json(key.into())))
}

/// Revoke a key
///
/// In effect everywhere within a second. A key may revoke itself.
#[utoipa::path(delete, path = "/api/manage/keys/{keyId}", operation_id = "revoke_key", tag = "Keys",
    security(("apiKey" = ["network:manage"])),
    params(("keyId" = String, Path)),
    responses((status = 204, description = "Revoked"), (status = 404, body = ErrorBody, description = "No such key")))]
async fn revoke(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<KeyId>,
) -> Result<StatusCode, ApiError> {
    service::revoke_key(&app, caller.network, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

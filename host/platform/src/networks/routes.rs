//! `/api/manage/keys`: owners manage their own keys.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{AddressRange, Bindings, KeyId, KeyRow, NetworkManage, Scope, Scopes};
use crate::clock::Millis;
use crate::component::Left;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::overlap::overlap;
use crate::http::page::{Page, PageQuery};
use crate::networks::service::{self, MintedKey, NewKey};
use crate::secret_text::SecretText;
use crate::values::Identifier;

/// Routes of keys.
pub(super) fn router() -> Endpoints {
    endpoints![list, create: transactional secret, roll: transactional secret, revoke]
}

/// A key in lists; its secret is not stored.
#[allow(clippy::struct_field_names, reason = "the wire calls it keyId")]
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub(super) struct Key {
    #[schema(value_type = String, example = "4fTq0ZkX91ab")]
    key_id: KeyId,
    #[schema(example = "lobby servers")]
    name: String,
    scopes: Vec<Scope>,
    created_at: Millis,
    /// Key or person that created it; null if unknown.
    #[schema(example = "4fTq0ZkX91ab")]
    created_by: Option<String>,
    /// Time of its last use, recorded with some seconds' delay.
    last_used_at: Option<Millis>,
    /// Expiry; null is never.
    expires_at: Option<Millis>,
    /// Servers it is bound to; null is any.
    servers: Option<Vec<Identifier>>,
    /// Addresses it may be used from; null is any.
    #[schema(value_type = Option<Vec<String>>, example = json!(["203.0.113.0/24"]))]
    addresses: Option<Vec<AddressRange>>,
}

impl From<KeyRow> for Key {
    fn from(row: KeyRow) -> Self {
        let Bindings { servers, addresses } = row.bindings();
        Self {
            key_id: row.key_id,
            name: row.name,
            scopes: Scopes::from_text(&row.scopes).iter().collect(),
            created_at: row.created_at,
            created_by: row.created_by,
            last_used_at: row.last_used_at,
            expires_at: row.expires_at,
            servers,
            addresses,
        }
    }
}

/// A key with its text, which is shown only once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewApiKey)]
pub(super) struct CreatedKey {
    #[schema(value_type = String, example = "4fTq0ZkX91ab")]
    key_id: KeyId,
    /// Value of the header `X-Service-Api-Key`. The hub stores only its hash.
    #[schema(value_type = String, example = "hub_4fTq0ZkX91ab_…")]
    api_key: SecretText,
    name: String,
    scopes: Vec<Scope>,
    expires_at: Option<Millis>,
    servers: Option<Vec<Identifier>>,
    #[schema(value_type = Option<Vec<String>>, example = json!(["203.0.113.0/24"]))]
    addresses: Option<Vec<AddressRange>>,
}

impl From<MintedKey> for CreatedKey {
    fn from(key: MintedKey) -> Self {
        let (scopes, Bindings { servers, addresses }) = (key.scopes.iter().collect(), key.bindings);
        let MintedKey { id: key_id, text: api_key, name, expires_at, .. } = key;
        Self { key_id, api_key, name, scopes, expires_at, servers, addresses }
    }
}

/// List the network's keys
///
/// Live keys only, oldest first: revoked keys are not listed.
#[utoipa::path(get, path = "/api/manage/keys", operation_id = "list_keys", tag = "Keys",
    security(("apiKey" = ["network:manage"])),
    params(PageQuery), responses((status = 200, body = Page<Key>)))]
async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<Key>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::list_keys(&app.db, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(Key::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKeyRequest)]
pub(super) struct CreateKey {
    /// Display name.
    #[schema(example = "lobby servers")]
    name: Identifier,
    /// At least one scope, all among those of the calling key.
    #[schema(min_items = 1)]
    scopes: Vec<Scope>,
    /// Expiry, in the future and not after that of the calling key; absent or null: never.
    expires_at: Option<Millis>,
    /// Servers the key is bound to: its requests name one of them or none, and it opens streams only as one of them.
    /// Absent or null: those of the calling key.
    #[schema(min_items = 1, max_items = 100, example = json!(["bedwars-1"]))]
    servers: Option<Vec<Identifier>>,
    /// Addresses it may be used from, as ranges in CIDR notation. Absent or null: those of the calling key.
    #[schema(value_type = Option<Vec<String>>, min_items = 1, max_items = 100, example = json!(["203.0.113.0/24"]))]
    addresses: Option<Vec<AddressRange>>,
}

/// Refuses an empty list, which would bind a key to nothing, and a long one.
fn check_length<T>(name: &str, list: Option<&Vec<T>>) -> Result<(), ApiError> {
    if list.is_none_or(|list| (1..=Bindings::MAX).contains(&list.len())) {
        return Ok(());
    }
    let max = Bindings::MAX;
    Err(ApiError::invalid(format!("In the body, `{name}`: must have 1 to {max} entries, or be absent.")))
}

impl CreateKey {
    /// Validated key to create.
    pub(super) fn into_new_key(self, now: Millis) -> Result<NewKey, ApiError> {
        if self.scopes.is_empty() {
            return Err(ApiError::invalid("In the body, `scopes`: at least one is required."));
        }
        if self.expires_at.is_some_and(|at| at <= now) {
            return Err(ApiError::invalid("In the body, `expiresAt`: must be in the future."));
        }
        check_length("servers", self.servers.as_ref())?;
        check_length("addresses", self.addresses.as_ref())?;
        let (name, scopes) = (self.name.into_string(), self.scopes.into_iter().collect());
        let bindings = Bindings { servers: self.servers, addresses: self.addresses };
        Ok(NewKey { name, scopes, expires_at: self.expires_at, bindings })
    }
}

/// Create a key
///
/// The key's text is shown only in this answer. A key can neither grant scopes that it lacks nor create a key that
/// outlives it (403 `forbidden_scope`), nor one for servers or addresses outside its own (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/manage/keys", operation_id = "create_key", tag = "Keys",
    security(("apiKey" = ["network:manage"])),
    responses((status = 201, body = CreatedKey)))]
async fn create(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Json(body): Json<CreateKey>,
) -> Result<(StatusCode, Json<CreatedKey>), ApiError> {
    let new = body.into_new_key(app.clock.now())?;
    let key = service::create_key_for(&app, &caller, new).await?;
    Ok((StatusCode::CREATED, Json(key.into())))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKeyRotation)]
struct RollKey {
    /// Milliseconds for which the old secret stays valid; absent or null: 0.
    #[schema(minimum = 0, maximum = 2_592_000_000_i64, example = 60000)]
    overlap_ms: Option<Millis>,
}

/// Rotate a key's secret
///
/// Only the secret changes. The old one stays valid for `overlapMs`, so that servers can be switched over one by one. A
/// key with more scopes than the calling one, or a later expiry, is refused (403).
#[utoipa::path(post, path = "/api/manage/keys/{keyId}/roll", operation_id = "rotate_key", tag = "Keys",
    security(("apiKey" = ["network:manage"])), params(("keyId" = String, Path)),
    responses((status = 201, body = CreatedKey), (status = 404, body = ErrorBody, description = "No such key")))]
async fn roll(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<KeyId>,
    Json(body): Json<RollKey>,
) -> Result<(StatusCode, Json<CreatedKey>), ApiError> {
    let overlap = overlap(body.overlap_ms, 0)?;
    let key = service::roll_key(&app, &caller, &id, overlap).await?;
    Ok((StatusCode::CREATED, Json(key.into())))
}

/// Revoke a key
///
/// In effect everywhere within a second. A key may revoke itself, but no key with more scopes or a later expiry (403).
/// The answer lists what the key created and left behind, if anything: keys, among them those whose secret it replaced last,
/// and by them others, webhooks, invitations, modules, roles. Invitations end with it, and with `revoke` its keys and webhooks.
#[utoipa::path(delete, path = "/api/manage/keys/{keyId}", operation_id = "revoke_key", tag = "Keys",
    security(("apiKey" = ["network:manage"])),
    params(("keyId" = String, Path), RevokeQuery),
    responses((status = 200, body = LeftBehind, description = "Revoked; it left these"),
        (status = 204, description = "Revoked; it left nothing"), (status = 404, body = ErrorBody, description = "No such key")))]
async fn revoke(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<KeyId>,
    Query(query): Query<RevokeQuery>,
) -> Result<Response, ApiError> {
    Ok(LeftBehind::answer(service::revoke_key_for(&app, &caller, &id, query.revoke.unwrap_or(false)).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RevokeQuery {
    /// Also end what the key created: keys, webhooks and what its keys created; likewise keys that it rotated last and webhooks
    /// that it gave their URL. Default: false.
    #[param(required = false, example = false)]
    pub(super) revoke: Option<bool>,
}

/// Resources that a removed key or person created and left behind.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeftBehind {
    left: Vec<Left>,
}

impl LeftBehind {
    /// 200 with the list, or 204 if it is empty.
    pub fn answer(left: Vec<Left>) -> Response {
        if left.is_empty() {
            return StatusCode::NO_CONTENT.into_response();
        }
        Json(Self { left }).into_response()
    }
}

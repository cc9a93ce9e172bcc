//! Bundles: stored by owners, fetched by machines.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Agent, NetworkManage, Scope, Unbound};
use crate::blobs::{BLOB_LIMIT, Bytes, Upload, Validator};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::provisioning::bundles;
use crate::provisioning::store::Bundle;
use crate::values::Identifier;

pub(super) fn router() -> Endpoints {
    endpoints![put, list, delete, download]
}

/// Boot bundle of a server type.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Bundle)]
struct BundleBody {
    #[schema(example = "bedwars")]
    server_type: Identifier,
    /// SHA-256 of its bytes.
    #[schema(example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    sha256: String,
    #[schema(example = 48213)]
    size_bytes: i64,
    /// Time of the upload.
    #[schema(example = 1804680000000_i64)]
    updated_at: Millis,
}

impl From<Bundle> for BundleBody {
    fn from(bundle: Bundle) -> Self {
        Self {
            server_type: bundle.server_type,
            sha256: bundle.sha256,
            size_bytes: bundle.size_bytes,
            updated_at: bundle.updated_at,
        }
    }
}

/// Store a bundle
///
/// The bytes that machines of this server type fetch at boot, up to 512 MiB, opaque to the hub. Replaces the existing
/// bundle; downloads in progress of the previous one complete. Machines run it: the key also needs the scope
/// `servers:control`.
#[utoipa::path(put, path = "/api/manage/provisioning/bundles/{serverType}", operation_id = "put_bundle",
    tag = "Provisioning", security(("apiKey" = ["network:manage"])), params(("serverType" = Identifier, Path)),
    request_body(content = Bytes, content_type = "application/octet-stream", description = "The bundle's bytes"),
    responses((status = 200, body = BundleBody),
        (status = 503, body = ErrorBody, description = "The hub's storage is full")))]
async fn put(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Path(server_type): Path<Identifier>,
    upload: Upload<BLOB_LIMIT>,
) -> Result<Json<BundleBody>, ApiError> {
    caller.require(&[Scope::ServersControl])?;
    Ok(Json(bundles::put(&app, caller.network, server_type, upload, caller.origin(&app)).await?.into()))
}

/// List the bundles
///
/// Sorted by server type.
#[utoipa::path(get, path = "/api/manage/provisioning/bundles", operation_id = "list_bundles", tag = "Provisioning",
    security(("apiKey" = ["network:manage"])), params(PageQuery), responses((status = 200, body = Page<BundleBody>)))]
async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<BundleBody>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = bundles::list(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(BundleBody::from)))
}

/// Delete a bundle
#[utoipa::path(delete, path = "/api/manage/provisioning/bundles/{serverType}", operation_id = "delete_bundle",
    tag = "Provisioning", security(("apiKey" = ["network:manage"])), params(("serverType" = Identifier, Path)),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such bundle")))]
async fn delete(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(server_type): Path<Identifier>,
) -> Result<StatusCode, ApiError> {
    bundles::delete(&app, caller.network, server_type, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Fetch the bundle of a server type
///
/// For machines at boot. Its `ETag` is the SHA-256 of the bytes; a machine that already has them gets 304.
#[utoipa::path(get, path = "/api/plugin/provisioning/agent/{serverType}", operation_id = "fetch_bundle",
    tag = "Provisioning", security(("apiKey" = ["agent", "plugin"])),
    params(("serverType" = Identifier, Path)),
    responses((status = 200, body = Bytes, content_type = "application/octet-stream", description = "The bundle"),
        (status = 304, description = "Unchanged: `If-None-Match` is its `ETag`"),
        (status = 404, body = ErrorBody, description = "No bundle for this server type")))]
async fn download(
    Agent(caller): Agent,
    State(app): State<App>,
    Path(server_type): Path<Identifier>,
    has: Validator,
) -> Result<Response, ApiError> {
    Ok(bundles::send(&app, caller.network, server_type, &has).await?)
}

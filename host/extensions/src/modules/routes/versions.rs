//! Uploads and their versions.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use hub_sandbox::contract::Point;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{ModulesRead, ModulesWrite, Unbound};
use crate::blobs::Bytes;
use crate::clock::Millis;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query, at_most, read_large};
use crate::http::page::{Limit, Page, PageNumber};
use crate::modules::model::{ModuleRow, ModuleState};
use crate::modules::service::ModulesError;
use crate::modules::service::uploads::{self as service, Uploaded};

/// Maximum size of a module in bytes.
const MODULE_LIMIT: usize = 64 * 1024 * 1024;

/// A version of a module. It never changes once it is READY.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Module {
    #[schema(example = "region-first")]
    name: String,
    /// Counts from 1 per name and is never reused.
    #[schema(example = 1)]
    version: i64,
    /// SHA-256 of the uploaded bytes.
    #[schema(example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    sha256: String,
    #[schema(example = 48213)]
    size_bytes: i64,
    /// Extension points it serves; empty until it is READY.
    #[schema(value_type = Vec<String>, example = json!(["matchmaking"]))]
    points: Vec<Point>,
    /// Version of the contract it was written against; null until it is READY.
    #[schema(example = "1.0.0")]
    world_version: Option<String>,
    /// List of what it handles and needs, as its build wrote it; null for a module without a manifest.
    #[schema(value_type = Option<Object>)]
    manifest: Option<Box<RawValue>>,
    state: ModuleState,
    /// Reason for the rejection, for the author; null otherwise.
    reason: Option<String>,
    created_at: Millis,
    /// Key or person that uploaded it.
    #[schema(example = "4fTq0ZkX91ab")]
    created_by: Option<String>,
}

impl From<ModuleRow> for Module {
    fn from(row: ModuleRow) -> Self {
        Self {
            name: row.name,
            version: row.version,
            sha256: row.sha256,
            size_bytes: row.size_bytes,
            points: row.points.0,
            world_version: row.world_version,
            manifest: row.manifest.and_then(|text| RawValue::from_string(text).ok()),
            state: row.state,
            reason: row.reason,
            created_at: row.created_at,
            created_by: row.created_by,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct UploadQuery {
    /// 1 to 64 of a-z, 0-9 and -, beginning with a letter.
    #[param(required = true, example = "region-first", pattern = "^[a-z][a-z0-9-]{0,63}$")]
    name: Option<String>,
}

/// Upload a module
///
/// The body is a WebAssembly component, or a core module that carries its component type, up to 64 MiB. The answer
/// comes after it was compiled and tried: 201 for a new version, 200 with the existing version for known bytes, 400
/// `invalid_module` with the reason for an invalid module. After 20 seconds of compiling it is 202 with the state
/// COMPILING, which later becomes READY or REJECTED. Uploads of one network are prepared one after the other; while
/// four are in progress, the next one waits, and gets 429 after 20 seconds.
#[utoipa::path(post, path = "/api/manage/modules", operation_id = "upload_module", tag = "Modules",
    security(("apiKey" = ["modules:write"])), params(UploadQuery),
    request_body(content = Bytes, content_type = "application/wasm", description = "The module's bytes"),
    responses((status = 201, body = Module, description = "A new version, READY"),
        (status = 200, body = Module, description = "The same bytes already exist as this version"),
        (status = 202, body = Module, description = "Still compiling; read it again")))]
pub(super) async fn upload(
    Unbound(caller, ..): Unbound<ModulesWrite>,
    State(app): State<App>,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> Result<(StatusCode, Json<Module>), ApiError> {
    let name = query.name.unwrap_or_default().parse().map_err(ModulesError::InvalidName)?;
    // Refused or delayed before the body is read: it may be large, and there may be many.
    at_most(&request, MODULE_LIMIT)?;
    let permit = service::permit(&app, caller.network).await?;
    let bytes = read_large(request, MODULE_LIMIT).await?;
    let (status, row) =
        match service::upload(&app, caller.network, name, bytes.into(), permit, &caller.origin(&app)).await? {
            Uploaded::New(row) => (StatusCode::CREATED, row),
            Uploaded::Known(row) => (StatusCode::OK, row),
            Uploaded::Compiling(row) => (StatusCode::ACCEPTED, row),
        };
    Ok((status, Json(row.into())))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
}

/// List the network's modules
///
/// The newest version of each, sorted by name.
#[utoipa::path(get, path = "/api/manage/modules", operation_id = "list_modules", tag = "Modules",
    security(("apiKey" = ["modules:read"])), params(ListQuery), responses((status = 200, body = Page<Module>)))]
pub(super) async fn list(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Module>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::list(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(Module::from)))
}

/// List a module's versions
///
/// Newest first.
#[utoipa::path(get, path = "/api/manage/modules/{name}", operation_id = "list_module_versions", tag = "Modules",
    security(("apiKey" = ["modules:read"])), params(("name" = String, Path), ListQuery),
    responses((status = 200, body = Page<Module>), (status = 404, body = ErrorBody, description = "No such module")))]
pub(super) async fn list_versions(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Module>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::versions(&app, caller.network, &name, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(Module::from)))
}

/// Get a version of a module
#[utoipa::path(get, path = "/api/manage/modules/{name}/{version}", operation_id = "get_module", tag = "Modules",
    security(("apiKey" = ["modules:read"])), params(("name" = String, Path), ("version" = i64, Path)),
    responses((status = 200, body = Module), (status = 404, body = ErrorBody, description = "No such version")))]
pub(super) async fn find(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path((name, version)): Path<(String, i64)>,
) -> Result<Json<Module>, ApiError> {
    Ok(Json(service::find(&app, caller.network, &name, version).await?.into()))
}

/// Get the bytes of a version
///
/// The bytes as uploaded. The bytes of a REJECTED version are not stored.
#[utoipa::path(get, path = "/api/manage/modules/{name}/{version}/wasm", operation_id = "download_module",
    tag = "Modules", security(("apiKey" = ["modules:read"])),
    params(("name" = String, Path), ("version" = i64, Path)),
    responses((status = 200, body = Bytes, content_type = "application/wasm"),
        (status = 404, body = ErrorBody, description = "No such version, or it is REJECTED")))]
pub(super) async fn download(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path((name, version)): Path<(String, i64)>,
) -> Result<impl IntoResponse, ApiError> {
    let upload = service::open(&app, caller.network, &name, version).await?;
    Ok(([(header::CONTENT_TYPE, "application/wasm")], upload))
}

/// Delete a version
///
/// Fails while a chain uses it. Its number is never reused.
#[utoipa::path(delete, path = "/api/manage/modules/{name}/{version}", operation_id = "delete_module", tag = "Modules",
    security(("apiKey" = ["modules:write"])), params(("name" = String, Path), ("version" = i64, Path)),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such version")))]
pub(super) async fn delete(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path((name, version)): Path<(String, i64)>,
) -> Result<StatusCode, ApiError> {
    service::delete(&app, caller.network, &name, version, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

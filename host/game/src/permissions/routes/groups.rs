//! Groups.

use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::auth::PermissionsWrite;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::permissions::body::PutGroup;
use crate::permissions::model::Group;
use crate::permissions::service;
use crate::values::Identifier;

pub(super) fn router() -> Endpoints {
    endpoints![
        list_permission_groups: large_answer,
        get_permission_group: large_answer,
        put_permission_group,
        delete_permission_group,
    ]
}

/// List the permission groups
///
/// All groups of the network with their nodes, highest priority first, then by id. Expired nodes are omitted.
#[utoipa::path(get, path = "/api/plugin/permissions/groups", tag = "Permissions", security(("apiKey" = ["permissions:write", "plugin"])),
    responses((status = 200, body = Vec<Group>)))]
async fn list_permission_groups(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
) -> Result<Json<Vec<Group>>, ApiError> {
    Ok(Json(service::groups(&app, caller.network).await?))
}

/// Get a permission group
///
/// Includes its nodes, without expired ones.
#[utoipa::path(get, path = "/api/plugin/permissions/groups/{groupId}", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("groupId" = String, Path, example = "vip")),
    responses((status = 200, body = Group), (status = 404, body = ErrorBody, description = "No such group")))]
async fn get_permission_group(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(id): Path<Identifier>,
) -> Result<Json<Group>, ApiError> {
    Ok(Json(service::group(&app, caller.network, id).await?))
}

/// Create or replace a permission group
///
/// Replaces the whole group, nodes included; the id in the path counts. In effect from the next request on. The
/// network's groups, their nodes and their bytes are limited (`groups`, `nodesPerGroup`, `groupBytes`).
#[utoipa::path(put, path = "/api/plugin/permissions/groups/{groupId}", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("groupId" = String, Path, example = "vip")),
    responses((status = 204, description = "Stored")))]
async fn put_permission_group(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(id): Path<Identifier>,
    Json(body): Json<PutGroup>,
) -> Result<StatusCode, ApiError> {
    service::put_group(&app, caller.network, body.into_group(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Delete a permission group
///
/// Memberships of it stay with their holders, without effect until a group with this id exists again.
#[utoipa::path(delete, path = "/api/plugin/permissions/groups/{groupId}", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("groupId" = String, Path, example = "vip")),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such group")))]
async fn delete_permission_group(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(id): Path<Identifier>,
) -> Result<StatusCode, ApiError> {
    service::delete_group(&app, caller.network, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

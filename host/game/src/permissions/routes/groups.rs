//! Groups.

use axum::extract::State;
use axum::http::{HeaderName, StatusCode};

use crate::app::App;
use crate::auth::PermissionsWrite;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch, entity_tag};
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
/// Includes its nodes, without expired ones. The header `ETag` has its revision, for `If-Match` of a change.
#[utoipa::path(get, path = "/api/plugin/permissions/groups/{groupId}", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("groupId" = String, Path, example = "vip")),
    responses((status = 200, body = Group, headers(("ETag" = String, description = "The group's revision"))),
        (status = 404, body = ErrorBody, description = "No such group")))]
async fn get_permission_group(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(id): Path<Identifier>,
) -> Result<([(HeaderName, String); 1], Json<Group>), ApiError> {
    let group = service::group(&app, caller.network, id).await?;
    Ok((entity_tag(group.revision), Json(group)))
}

/// Create or replace a permission group
///
/// Replaces the whole group, nodes included; the id in the path counts. In effect from the next request on. The
/// network's groups, their nodes and their bytes are limited (`groups`, `nodesPerGroup`, `groupBytes`).
///
/// With `If-Match` it replaces the group only at that revision, the `ETag` of reading it: if somebody else changed it
/// meanwhile, the answer is 409 `revision_changed` with the current one, and 404 if it was deleted. Each answer has the
/// new `ETag`.
#[utoipa::path(put, path = "/api/plugin/permissions/groups/{groupId}", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("groupId" = String, Path, example = "vip"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 204, description = "Stored", headers(("ETag" = String, description = "The group's new revision"))),
        (status = 404, body = ErrorBody, description = "No such group, although `If-Match` has its revision"),
        (status = 409, body = ErrorBody, description = "Somebody changed the group since the revision of `If-Match`")))]
async fn put_permission_group(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(id): Path<Identifier>,
    IfMatch(expected): IfMatch,
    Json(body): Json<PutGroup>,
) -> Result<(StatusCode, [(HeaderName, String); 1]), ApiError> {
    let revision = service::put_group(&app, caller.network, body.into_group(id), expected).await?;
    Ok((StatusCode::NO_CONTENT, entity_tag(revision)))
}

/// Delete a permission group
///
/// Memberships of it stay with their holders, without effect until a group with this id exists again. With `If-Match` only
/// at that revision.
#[utoipa::path(delete, path = "/api/plugin/permissions/groups/{groupId}", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("groupId" = String, Path, example = "vip"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such group"),
        (status = 409, body = ErrorBody, description = "Somebody changed the group since the revision of `If-Match`")))]
async fn delete_permission_group(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(id): Path<Identifier>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    service::delete_group(&app, caller.network, &id, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

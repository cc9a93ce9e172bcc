//! `/api/manage/roles`: roles of a network's own.

use axum::extract::State;
use axum::http::{HeaderName, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{NetworkManage, RoleName, Scope, Unbound};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch, entity_tag};
use crate::http::page::{Page, PageQuery};
use crate::people::service::{self, OwnRole};

/// A role of a network's own.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NetworkRole)]
pub(super) struct RoleBody {
    #[schema(example = "helper")]
    name: String,
    /// Permissions of its members.
    scopes: Vec<Scope>,
    /// Key or person that set it last; null if unknown.
    #[schema(example = "4fTq0ZkX91ab")]
    created_by: Option<String>,
}

impl From<OwnRole> for RoleBody {
    fn from(role: OwnRole) -> Self {
        Self { name: role.name, scopes: role.scopes.iter().collect(), created_by: role.created_by }
    }
}

/// List the roles
///
/// Those of the network's own, by name. The given ones (OWNER, ADMIN, MODERATOR, VIEWER) are not listed.
#[utoipa::path(get, path = "/api/manage/roles", operation_id = "list_roles", tag = "People",
    security(("apiKey" = ["network:manage"])), params(PageQuery), responses((status = 200, body = Page<RoleBody>)))]
pub(super) async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<RoleBody>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::roles(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(RoleBody::from)))
}

/// A role with the revision of its scopes as `ETag`.
type Tagged = ([(HeaderName, String); 1], Json<RoleBody>);

fn tagged(role: OwnRole) -> Tagged {
    (entity_tag(role.revision()), Json(role.into()))
}

/// Read a role
///
/// The header `ETag` has the revision of its scopes, for `If-Match` of a change.
#[utoipa::path(get, path = "/api/manage/roles/{name}", operation_id = "get_role", tag = "People",
    security(("apiKey" = ["network:manage"])), params(("name" = RoleName, Path, description = "Name of the role", example = "helper")),
    responses((status = 200, body = RoleBody, headers(("ETag" = String, description = "The role's revision"))),
        (status = 404, body = ErrorBody, description = "No such role")))]
pub(super) async fn read(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(name): Path<RoleName>,
) -> Result<Tagged, ApiError> {
    Ok(tagged(service::role(&app, caller.network, &name).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = RoleScopes)]
pub(super) struct PutRole {
    /// Permissions of its members, none beyond the caller's own.
    scopes: Vec<Scope>,
}

/// Set a role
///
/// Creates or replaces it, in effect for its members within a second. Scopes beyond the caller's own, in the new role or
/// the one it replaces, are 403 `forbidden_scope`; a key that expires or is bound to servers or addresses makes no role
/// (403 `forbidden_origin`). Keys and webhooks that members created and may no longer create end. With `If-Match` only at that
/// revision, the `ETag` of reading it, 0 if there is to be none: else it is 409 `revision_changed` with the scopes of now.
#[utoipa::path(put, path = "/api/manage/roles/{name}", operation_id = "put_role", tag = "People",
    security(("apiKey" = ["network:manage"])), params(("name" = RoleName, Path, description = "Name of the role", example = "helper"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = RoleBody, headers(("ETag" = String, description = "The new revision"))),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
pub(super) async fn put(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Path(name): Path<RoleName>,
    expected: IfMatch,
    Json(body): Json<PutRole>,
) -> Result<Tagged, ApiError> {
    let scopes = body.scopes.into_iter().collect();
    service::put_role(&app, &caller, &name, scopes, expected).await?;
    let created_by = Some(caller.key.0.clone());
    Ok(tagged(OwnRole { name: name.into_string(), scopes, created_by }))
}

/// Delete a role
///
/// One that a member or an invitation has is 409 `in_use`.
#[utoipa::path(delete, path = "/api/manage/roles/{name}", operation_id = "delete_role", tag = "People",
    security(("apiKey" = ["network:manage"])), params(("name" = RoleName, Path, description = "Name of the role", example = "helper")),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such role"),
        (status = 409, body = ErrorBody, description = "A member or an invitation has it")))]
pub(super) async fn delete(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(name): Path<RoleName>,
) -> Result<StatusCode, ApiError> {
    service::delete_role(&app, &caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

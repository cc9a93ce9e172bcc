//! The nodes of players.

use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::auth::PermissionsWrite;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path};
use crate::permissions::model::Node;
use crate::permissions::service;
use crate::values::PlayerId;

pub(super) fn router() -> Endpoints {
    endpoints![
        list_player_permissions: large_answer,
        add_player_permission: transactional,
        remove_player_permission: transactional,
    ]
}

/// List a player's own nodes
///
/// Nodes attached to the player directly, not through groups, by node, context and world. Expired ones are omitted.
#[utoipa::path(get, path = "/api/plugin/permissions/users/{uuid}/permissions", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("uuid" = PlayerId, Path)),
    responses((status = 200, body = Vec<Node>)))]
async fn list_player_permissions(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
) -> Result<Json<Vec<Node>>, ApiError> {
    Ok(Json(service::nodes(&app, caller.network, player).await?))
}

/// Add a node to a player
///
/// An existing node with the same name, context and world gets the new value and expiry. `group.vip` makes the player a
/// member of the group `vip`. A player's nodes and their bytes are limited (`nodesPerPlayer`, `nodeBytesPerPlayer`).
#[utoipa::path(post, path = "/api/plugin/permissions/users/{uuid}/permissions", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("uuid" = PlayerId, Path)),
    responses((status = 204, description = "Added")))]
async fn add_player_permission(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Json(node): Json<Node>,
) -> Result<StatusCode, ApiError> {
    service::add_node(&app, caller.network, player, &node).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Remove a node from a player
///
/// Removes the node with this name, context and world, whatever its value and expiry. A missing node is not an error.
#[utoipa::path(post, path = "/api/plugin/permissions/users/{uuid}/permissions/remove", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("uuid" = PlayerId, Path)),
    responses((status = 204, description = "Removed")))]
async fn remove_player_permission(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Json(node): Json<Node>,
) -> Result<StatusCode, ApiError> {
    service::remove_node(&app, caller.network, player, &node).await?;
    Ok(StatusCode::NO_CONTENT)
}

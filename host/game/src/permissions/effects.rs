//! Changes of players' permissions by modules, within the nodes that their links grant.

use axum::http::StatusCode;
use hub_sandbox::contract::effects::{PutPermission, RemovePermission};

use crate::app::App;
use crate::http::error::ApiError;
use crate::modules::{ModuleActor, read_field};
use crate::permissions::model::Node;
use crate::permissions::service;
use crate::values::{NetworkId, not_blank};

fn check_granted(actor: &ModuleActor, node: &str) -> Result<(), ApiError> {
    if actor.grants.permits_node(node) {
        return Ok(());
    }
    let message = format!("The link grants no pattern of the node `{node}`.");
    Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden_node", message))
}

fn node(name: &str, context: Option<&str>, world: Option<&str>) -> Result<Node, ApiError> {
    let context = not_blank(context).map(|context| read_field("context", context)).transpose()?;
    let world = not_blank(world).map(|world| read_field("world", world)).transpose()?;
    Ok(Node { node: read_field("node", name)?, value: true, context, world, expires_at: None })
}

/// Adds a node to a player, or updates it.
pub async fn put(app: &App, network: NetworkId, actor: &ModuleActor, effect: &PutPermission) -> Result<(), ApiError> {
    check_granted(actor, &effect.node)?;
    let expires_at = effect.expires_at_ms.map(|at| i64::try_from(at).unwrap_or(i64::MAX));
    if expires_at.is_some_and(|at| at < 1) {
        return Err(ApiError::invalid("`expiresAt`: must be a time in milliseconds."));
    }
    let node = node(&effect.node, effect.context.as_deref(), effect.world.as_deref())?;
    let node = Node { value: effect.value, expires_at, ..node };
    service::add_node(app, network, read_field("playerUuid", &effect.player_uuid)?, &node).await?;
    Ok(())
}

/// Removes a node from a player. A missing one is no error.
pub async fn remove(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    effect: &RemovePermission,
) -> Result<(), ApiError> {
    check_granted(actor, &effect.node)?;
    let node = node(&effect.node, effect.context.as_deref(), effect.world.as_deref())?;
    service::remove_node(app, network, read_field("playerUuid", &effect.player_uuid)?, &node).await?;
    Ok(())
}

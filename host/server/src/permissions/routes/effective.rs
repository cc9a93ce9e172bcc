//! The effective permissions of a player.

use axum::extract::State;
use serde::{Deserialize, Deserializer, de};
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::PermissionsWrite;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::answer::{ANSWER_LIMIT, json_size};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::permissions::body::EffectiveBody;
use crate::permissions::context::{ContextSet, PermissionContext, PermissionWorld};
use crate::permissions::service::{self, PermissionsError};
use crate::values::{Identifier, PlayerId, blank_as_absent};

/// The most nodes of one request.
const MAX_NODES: usize = 100;

pub(super) fn router() -> Endpoints {
    endpoints![get_effective_permissions: large_answer]
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct EffectiveQuery {
    /// Where the player is, as `key=value` pairs with commas between; a word alone is a server.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "server=lobby,gamemode=skyblock")]
    context: Option<PermissionContext>,
    /// The world the player is in.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "world_nether")]
    world: Option<PermissionWorld>,
    /// The nodes asked for, with commas between, at most 100; all that something is said of when absent.
    #[serde(default, deserialize_with = "comma_separated")]
    #[param(value_type = Option<String>, example = "essentials.fly,essentials.home")]
    node: Vec<Identifier>,
    /// Whether to say which node decided, and through which groups.
    #[serde(default)]
    #[param(required = false, default = false)]
    explain: bool,
}

fn comma_separated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Identifier>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<Identifier> = names.map(str::parse).collect::<Result<_, _>>().map_err(de::Error::custom)?;
    if names.len() > MAX_NODES {
        return Err(de::Error::custom(format_args!("must be at most {MAX_NODES} nodes")));
    }
    Ok(names)
}

/// Work out what a player may do
///
/// As LuckPerms does: the player's own nodes before groups; groups by priority, depth first; a node bound to more
/// contexts before one bound to fewer, a temporary before a permanent one; the node itself before wildcards, longer
/// wildcards before shorter. True, false, or null where nothing is said. `docs/permissions.md` has all rules. Expiry
/// counts at the moment of the question, and every change at once. An explanation over 4 MiB is 400 `answer_too_large`.
#[utoipa::path(get, path = "/api/plugin/permissions/users/{uuid}/effective", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])), params(("uuid" = PlayerId, Path), EffectiveQuery),
    responses((status = 200, body = EffectiveBody)))]
async fn get_effective_permissions(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Query(query): Query<EffectiveQuery>,
) -> Result<Json<EffectiveBody>, ApiError> {
    let current = ContextSet::new(query.context.as_ref(), query.world.as_ref());
    let effective = service::effective(&app, caller.network, player, &current, &query.node, query.explain).await?;
    let body = EffectiveBody::new(player, effective, query.explain);
    if query.explain && json_size(&body) > ANSWER_LIMIT {
        return Err(PermissionsError::TooLarge.into());
    }
    Ok(Json(body))
}

//! Permissions: groups of nodes, nodes of players, and their effective result per player.
//!
//! Invariants: a node is identified by its name, context and world together, and adding it again replaces it; an
//! expired node is neither listed nor counted, from the moment it expires; effective permissions are resolved from the
//! rows stored at that moment, so that no answer is ever stale. Names are stored as sent; only the resolver compares
//! them without case.
//! Every change raises the network's revision; a player's effective permissions have the revision of the last change
//! that may concern them.
//! Tables: `permission_groups` (each with its nodes, as one row), `permission_nodes` (the players' own),
//! `permission_revisions` and `player_permission_revisions`.

mod body;
mod context;
pub mod effects;
mod import;
mod model;
mod resolver;
mod routes;
pub mod service;
mod store;

use crate::component::column::{any_number, any_text, json, number, read};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;
use crate::values::Identifier;

pub(crate) use body::EffectiveBody;
pub use context::{PermissionContext, PermissionWorld};
pub use import::{GroupImport, check_new_nodes, plan_group, plan_nodes, write_group, write_nodes};
pub use model::Node;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "groups, nodes of players, and their effective result",
    tags: &[Tag("Permissions", "Groups, permission nodes, and players' effective permissions.")],
    routes: || routes::router().database_only(),
    events: || vec![EventSchema::of::<service::PermissionsChange>(EventKind::PermissionsUpdated)],
    tables: &[
        TableRule::moved("permission_groups").columns(&[
            read::<Identifier>("group_id"),
            any_text("display_name"),
            any_number("priority"),
            any_text("chat_prefix"),
            any_text("chat_prefix_color"),
            any_text("chat_name_color"),
            json::<Vec<Node>>("nodes"),
            number("revision", 0, i64::MAX),
        ]),
        TableRule::moved("permission_nodes").columns(&[
            read::<Identifier>("node"),
            read::<PermissionContext>("context"),
            read::<PermissionWorld>("world"),
            number("expires_at", 1, i64::MAX),
        ]),
        TableRule::moved("permission_revisions").without_players("numbers"),
        TableRule::moved("player_permission_revisions"),
    ],
    errors: &[
        ErrorCode::new("forbidden_node", &[403], "A module's link does not grant the permission node."),
        ErrorCode::new("unknown_group", &[404], "The network has no such permission group."),
    ],
    ..Component::new(module_path!())
};

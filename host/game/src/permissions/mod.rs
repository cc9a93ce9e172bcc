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
mod import;
mod model;
mod resolver;
mod routes;
pub mod service;
mod store;

use crate::events::{EventKind, EventSchema};

pub(crate) use body::EffectiveBody;
pub use context::{PermissionContext, PermissionWorld};
pub use import::{GroupImport, check_new_nodes, plan_group, plan_nodes, write_group, write_nodes};
pub use model::Node;
pub use routes::router;

/// Events of this component, for the document.
pub fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<service::PermissionsChange>(EventKind::PermissionsUpdated)]
}

//! Permissions.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What a player may do, all groups considered.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EffectivePermissions {
    /// The player.
    pub player_uuid: Uuid,
    /// The groups, the deciding one first.
    pub groups: Vec<String>,
    /// Allowed or denied by node, wildcards included.
    pub permissions: HashMap<String, bool>,
    /// Rises with every change of the network's permissions.
    pub revision: i64,
    /// When the answer changes by itself, because a node expires; none is never.
    pub valid_until: Option<i64>,
}

/// Allows or denies something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionNode {
    /// Such as `essentials.fly`.
    pub node: String,
    /// False denies; none is true.
    pub value: Option<bool>,
    /// Where it applies, as `server=lobby,gamemode=skyblock`; none is everywhere.
    pub context: Option<String>,
    /// The world it applies in; none is everywhere.
    pub world: Option<String>,
    /// None is never.
    pub expires_at: Option<i64>,
}

impl PermissionNode {
    /// Allows something everywhere, for good.
    pub fn allow(node: &str) -> Self {
        Self { node: node.to_owned(), value: Some(true), ..Self::default() }
    }
}

/// A group of permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionGroup {
    /// Names it.
    pub group_id: String,
    /// What players read.
    pub display_name: Option<String>,
    /// The higher one decides.
    pub priority: i32,
    /// In front of names in chat.
    pub chat_prefix: Option<String>,
    /// Its color.
    pub chat_prefix_color: Option<String>,
    /// The color of names.
    pub chat_name_color: Option<String>,
    /// Its nodes.
    pub permissions: Vec<PermissionNode>,
}

// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};

use super::PermissionNode;

/// A group with its nodes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionGroup {
    pub chat_name_color: Option<String>,
    pub chat_prefix: Option<String>,
    pub chat_prefix_color: Option<String>,
    pub display_name: Option<String>,
    pub group_id: String,
    /// Nodes that have not expired, by node, context and world.
    pub permissions: Vec<PermissionNode>,
    /// Groups with a higher priority take precedence.
    pub priority: i64,
}

/// New content of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionGroupUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_name_color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_prefix_color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Ignored: the id in the path counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
    /// All nodes of the group, at most 2,000; nodes that are not listed are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<PermissionNodeInput>>,
    /// Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
}

/// A permission that is allowed or denied, in a context and until a time. Identified by `node`, `context` and `world`
/// together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionNodeInput {
    /// `key=value` pairs separated by commas; a single word is a server; absent, null, blank or `global` is everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Expiry; absent or null is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// Name, such as `essentials.fly`, `essentials.*`, `*`, or `group.vip` for membership of a group.
    pub node: String,
    /// `false` denies. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<bool>,
    /// World it applies in; absent, null, blank or `global` is every world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
}

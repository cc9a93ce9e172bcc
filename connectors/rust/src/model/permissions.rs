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
    /// Without those that have expired; by node, context and world.
    pub permissions: Vec<PermissionNode>,
    /// Of several groups the one with the higher priority comes first.
    pub priority: i64,
}

/// A group as it shall be from now on.
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
    /// Not looked at: the id in the path counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
    /// All of its nodes, at most 2,000: those it had before and that are not named here are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<PermissionNodeInput>>,
    /// 0 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
}

/// What is allowed or denied, where and until when. Known by `node`, `context` and `world` together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionNodeInput {
    /// `key=value` pairs with commas between; a word alone is a server; absent, null, blank or `global` is everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// When it ends; absent or null is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// Such as `essentials.fly`, `essentials.*`, `*`, or `group.vip` for membership of a group.
    pub node: String,
    /// `false` denies; `true` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<bool>,
    /// The world it applies in; absent, null, blank or `global` is every world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
}

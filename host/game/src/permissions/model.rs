//! Nodes and groups.

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::permissions::context::{ContextSet, PermissionContext, PermissionWorld};
use crate::values::{Identifier, blank_as_absent};

/// A permission that is allowed or denied, in a context and until a time. Identified by `node`, `context` and `world`
/// together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PermissionNode)]
#[allow(clippy::struct_field_names, reason = "as on the wire")]
pub struct Node {
    /// Name, such as `essentials.fly`, `essentials.*`, `*`, or `group.vip` for membership of a group.
    #[schema(example = "essentials.fly")]
    pub node: Identifier,
    /// `false` denies. Default: `true`.
    #[serde(default = "default_true", deserialize_with = "true_if_null")]
    #[schema(required = false, nullable, default = true, value_type = bool)]
    pub value: bool,
    /// `key=value` pairs separated by commas; a single word is a server; absent, null, blank or `global` is everywhere.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "server=lobby")]
    pub context: Option<PermissionContext>,
    /// World it applies in; absent, null, blank or `global` is every world.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "world_nether")]
    pub world: Option<PermissionWorld>,
    /// Expiry; absent or null is never.
    #[serde(default, deserialize_with = "positive_time")]
    #[schema(minimum = 1, example = 1_900_000_000_000_i64)]
    pub expires_at: Option<Millis>,
}

const fn default_true() -> bool {
    true
}

fn true_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<bool>::deserialize(deserializer)?.unwrap_or(true))
}

fn positive_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Millis>, D::Error> {
    let at = Option::<Millis>::deserialize(deserializer)?;
    if at.is_some_and(|at| at < 1) {
        return Err(de::Error::custom("must be a time in milliseconds; null is never"));
    }
    Ok(at)
}

/// Identity of a node among those of its holder: name, context and world.
pub(super) type NodeKey<'a> = (&'a str, &'a str, &'a str);

impl Node {
    /// True if it has not expired at `now`.
    pub(super) fn is_live(&self, now: Millis) -> bool {
        self.expires_at.is_none_or(|at| now < at)
    }

    /// Contexts it applies in, for tests of other components.
    pub fn contexts_for_tests(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        self.contexts()
    }

    /// Contexts it applies in.
    pub(super) fn contexts(&self) -> ContextSet {
        ContextSet::new(self.context.as_ref(), self.world.as_ref())
    }

    pub(super) fn key(&self) -> NodeKey<'_> {
        let context = self.context.as_ref().map_or("", PermissionContext::as_str);
        (self.node.as_str(), context, self.world.as_ref().map_or("", PermissionWorld::as_str))
    }
}

/// A group with its nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PermissionGroup)]
pub(super) struct Group {
    #[serde(rename = "groupId")]
    #[schema(example = "vip")]
    pub(super) id: String,
    #[schema(example = "VIP")]
    pub(super) display_name: Option<String>,
    /// Groups with a higher priority take precedence.
    #[schema(example = 10)]
    pub(super) priority: i64,
    #[schema(example = "[VIP]")]
    pub(super) chat_prefix: Option<String>,
    #[schema(example = "gold")]
    pub(super) chat_prefix_color: Option<String>,
    #[schema(example = "yellow")]
    pub(super) chat_name_color: Option<String>,
    /// Nodes that have not expired, by node, context and world.
    #[serde(rename = "permissions")]
    pub(super) nodes: Vec<Node>,
    /// Revision of the network's permissions at the group's last change; its entity tag.
    #[serde(skip)]
    pub(super) revision: i64,
}

//! Nodes and groups.

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::permissions::context::{Context, Contexts, World};
use crate::values::{Identifier, blank_as_absent};

/// What is allowed or denied, where and until when. Known by `node`, `context` and `world` together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PermissionNode)]
pub struct Node {
    /// Such as `essentials.fly`, `essentials.*`, `*`, or `group.vip` for membership of a group.
    #[schema(example = "essentials.fly")]
    pub node: Identifier,
    /// `false` denies; `true` when absent.
    #[serde(default = "yes", deserialize_with = "true_unless_said")]
    #[schema(required = false, nullable, default = true, value_type = bool)]
    pub value: bool,
    /// `key=value` pairs with commas between; a word alone is a server; absent, null, blank or `global` is everywhere.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "server=lobby")]
    pub context: Option<Context>,
    /// The world it applies in; absent, null, blank or `global` is every world.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "world_nether")]
    pub world: Option<World>,
    /// When it ends; absent or null is never.
    #[serde(default, deserialize_with = "time")]
    #[schema(minimum = 1, example = 1_900_000_000_000_i64)]
    pub expires_at: Option<Millis>,
}

const fn yes() -> bool {
    true
}

fn true_unless_said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<bool>::deserialize(deserializer)?.unwrap_or(true))
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Millis>, D::Error> {
    let at = Option::<Millis>::deserialize(deserializer)?;
    if at.is_some_and(|at| at < 1) {
        return Err(de::Error::custom("must be a time in milliseconds; null is never"));
    }
    Ok(at)
}

/// What tells a node from its holder's others.
pub(super) type NodeKey<'a> = (&'a str, &'a str, &'a str);

impl Node {
    /// Not expired at `now`.
    pub fn is_live(&self, now: Millis) -> bool {
        self.expires_at.is_none_or(|at| now < at)
    }

    /// Where it applies.
    pub fn contexts(&self) -> Contexts {
        Contexts::new(self.context.as_ref(), self.world.as_ref())
    }

    pub(super) fn key(&self) -> NodeKey<'_> {
        let context = self.context.as_ref().map_or("", Context::as_str);
        (self.node.as_str(), context, self.world.as_ref().map_or("", World::as_str))
    }
}

/// A group: nodes that its members inherit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// As it was sent.
    pub id: String,
    /// A name for people.
    pub display_name: Option<String>,
    /// Which of several groups comes first: the higher one.
    pub priority: i64,
    /// Before its members' names in chat.
    pub chat_prefix: Option<String>,
    /// The prefix's colour.
    pub chat_prefix_color: Option<String>,
    /// The names' colour.
    pub chat_name_color: Option<String>,
    /// Its nodes, by name, context and world.
    pub nodes: Vec<Node>,
}

//! Groups as they are sent, and resolved permissions, on the wire.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::permissions::model::{Group, Node};
use crate::permissions::service::{EffectivePermissions, NodeResult};
use crate::values::{Identifier, PlayerId, Text};

/// A group as it shall be from now on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PermissionGroupUpdate)]
pub(super) struct PutGroup {
    /// Not looked at: the id in the path counts.
    #[schema(example = "vip")]
    #[allow(dead_code, reason = "its type is checked all the same")]
    group_id: Option<String>,
    #[schema(example = "VIP")]
    display_name: Option<Text<255>>,
    /// 0 when absent.
    #[schema(example = 10)]
    priority: Option<i64>,
    #[schema(example = "[VIP]")]
    chat_prefix: Option<Text<255>>,
    #[schema(example = "gold")]
    chat_prefix_color: Option<Text<255>>,
    #[schema(example = "yellow")]
    chat_name_color: Option<Text<255>>,
    /// All of its nodes, at most 2,000: those it had before and that are not named here are gone.
    #[schema(max_items = 2000)]
    permissions: Option<Vec<Node>>,
}

impl PutGroup {
    pub(super) fn into_group(self, id: Identifier) -> Group {
        let text = |text: Option<Text<255>>| text.map(Text::into_string);
        Group {
            id: id.into_string(),
            display_name: text(self.display_name),
            priority: self.priority.unwrap_or(0),
            chat_prefix: text(self.chat_prefix),
            chat_prefix_color: text(self.chat_prefix_color),
            chat_name_color: text(self.chat_name_color),
            nodes: self.permissions.unwrap_or_default(),
        }
    }
}

/// What a player may do.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EffectivePermissions)]
pub(crate) struct EffectiveBody {
    player_uuid: PlayerId,
    /// Rises with every change of the network's groups and of the player's own nodes. A `PERMISSIONS_UPDATED` of this revision or
    /// an earlier one is in here already.
    #[schema(example = 42)]
    revision: i64,
    /// When this answer changes without a `PERMISSIONS_UPDATED`, because a node expires; null: never.
    #[schema(example = json!(null))]
    valid_until: Option<Millis>,
    /// The groups that count, in the order they do.
    #[schema(example = json!(["vip", "default"]))]
    groups: Vec<String>,
    /// What is decided of each node asked for, as it was asked for; null where nothing is. Without `node` all that
    /// something is said of, in lower case, wildcards as such.
    #[schema(value_type = BTreeMap<String, Option<bool>>, example = json!({"essentials.fly": true}))]
    permissions: BTreeMap<String, Option<bool>>,
    /// With `explain=true`: why, in the order asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    explanation: Option<Vec<Explanation>>,
}

/// Why a node is allowed or denied.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PermissionExplanation)]
struct Explanation {
    #[schema(example = "essentials.fly")]
    node: String,
    /// Null where nothing is said of it.
    #[schema(example = true)]
    value: Option<bool>,
    /// The stored node that decided.
    decided_by: Option<Node>,
    /// The group that holds the deciding node; null where the player does.
    #[schema(example = "member")]
    group: Option<String>,
    /// The groups from the player to that one.
    #[schema(example = json!(["vip", "member"]))]
    through: Vec<String>,
}

impl From<NodeResult> for Explanation {
    fn from(result: NodeResult) -> Self {
        let value = result.value();
        let (decided_by, through) = result.source.map(|source| (source.node, source.through)).unzip();
        let through = through.unwrap_or_default();
        Self { node: result.node, value, decided_by, group: through.last().cloned(), through }
    }
}

impl EffectiveBody {
    pub(super) fn new(player_uuid: PlayerId, effective: EffectivePermissions, explain: bool) -> Self {
        let EffectivePermissions { revision, valid_until, groups, results } = effective;
        let permissions = results.iter().map(|result| (result.node.clone(), result.value())).collect();
        let explanation = explain.then(|| results.into_iter().map(Explanation::from).collect());
        Self { player_uuid, revision, valid_until, groups, permissions, explanation }
    }

    /// Revision and end of validity.
    pub(super) fn version(&self) -> (i64, Option<Millis>) {
        (self.revision, self.valid_until)
    }
}

//! Groups and resolved permissions in requests and answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::permissions::model::{Group, Node};
use crate::permissions::service::{EffectivePermissions, NodeResult};
use crate::values::{Identifier, PlayerId, Text};

/// New content of a group.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PermissionGroupUpdate)]
pub(super) struct PutGroup {
    /// Ignored: the id in the path counts.
    #[schema(example = "vip")]
    #[allow(dead_code, reason = "its type is checked all the same")]
    group_id: Option<String>,
    #[schema(example = "VIP")]
    display_name: Option<Text<255>>,
    /// Default: 0.
    #[schema(example = 10)]
    priority: Option<i64>,
    #[schema(example = "[VIP]")]
    chat_prefix: Option<Text<255>>,
    #[schema(example = "gold")]
    chat_prefix_color: Option<Text<255>>,
    #[schema(example = "yellow")]
    chat_name_color: Option<Text<255>>,
    /// All nodes of the group, at most 2,000; nodes that are not listed are removed.
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
            revision: 0,
        }
    }
}

/// Effective permissions of a player.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EffectivePermissions)]
pub(crate) struct EffectiveBody {
    player_uuid: PlayerId,
    /// Rises with every change of the network's groups and of the player's own nodes. A `PERMISSIONS_UPDATED` of this
    /// revision or an earlier one is already included.
    #[schema(example = 42)]
    revision: i64,
    /// Time at which this answer changes without a `PERMISSIONS_UPDATED`, because a node expires; null: never.
    #[schema(example = json!(null))]
    valid_until: Option<Millis>,
    /// Groups of the player, in order of precedence.
    #[schema(example = json!(["vip", "default"]))]
    groups: Vec<String>,
    /// Decision per requested node, spelled as requested; null if undecided. Without `node`, all decided nodes, in
    /// lower case, wildcards included.
    #[schema(value_type = BTreeMap<String, Option<bool>>, example = json!({"essentials.fly": true}))]
    permissions: BTreeMap<String, Option<bool>>,
    /// Only with `explain=true`: the deciding nodes, in the order of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    explanation: Option<Vec<Explanation>>,
}

/// Reason for which a node is allowed or denied.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PermissionExplanation)]
struct Explanation {
    #[schema(example = "essentials.fly")]
    node: String,
    /// Null if undecided.
    #[schema(example = true)]
    value: Option<bool>,
    /// The stored node that decided.
    decided_by: Option<Node>,
    /// Group that holds the deciding node; null if the player does.
    #[schema(example = "member")]
    group: Option<String>,
    /// Groups from the player to that group.
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

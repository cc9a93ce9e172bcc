//! Resolves effective permissions by the rules of LuckPerms. Pure: it takes the nodes, the player's contexts and the
//! time.
//!
//! The player's own nodes come first, then those of their groups, depth first; the groups of one holder in order of
//! priority, those of equal priority in the order of the nodes that name them. The first holder with a node of that
//! name decides it. Only then come wildcards: `a.b.c` is looked up itself, then as `a.b.*`, `a.*` and `*`, each in the
//! same order of holders, so that a node itself counts before any wildcard of any holder.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use crate::clock::Millis;
use crate::permissions::context::ContextSet;
use crate::permissions::model::{Group, Node};

/// Group of players without an unconditional group, if it exists.
const DEFAULT_GROUP: &str = "default";
/// Node of players without an unconditional group: LuckPerms gives it to them (`AbstractUserManager`), so that checks of
/// it are answered too.
static DEFAULT_MEMBERSHIP: LazyLock<Option<Node>> = LazyLock::new(|| {
    let node = format!("{MEMBERSHIP}{DEFAULT_GROUP}").parse().ok()?;
    Some(Node { node, value: true, context: None, world: None, expires_at: None })
});
/// Prefix of nodes that grant membership of a group.
const MEMBERSHIP: &str = "group.";

/// Permissions of one player in their contexts at one time.
#[derive(Debug)]
pub(super) struct Resolved<'a> {
    inherited: Vec<InheritedGroup<'a>>,
    decisions: BTreeMap<String, Decision<'a>>,
}

/// A group of the player, and the index of the group it was reached through.
#[derive(Debug)]
struct InheritedGroup<'a> {
    group: &'a Group,
    via: Option<usize>,
}

/// The deciding node, and the index of the group that holds it; none is the player.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision<'a> {
    pub(super) node: &'a Node,
    holder: Option<usize>,
}

/// Groups by id: the one with exactly this id, else the first that differs only in case.
struct GroupIndex<'a> {
    exact: HashMap<&'a str, &'a Group>,
    folded: HashMap<String, &'a Group>,
}

impl<'a> GroupIndex<'a> {
    fn new(groups: &'a [Group]) -> Self {
        let mut folded = HashMap::<String, &'a Group>::new();
        for group in groups {
            let first = folded.entry(fold(&group.id)).or_insert(group);
            if group.id < first.id {
                *first = group;
            }
        }
        Self { exact: groups.iter().map(|group| (group.id.as_str(), group)).collect(), folded }
    }

    fn find(&self, id: &str) -> Option<&'a Group> {
        self.exact.get(id).or_else(|| self.folded.get(&fold(id))).copied()
    }

    /// Group whose membership a node grants.
    fn parent_by(&self, node: &Node) -> Option<&'a Group> {
        let (start, id) = node.node.as_str().split_at_checked(MEMBERSHIP.len())?;
        let is_membership = node.value && start.eq_ignore_ascii_case(MEMBERSHIP);
        is_membership.then(|| self.find(id)).flatten()
    }

    /// Groups whose membership these nodes grant, in order of precedence.
    fn parents(&self, nodes: &[&Node]) -> Vec<&'a Group> {
        let mut parents: Vec<_> = nodes.iter().filter_map(|node| self.parent_by(node)).collect();
        sort_by_priority(&mut parents);
        parents
    }
}

/// Groups of equal priority keep the order of the nodes that grant their membership. A group named by several nodes
/// counts once, at its first position.
fn sort_by_priority(groups: &mut [&Group]) {
    groups.sort_by_key(|group| Reverse(group.priority));
}

fn fold(name: &str) -> String {
    name.to_lowercase()
}

/// Nodes of one holder that apply in the contexts `current`, strongest first: those bound to contexts before those that
/// apply everywhere, those bound to a server before others, then those bound to a world, then to more contexts, and of
/// equally many those whose names are later in the alphabet; temporary before permanent, earlier expiry before later.
fn applicable<'a>(nodes: &'a [Node], current: &ContextSet, now: Millis) -> Vec<&'a Node> {
    let live = nodes.iter().filter(|node| node.is_live(now));
    let mut found: Vec<_> = live
        .filter_map(|node| {
            let required = node.contexts();
            required.is_satisfied_by(current).then(|| {
                let bound = (
                    required.is_empty(),
                    !required.contains_key("server"),
                    !required.contains_key("world"),
                    Reverse(required.len()),
                );
                let pairs = Reverse(required.into_pairs());
                ((bound, pairs, node.expires_at.is_none(), node.expires_at, node.key(), node.value), node)
            })
        })
        .collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found.into_iter().map(|(_, node)| node).collect()
}

/// Resolves a player with the nodes `own` in the contexts `current`.
pub(super) fn resolve<'a>(own: &'a [Node], groups: &'a [Group], current: &ContextSet, now: Millis) -> Resolved<'a> {
    let groups = GroupIndex::new(groups);
    let mut resolved = Resolved { inherited: vec![], decisions: BTreeMap::new() };
    let own_applicable = applicable(own, current, now);
    resolved.add(own_applicable.iter().copied(), None);

    let mut first = groups.parents(&own_applicable);
    let has_group = |node: &Node| node.is_live(now) && node.contexts().is_empty() && groups.parent_by(node).is_some();
    if !own.iter().any(has_group)
        && let Some(default) = groups.find(DEFAULT_GROUP)
    {
        first.push(default);
        sort_by_priority(&mut first);
        resolved.add(DEFAULT_MEMBERSHIP.as_ref(), None);
    }

    // Each group counts once, at its first position; that ends cycles, too.
    let mut seen = HashSet::new();
    let mut stack: Vec<_> = first.into_iter().rev().map(|group| (group, None)).collect();
    while let Some((group, via)) = stack.pop() {
        if !seen.insert(group.id.as_str()) {
            continue;
        }
        let index = resolved.inherited.len();
        resolved.inherited.push(InheritedGroup { group, via });
        let nodes = applicable(&group.nodes, current, now);
        resolved.add(nodes.iter().copied(), Some(index));
        stack.extend(groups.parents(&nodes).into_iter().rev().map(|parent| (parent, Some(index))));
    }
    resolved
}

impl<'a> Resolved<'a> {
    /// Adds the nodes of a holder; decisions of earlier holders stay.
    fn add(&mut self, nodes: impl IntoIterator<Item = &'a Node>, holder: Option<usize>) {
        for node in nodes {
            self.decisions.entry(fold(node.node.as_str())).or_insert(Decision { node, holder });
        }
    }

    /// Decision on one node, if there is any.
    pub(super) fn check(&self, node: &str) -> Option<Decision<'a>> {
        let name = fold(node);
        let mut found = self.decisions.get(&name);
        let mut part = name.as_str();
        while let (None, Some((parent, _))) = (found, part.rsplit_once('.')) {
            found = self.decisions.get(&format!("{parent}.*"));
            part = parent;
        }
        found.or_else(|| self.decisions.get("*")).copied()
    }

    /// All decisions by nodes that somebody gave, by the node in lower case.
    pub(super) fn decisions(&self) -> impl Iterator<Item = (&str, Decision<'a>)> {
        let is_given = |decision: &Decision<'_>| {
            DEFAULT_MEMBERSHIP.as_ref().is_none_or(|implied| !std::ptr::eq(decision.node, implied))
        };
        let given = self.decisions.iter().filter(move |(_, decision)| is_given(decision));
        given.map(|(node, decision)| (node.as_str(), *decision))
    }

    /// Groups of the player, in order of precedence.
    pub(super) fn groups(&self) -> impl Iterator<Item = &'a Group> {
        self.inherited.iter().map(|inherited| inherited.group)
    }

    /// Groups from the player to the holder of the deciding node; empty if the player holds it.
    pub(super) fn path(&self, decision: Decision<'a>) -> Vec<&'a Group> {
        let mut path = vec![];
        let mut next = decision.holder;
        while let Some(inherited) = next.and_then(|index| self.inherited.get(index)) {
            path.push(inherited.group);
            next = inherited.via;
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests;

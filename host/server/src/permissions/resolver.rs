//! What a player may do, by the rules of LuckPerms. Pure: the nodes, where the player is and the time go in.
//!
//! The player's own nodes come first, then those of their groups, depth first; the groups of one holder in order of
//! priority. The first holder that says something about a node decides it. Only then come wildcards: `a.b.c` is asked
//! for itself, then as `a.b.*`, `a.*` and `*`, each decided the same way, so that what is said of the node itself counts
//! before any wildcard, wherever each was said.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::clock::Millis;
use crate::permissions::context::Contexts;
use crate::permissions::model::{Group, Node};

/// Whoever has no group that holds everywhere is in this one, where it exists.
const DEFAULT_GROUP: &str = "default";
/// What membership of a group begins with.
const MEMBERSHIP: &str = "group.";

/// What was worked out for one player at one place and time.
#[derive(Debug)]
pub(super) struct Resolved<'a> {
    steps: Vec<Step<'a>>,
    decided: BTreeMap<String, Decision<'a>>,
}

/// A group that counts, and the one it was reached through.
#[derive(Debug)]
struct Step<'a> {
    group: &'a Group,
    via: Option<usize>,
}

/// The node that decides, and which step holds it; none is the player.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision<'a> {
    pub(super) node: &'a Node,
    holder: Option<usize>,
}

/// Groups by id: the one spelled so, or else the first that is spelled so but for case.
struct Groups<'a> {
    exact: HashMap<&'a str, &'a Group>,
    folded: HashMap<String, &'a Group>,
}

impl<'a> Groups<'a> {
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

    /// The group that a node makes its holder a member of.
    fn joined_by(&self, node: &Node) -> Option<&'a Group> {
        let (start, id) = node.node.as_str().split_at_checked(MEMBERSHIP.len())?;
        let joins = node.value && start.eq_ignore_ascii_case(MEMBERSHIP);
        joins.then(|| self.find(id)).flatten()
    }

    /// The groups that these nodes make their holder a member of, in the order they count.
    fn of(&self, nodes: &[&Node]) -> Vec<&'a Group> {
        let mut found: Vec<_> = nodes.iter().filter_map(|node| self.joined_by(node)).collect();
        in_order(&mut found);
        found
    }
}

fn in_order(groups: &mut Vec<&Group>) {
    groups.sort_by(|a, b| (Reverse(a.priority), &a.id).cmp(&(Reverse(b.priority), &b.id)));
    groups.dedup_by(|a, b| a.id == b.id);
}

fn fold(name: &str) -> String {
    name.to_lowercase()
}

/// The nodes of one holder that count, the strongest first: those bound to more contexts before those to fewer (to a
/// server before to a world before to others), temporary before permanent, those that end sooner before later ones.
fn applying<'a>(nodes: &'a [Node], asker: &Contexts, now: Millis) -> Vec<&'a Node> {
    let live = nodes.iter().filter(|node| node.is_live(now));
    let mut found: Vec<_> = live
        .filter_map(|node| {
            let place = node.contexts();
            place.admit(asker).then(|| {
                let bound = (Reverse(place.len()), !place.names("server"), !place.names("world"));
                ((bound, node.expires_at.is_none(), node.expires_at, node.key(), node.value), node)
            })
        })
        .collect();
    found.sort_by_key(|(strength, _)| *strength);
    found.into_iter().map(|(_, node)| node).collect()
}

/// Works out what the player with the nodes `own` may do as `asker`.
pub(super) fn resolve<'a>(own: &'a [Node], groups: &'a [Group], asker: &Contexts, now: Millis) -> Resolved<'a> {
    let groups = Groups::new(groups);
    let mut resolved = Resolved { steps: vec![], decided: BTreeMap::new() };
    let applying_to_player = applying(own, asker, now);
    resolved.decide(&applying_to_player, None);

    let mut first = groups.of(&applying_to_player);
    let has_group = |node: &Node| node.is_live(now) && node.contexts().is_empty() && groups.joined_by(node).is_some();
    if !own.iter().any(has_group) {
        first.extend(groups.find(DEFAULT_GROUP));
        in_order(&mut first);
    }

    // Each group counts once, where the walk first comes by: that ends cycles, too.
    let mut seen = HashSet::new();
    let mut ahead: Vec<_> = first.into_iter().rev().map(|group| (group, None)).collect();
    while let Some((group, via)) = ahead.pop() {
        if !seen.insert(group.id.as_str()) {
            continue;
        }
        let here = resolved.steps.len();
        resolved.steps.push(Step { group, via });
        let nodes = applying(&group.nodes, asker, now);
        resolved.decide(&nodes, Some(here));
        ahead.extend(groups.of(&nodes).into_iter().rev().map(|parent| (parent, Some(here))));
    }
    resolved
}

impl<'a> Resolved<'a> {
    /// What a holder says of nodes nothing was said of before.
    fn decide(&mut self, nodes: &[&'a Node], holder: Option<usize>) {
        for node in nodes {
            self.decided.entry(fold(node.node.as_str())).or_insert(Decision { node, holder });
        }
    }

    /// What decides one node, if anything does.
    pub(super) fn check(&self, node: &str) -> Option<Decision<'a>> {
        let name = fold(node);
        let mut found = self.decided.get(&name);
        let mut part = name.as_str();
        while let (None, Some((parent, _))) = (found, part.rsplit_once('.')) {
            found = self.decided.get(&format!("{parent}.*"));
            part = parent;
        }
        found.or_else(|| self.decided.get("*")).copied()
    }

    /// All that is decided, by the node in lower case.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, Decision<'a>)> {
        self.decided.iter().map(|(node, decision)| (node.as_str(), *decision))
    }

    /// The groups that count, in the order they do.
    pub(super) fn groups(&self) -> impl Iterator<Item = &'a Group> {
        self.steps.iter().map(|step| step.group)
    }

    /// The groups from the player to the one that holds what decides; empty where the player does.
    pub(super) fn chain(&self, decision: Decision<'a>) -> Vec<&'a Group> {
        let mut chain = vec![];
        let mut at = decision.holder;
        while let Some(step) = at.and_then(|at| self.steps.get(at)) {
            chain.push(step.group);
            at = step.via;
        }
        chain.reverse();
        chain
    }
}

#[cfg(test)]
mod tests;

//! What LuckPerms' nodes are for the hub.
//!
//! The kinds are told apart by their keys as in `common/node/factory/NodeBuilders.java` of `LuckPerms/LuckPerms`. All of
//! them stay nodes, because a check of `weight.10` is answered there, too; a group's weight, prefix and display name also
//! become those of the hub's group.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::shorthand;
use crate::clock::Millis;
use crate::imports::record::Remark;
use crate::permissions::{Node, PermissionContext, PermissionWorld};
use crate::values::Identifier;

/// The most nodes of one holder that are kept in memory; it is beyond what a holder may have.
const MOST_NODES: usize = 4_000;
/// The most notes on one holder.
const MOST_NOTES: usize = 100;
/// The longest prefix or display name, in characters.
const LONGEST_TEXT: usize = 255;
/// Contexts with this value apply everywhere (`AbstractContextSet.isGlobalServerWorldEntry`).
const EVERYWHERE: &str = "global";

/// A node as the file has it.
#[derive(Debug, Deserialize)]
pub(super) struct RawNode {
    key: String,
    value: bool,
    /// In seconds.
    #[serde(default)]
    expiry: Option<i64>,
    #[serde(default)]
    context: Option<BTreeMap<String, OneOrMany>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn values(&self) -> &[String] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

/// What identifies a node among those of its holder: name in lower case, context and world.
type Key = (String, String, String);

/// The nodes of a group or user as the hub has them.
pub(super) struct Holder {
    subject: String,
    now: Millis,
    pub(super) nodes: BTreeMap<Key, Node>,
    /// What shorthand stands for: literal nodes come before it.
    expanded: BTreeMap<Key, Node>,
    pub(super) weight: Option<i64>,
    /// The prefix of the highest priority that applies everywhere.
    pub(super) prefix: Option<(i64, String)>,
    pub(super) display_name: Option<String>,
    /// The groups it is a member of, everywhere.
    pub(super) parents: BTreeSet<String>,
    pub(super) notes: Vec<Remark>,
}

impl Holder {
    pub(super) fn new(subject: String, now: Millis) -> Self {
        Self {
            subject,
            now,
            nodes: BTreeMap::new(),
            expanded: BTreeMap::new(),
            weight: None,
            prefix: None,
            display_name: None,
            parents: BTreeSet::new(),
            notes: vec![],
        }
    }

    fn note(&mut self, key: &str, reason: impl Into<String>) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(Remark::new(format_args!("{}: {}", self.subject, short(key)), reason));
        }
    }

    /// Adds a node of the file, or notes why not.
    pub(super) fn add(&mut self, raw: &RawNode) {
        if raw.key.is_empty() {
            return;
        }
        if raw.key.starts_with("r=") || raw.key.starts_with("R=") {
            return self.note(&raw.key, "The hub has no nodes that are regular expressions.");
        }
        let expires_at = raw.expiry.map(|seconds| seconds.saturating_mul(1_000));
        if expires_at.is_some_and(|at| at <= self.now) {
            return self.note(&raw.key, "It has expired.");
        }
        let scope = match read_scope(raw.context.as_ref()) {
            Ok(scope) => scope,
            Err(reason) => return self.note(&raw.key, reason),
        };
        if self.nodes.len() + self.expanded.len() >= MOST_NODES {
            return self.note(&raw.key, format!("The holder has more than {MOST_NODES} nodes."));
        }
        self.apply_meta(raw, &scope);
        // The same to LuckPerms (`WildcardProcessor`).
        let name = if raw.key == "'*'" { "*" } else { raw.key.as_str() };
        let is_membership = raw.key.to_lowercase().starts_with("group.");
        if !is_membership {
            for name in shorthand::expand(name) {
                if self.expanded.len() >= MOST_NODES {
                    break;
                }
                if let Ok((key, node)) = node(&name, raw, &scope, expires_at) {
                    self.expanded.entry(key).or_insert(node);
                }
            }
        }
        match node(name, raw, &scope, expires_at) {
            Ok((key, node)) => self.insert(key, node),
            Err(reason) => self.note(&raw.key, reason),
        }
    }

    /// Applies what a node says of its holder besides a permission: weight, prefix, display name or membership.
    fn apply_meta(&mut self, raw: &RawNode, scope: &NodeScope) {
        let key = raw.key.as_str();
        let lower = key.to_lowercase();
        if let Some(weight) = lower.strip_prefix("weight.").and_then(|weight| weight.parse::<i32>().ok()) {
            self.weight = self.weight.max(Some(weight.into()));
        }
        if !raw.value || !scope.is_everywhere() {
            return;
        }
        if let Some(group) = lower.strip_prefix("group.").filter(|group| group.chars().count() <= LONGEST_TEXT) {
            self.parents.insert(group.to_owned());
        }
        let text = |from: &str| Some(unescape(from)).filter(|text| text.chars().count() <= LONGEST_TEXT);
        if lower.starts_with("displayname.") {
            self.display_name = key.get("displayname.".len()..).and_then(text).or(self.display_name.take());
        }
        if lower.starts_with("prefix.")
            && let Some((priority, prefix)) = key.get("prefix.".len()..).and_then(|rest| rest.split_once('.'))
            && let (Ok(priority), Some(prefix)) = (priority.parse::<i32>().map(i64::from), text(prefix))
        {
            self.prefix = self.prefix.take().max(Some((priority, prefix)));
        }
    }

    /// A permanent and a temporary node of one name and place are two nodes in LuckPerms. Here the temporary one gets
    /// another spelling of the same scope.
    fn insert(&mut self, key: Key, node: Node) {
        let Some(other) = self.nodes.get(&key) else {
            self.nodes.insert(key, node);
            return;
        };
        let (temporary, permanent) = match (node.expires_at, other.expires_at) {
            (Some(_), None) => (node, other.clone()),
            (None, Some(_)) => (other.clone(), node),
            // The later one replaces the earlier one (`NodeMapMutable.add`).
            _ => {
                self.nodes.insert(key, node);
                return;
            }
        };
        match respell(temporary) {
            Some((respelled, temporary)) => {
                self.nodes.insert(respelled, temporary);
                self.nodes.insert(key, permanent);
            }
            None => self.note(&key.0, "It is temporary and permanent in one scope, and here only one of them."),
        }
    }

    /// Adds what shorthand stands for, after all literal nodes.
    pub(super) fn finish(&mut self) {
        let literal: BTreeSet<_> = self.nodes.keys().map(|(name, ..)| name.clone()).collect();
        for (key, node) in std::mem::take(&mut self.expanded) {
            if !literal.contains(&key.0) {
                self.nodes.entry(key).or_insert(node);
            }
        }
    }
}

/// Where a node applies.
#[derive(Debug, Default)]
struct NodeScope {
    context: Option<PermissionContext>,
    world: Option<PermissionWorld>,
}

impl NodeScope {
    fn is_everywhere(&self) -> bool {
        self.context.is_none() && self.world.is_none()
    }
}

/// Reads a node's contexts. One world is the node's world, all else its context.
fn read_scope(contexts: Option<&BTreeMap<String, OneOrMany>>) -> Result<NodeScope, String> {
    let (mut pairs, mut worlds) = (BTreeSet::new(), BTreeSet::new());
    for (key, values) in contexts.into_iter().flatten() {
        let key = key.trim().to_lowercase();
        for value in values.values() {
            let value = value.trim().to_lowercase();
            if key.is_empty() || value.is_empty() {
                return Err("A context is empty.".to_owned());
            }
            if key.contains(['=', ',']) || value.contains(',') {
                return Err(format!("The context `{}` has a comma or an equals sign.", short(&key)));
            }
            match key.as_str() {
                "server" | "world" if value == EVERYWHERE => {}
                "world" => drop(worlds.insert(value)),
                _ => drop(pairs.insert(format!("{key}={value}"))),
            }
        }
    }
    let mut world = None;
    if worlds.len() == 1 {
        world = worlds.pop_first();
    }
    pairs.extend(worlds.into_iter().map(|world| format!("world={world}")));
    let context = pairs.into_iter().collect::<Vec<_>>().join(",");
    let wrong = |reason: String| format!("Its context {reason}.");
    Ok(NodeScope {
        context: (!context.is_empty()).then(|| context.try_into()).transpose().map_err(wrong)?,
        world: world.map(PermissionWorld::try_from).transpose().map_err(wrong)?,
    })
}

fn node(name: &str, raw: &RawNode, scope: &NodeScope, expires_at: Option<Millis>) -> Result<(Key, Node), String> {
    let name: Identifier = name.parse().map_err(|reason| format!("A node's name {reason}."))?;
    let node =
        Node { node: name, value: raw.value, context: scope.context.clone(), world: scope.world.clone(), expires_at };
    Ok((key(&node), node))
}

fn key(node: &Node) -> Key {
    let context = node.context.as_ref().map_or("", PermissionContext::as_str);
    let world = node.world.as_ref().map_or("", PermissionWorld::as_str);
    (node.node.as_str().to_lowercase(), context.to_owned(), world.to_owned())
}

/// The same node in the same scope, differently spelled; none where that would be too long.
fn respell(mut node: Node) -> Option<(Key, Node)> {
    match (&node.context, &node.world) {
        (_, None) => node.world = EVERYWHERE.parse().ok(),
        (None, Some(_)) => node.context = EVERYWHERE.parse().ok(),
        (Some(context), Some(world)) => {
            node.context = Some(format!("{},world={}", context.as_str(), world.as_str()).try_into().ok()?);
            node.world = None;
        }
    }
    Some((key(&node), node))
}

/// A value of a node's key without its escapes (`Delimiters.java`).
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = character == '\\' && characters.peek().is_some_and(|next| ".\\/-$(){}=,|".contains(*next));
        plain.push(if escaped { characters.next().unwrap_or(character) } else { character });
    }
    plain
}

/// The beginning of a text, for a note.
pub(super) fn short(text: &str) -> String {
    text.chars().take(80).map(|character| if character.is_control() { '?' } else { character }).collect()
}

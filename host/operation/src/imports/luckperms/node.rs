//! Meaning of LuckPerms' nodes for the hub.
//!
//! The kinds are distinguished by their keys like in `common/node/factory/NodeBuilders.java` of `LuckPerms/LuckPerms`.
//! All of them stay nodes, because LuckPerms also answers a check of `weight.10`; a group's weight, prefix and display
//! name also become those of the hub's group.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::shorthand;
use crate::clock::Millis;
use crate::imports::record::Remark;
use crate::permissions::{Node, PermissionContext, PermissionWorld};
use crate::values::Identifier;

/// Maximum number of a holder's nodes kept in memory; above a holder's limit.
const MOST_NODES: usize = 4_000;
/// Maximum number of notes on one holder.
const MOST_NOTES: usize = 100;
/// Maximum length of a prefix or display name, in characters.
const LONGEST_TEXT: usize = 255;
/// Contexts with this value apply to the whole network (`AbstractContextSet.isGlobalServerWorldEntry`).
const EVERYWHERE: &str = "global";

/// Node as in the file.
#[derive(Debug, Deserialize)]
pub(super) struct RawNode {
    key: String,
    value: bool,
    /// Expiry in seconds.
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

/// Identity of a node in its holder: name in lower case, context and world.
type Key = (String, String, String);

/// Nodes of a group or user in the hub's form.
pub(super) struct Holder {
    subject: String,
    now: Millis,
    pub(super) nodes: BTreeMap<Key, Node>,
    /// Nodes expanded from shorthand: literal nodes have precedence.
    expanded: BTreeMap<Key, Node>,
    pub(super) weight: Option<i64>,
    /// Global prefix with the highest priority.
    pub(super) prefix: Option<(i64, String)>,
    pub(super) display_name: Option<String>,
    /// Groups of which it is a member globally.
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

    /// Adds a node of the file, or a note about the reason for skipping it.
    pub(super) fn add(&mut self, raw: &RawNode) {
        if raw.key.is_empty() {
            return;
        }
        if raw.key.starts_with("r=") || raw.key.starts_with("R=") {
            return self.note(&raw.key, "The hub does not support regular expressions as nodes.");
        }
        let expires_at = raw.expiry.map(|seconds| seconds.saturating_mul(1_000));
        if expires_at.is_some_and(|at| at <= self.now) {
            return self.note(&raw.key, "The node has expired.");
        }
        let scope = match read_scope(raw.context.as_ref()) {
            Ok(scope) => scope,
            Err(reason) => return self.note(&raw.key, reason),
        };
        if self.nodes.len() + self.expanded.len() >= MOST_NODES {
            return self.note(&raw.key, format!("The holder has more than {MOST_NODES} nodes."));
        }
        self.apply_meta(raw, &scope);
        // Same meaning in LuckPerms (`WildcardProcessor`).
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

    /// Applies a node's effect on its holder besides a permission: weight, prefix, display name or membership.
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

    /// Inserts a node. A permanent and a temporary node of one name and scope are two nodes in LuckPerms. Here the
    /// temporary one gets another spelling of the same scope.
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
            None => self.note(&key.0, "It is both temporary and permanent in one scope; only one of them is imported."),
        }
    }

    /// Adds nodes expanded from shorthand, after all literal nodes.
    pub(super) fn finish(&mut self) {
        let literal: BTreeSet<_> = self.nodes.keys().map(|(name, ..)| name.clone()).collect();
        for (key, node) in std::mem::take(&mut self.expanded) {
            if !literal.contains(&key.0) {
                self.nodes.entry(key).or_insert(node);
            }
        }
    }
}

/// Scope of a node.
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

/// Reads a node's contexts. A single world becomes the node's world, all else its context.
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
    let wrong = |reason: String| format!("The context {reason}.");
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

/// The same node with another spelling of its scope; none if that would be too long.
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

/// Part of a node's key without escapes (`Delimiters.java`).
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = character == '\\' && characters.peek().is_some_and(|next| ".\\/-$(){}=,|".contains(*next));
        plain.push(if escaped { characters.next().unwrap_or(character) } else { character });
    }
    plain
}

/// Beginning of a text, for a note.
pub(super) fn short(text: &str) -> String {
    text.chars().take(80).map(|character| if character.is_control() { '?' } else { character }).collect()
}

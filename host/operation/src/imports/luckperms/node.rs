//! Meaning of LuckPerms' nodes for the hub.
//!
//! The kinds are distinguished by their keys like in `common/node/factory/NodeBuilders.java` of `LuckPerms/LuckPerms`.
//! All of them stay nodes, because LuckPerms also answers a check of `weight.10`; a group's weight, prefix and display
//! name also become those of the hub's group.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use super::shorthand::{self, Expanded};
use crate::budget::{Budget, Exhausted};
use crate::clock::Millis;
use crate::imports::database::{LATEST, wrong};
use crate::imports::record::Remark;
use crate::permissions::{Node, PermissionContext, PermissionWorld};
use crate::values::Identifier;

/// Maximum number of a holder's nodes kept in memory; above a holder's limit.
const MOST_NODES: usize = 4_000;
/// Maximum number of pairs of a literal node and one from shorthand that are compared.
const MOST_PAIRS: usize = 20_000;
/// Maximum number of notes on one holder.
const MOST_NOTES: usize = 100;
/// Maximum length of a prefix or display name, in characters.
const LONGEST_TEXT: usize = 255;
/// Contexts with this value apply to the whole network (`AbstractContextSet.isGlobalServerWorldEntry`).
const EVERYWHERE: &str = "global";

/// Node as in the file.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a node")]
pub(super) struct RawNode {
    key: String,
    value: bool,
    /// Expiry in seconds.
    #[serde(default)]
    expiry: Option<i64>,
    #[serde(default)]
    context: Option<Contexts>,
}

/// Contexts by name, each of which is there once.
#[derive(Debug)]
struct Contexts(BTreeMap<String, OneOrMany>);

impl<'de> Deserialize<'de> for Contexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContextsVisitor;
        impl<'de> Visitor<'de> for ContextsVisitor {
            type Value = Contexts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("contexts by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Contexts, A::Error> {
                let mut contexts = BTreeMap::new();
                while let Some((name, values)) = map.next_entry::<String, OneOrMany>()? {
                    let told = short(&name);
                    if contexts.insert(name, values).is_some() {
                        return Err(de::Error::custom(format_args!("a node has the context `{told}` twice")));
                    }
                }
                Ok(Contexts(contexts))
            }
        }
        deserializer.deserialize_map(ContextsVisitor)
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
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
    /// Global prefix with the highest priority, with its key.
    prefix: Option<(i64, String)>,
    display_name: Option<String>,
    /// Groups of which it is a member, in any context, and true if a membership is limited: those come first.
    pub(super) parents: BTreeMap<String, bool>,
    is_group: bool,
    pub(super) notes: Vec<Remark>,
}

impl Holder {
    pub(super) fn new(subject: String, is_group: bool, now: Millis) -> Self {
        Self {
            subject,
            is_group,
            now,
            nodes: BTreeMap::new(),
            expanded: BTreeMap::new(),
            weight: None,
            prefix: None,
            display_name: None,
            parents: BTreeMap::new(),
            notes: vec![],
        }
    }

    fn note(&mut self, key: &str, reason: impl Into<String>) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(Remark::new(format_args!("{}: {}", self.subject, short(key)), reason));
        }
    }

    /// Prefix of the chat.
    pub(super) fn prefix(&self) -> Option<String> {
        self.prefix.as_ref().map(|(_, key)| unescape(key))
    }

    pub(super) fn display_name(&self) -> Option<String> {
        self.display_name.as_deref().map(unescape)
    }

    /// Adds a node of the file, or a note about the reason for skipping it.
    pub(super) fn add(&mut self, raw: &RawNode, budget: &Budget) -> Result<(), Exhausted> {
        budget.steps(1)?;
        if let Err(reason) = self.try_add(raw, budget)? {
            self.note(&raw.key, reason);
        }
        Ok(())
    }

    fn try_add(&mut self, raw: &RawNode, budget: &Budget) -> Result<Result<(), String>, Exhausted> {
        let refused = |reason: &str| Ok(Err(reason.to_owned()));
        if raw.key.is_empty() {
            return Ok(Ok(()));
        }
        if raw.key.starts_with("r=") || raw.key.starts_with("R=") {
            return refused("The hub does not support regular expressions as nodes.");
        }
        let expires_at = raw.expiry.map(|seconds| seconds.saturating_mul(1_000));
        if let Some(expiry) = raw.expiry.filter(|_| expires_at.is_some_and(|at| at >= LATEST)) {
            return Ok(Err(wrong("expiry", &expiry.to_string(), "no time in seconds")));
        }
        if expires_at.is_some_and(|at| at <= self.now) {
            return refused("The node has expired.");
        }
        let scope = match read_scope(raw.context.as_ref().map(|contexts| &contexts.0)) {
            Ok(scope) => scope,
            Err(reason) => return Ok(Err(reason)),
        };
        if self.nodes.len() + self.expanded.len() >= MOST_NODES {
            return Ok(Err(format!("The holder has more than {MOST_NODES} nodes.")));
        }
        self.apply_meta(raw, &scope, expires_at);
        // Same meaning in LuckPerms (`WildcardProcessor`).
        let name = if raw.key == "'*'" { "*" } else { raw.key.as_str() };
        let is_membership = raw.key.to_lowercase().starts_with("group.");
        if !is_membership {
            match shorthand::expand(name, budget)? {
                Expanded::Names(names) => {
                    for name in names {
                        if self.expanded.len() >= MOST_NODES {
                            break;
                        }
                        if let Ok((key, node)) = node(&name, raw, &scope, expires_at) {
                            self.expanded.entry(key).or_insert(node);
                        }
                    }
                }
                Expanded::TooLong => return refused("The shorthand is too long to be imported."),
            }
        }
        Ok(match node(name, raw, &scope, expires_at) {
            Ok((key, node)) => {
                self.insert(key, node);
                Ok(())
            }
            Err(reason) => Err(reason),
        })
    }

    /// Applies a node's effect on its holder besides a permission: weight, prefix, display name or membership.
    fn apply_meta(&mut self, raw: &RawNode, scope: &NodeScope, expires_at: Option<Millis>) {
        let key = raw.key.as_str();
        let lower = key.to_lowercase();
        if let Some(weight) = lower.strip_prefix("weight.").and_then(|weight| weight.parse::<i32>().ok()) {
            self.weight = self.weight.max(Some(weight.into()));
        }
        if !raw.value {
            return;
        }
        if let Some(group) = lower.strip_prefix("group.").filter(|group| group.chars().count() <= LONGEST_TEXT)
            && self.parents.len() < MOST_NODES
        {
            let is_limited = !scope.is_everywhere() || expires_at.is_some();
            *self.parents.entry(group.to_owned()).or_default() |= is_limited;
        }
        let is_prefix = lower.starts_with("prefix.");
        if !scope.is_everywhere() || !(is_prefix || lower.starts_with("displayname.")) {
            return;
        }
        // The hub's are for ever.
        if expires_at.is_some() {
            if self.is_group {
                self.note(key, "It is temporary; only a permanent one becomes the group's.");
            }
            return;
        }
        let text = |from: &str| Some(from.to_owned()).filter(|from| unescape(from).chars().count() <= LONGEST_TEXT);
        if !is_prefix {
            // Of several LuckPerms takes the first by its key.
            let name = key.get("displayname.".len()..).and_then(text);
            self.display_name = match (self.display_name.take(), name) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            return;
        }
        let Some((priority, prefix)) = key.get("prefix.".len()..).and_then(|rest| rest.split_once('.')) else { return };
        let (Ok(priority), Some(prefix)) = (priority.parse::<i32>().map(i64::from), text(prefix)) else { return };
        match &mut self.prefix {
            None => self.prefix = Some((priority, prefix)),
            Some((highest, _)) if *highest > priority => {}
            Some(other) if other.0 < priority => *other = (priority, prefix),
            // Of one priority the first by its key counts (`NodeComparator`, `MetaAccumulator.addNode`).
            Some((_, other)) => {
                let is_first = utf16(&prefix).lt(utf16(other));
                let (kept, dropped) = if is_first { (prefix.clone(), other.clone()) } else { (other.clone(), prefix) };
                other.clone_from(&kept);
                if self.is_group {
                    let reason = format!(
                        "Another prefix has the same priority, {priority}; LuckPerms shows the first by the alphabet, \
                         `{}`.",
                        short(&unescape(&kept))
                    );
                    self.note(&format!("prefix.{priority}.{dropped}"), reason);
                }
            }
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

    /// Adds nodes expanded from shorthand, after all literal nodes: where both apply, LuckPerms prefers the literal one,
    /// whatever their contexts are (`PermissionHolder.processExportedPermissions`).
    pub(super) fn finish(&mut self, budget: &Budget) -> Result<(), Exhausted> {
        let expanded = std::mem::take(&mut self.expanded);
        if expanded.is_empty() {
            return Ok(());
        }
        let mut literal = BTreeMap::<&str, Vec<&Node>>::new();
        for (key, node) in &self.nodes {
            literal.entry(key.0.as_str()).or_default().push(node);
        }
        let pairs: usize = expanded.keys().map(|key| literal.get(key.0.as_str()).map_or(0, Vec::len)).sum();
        budget.steps(pairs as u64)?;
        if pairs > MOST_PAIRS {
            let reason = "It has too many nodes in shorthand beside the same nodes; the shorthand is not imported.";
            self.note("*", reason);
            return Ok(());
        }
        let (mut added, mut overriding) = (vec![], vec![]);
        for (key, node) in expanded {
            let mut is_needed = true;
            for other in literal.get(key.0.as_str()).into_iter().flatten() {
                let Some(both) = both_scopes(other, &node) else { continue };
                let ends = |at: Option<Millis>| at.unwrap_or(Millis::MAX);
                if both == pairs_of(&node) {
                    // The literal node applies wherever this one does, as long as it lasts.
                    is_needed &= ends(other.expires_at) < ends(node.expires_at);
                    if !is_needed || other.value == node.value {
                        continue;
                    }
                } else if other.value == node.value {
                    continue;
                }
                let expires_at = Some(ends(other.expires_at).min(ends(node.expires_at))).filter(|at| *at < Millis::MAX);
                match scoped(node.node.clone(), other.value, &both, expires_at) {
                    Ok(made) => overriding.push(made),
                    Err(reason) => added.push(Err((key.0.clone(), reason))),
                }
            }
            if is_needed {
                added.push(Ok((key, node)));
            }
        }
        for node in added {
            match node {
                Ok((key, node)) => {
                    self.nodes.entry(key).or_insert(node);
                }
                Err((name, reason)) => self.note(&name, reason),
            }
        }
        for (key, node) in overriding {
            if self.nodes.len() >= MOST_NODES {
                self.note(&key.0, format!("The holder has more than {MOST_NODES} nodes."));
                break;
            }
            if self.nodes.get(&key).is_none_or(|there| there.value != node.value) {
                self.insert(key, node);
            }
        }
        Ok(())
    }
}

/// Contexts of a node by name, the world among them; each may have several values.
type Scopes = BTreeMap<String, BTreeSet<String>>;

fn pairs_of(node: &Node) -> Scopes {
    let mut pairs = Scopes::new();
    let context = node.context.as_ref().map_or("", PermissionContext::as_str);
    for (name, value) in context.split(',').filter_map(|pair| pair.split_once('=')) {
        pairs.entry(name.to_owned()).or_default().insert(value.to_owned());
    }
    if let Some(world) = &node.world {
        pairs.entry("world".to_owned()).or_default().insert(world.as_str().to_owned());
    }
    pairs
}

/// Contexts in which both nodes apply; none if there are none.
fn both_scopes(one: &Node, other: &Node) -> Option<Scopes> {
    let mut both = pairs_of(one);
    for (name, values) in pairs_of(other) {
        match both.get_mut(&name) {
            Some(there) => {
                there.retain(|value| values.contains(value));
                if there.is_empty() {
                    return None;
                }
            }
            None => drop(both.insert(name, values)),
        }
    }
    Some(both)
}

/// Node in these contexts.
fn scoped(node: Identifier, value: bool, contexts: &Scopes, expires_at: Option<Millis>) -> Result<(Key, Node), String> {
    let many: BTreeMap<_, _> = contexts
        .iter()
        .map(|(name, values)| (name.clone(), OneOrMany::Many(values.iter().cloned().collect())))
        .collect();
    let scope = read_scope(Some(&many))?;
    let node = Node { node, value, context: scope.context, world: scope.world, expires_at };
    Ok((key(&node), node))
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
    let mut characters = text.chars().filter(|character| *character != '\0').peekable();
    while let Some(character) = characters.next() {
        let escaped = character == '\\' && characters.peek().is_some_and(|next| ".\\/-$(){}=,|".contains(*next));
        plain.push(if escaped { characters.next().unwrap_or(character) } else { character });
    }
    plain
}

/// Text in the order of Java's comparison.
fn utf16(text: &str) -> impl Iterator<Item = u16> + use<'_> {
    text.encode_utf16()
}

/// Beginning of a text, for a note.
pub(in crate::imports) fn short(text: &str) -> String {
    text.chars().take(80).map(|character| if character.is_control() { '?' } else { character }).collect()
}

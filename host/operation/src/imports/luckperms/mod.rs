//! LuckPerms export: the JSON file written by `/lp export` with gzip.
//!
//! Its format is that of `common/backup/Exporter.java` in the repository `LuckPerms/LuckPerms`: `groups` and `users`
//! by name and UUID with their `nodes`, each `{type, key, value, expiry?, context?}` as in
//! `common/node/utils/NodeJsonSerializer.java`; `tracks`, which the hub does not support. [`node`] defines the meaning
//! of nodes.

mod node;
mod shorthand;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::rc::Rc;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::clock::Millis;
use crate::imports::json_guard::JsonGuard;
use crate::imports::record::{Category, Item, ParseError, Record, Remark, Sink};
use crate::permissions::GroupImport;
use crate::values::{Identifier, PlayerId};
use node::{Holder, RawNode};

/// Maximum number of groups whose weights are kept in memory.
const MOST_GROUPS: usize = 100_000;

/// Reads an unpacked export at the time `now`.
pub(super) fn read(source: impl BufRead, now: Millis, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let guard = JsonGuard::new(source);
    let reading = Reading {
        line: guard.line(),
        sink: RefCell::new(sink),
        stopped: RefCell::new(None),
        weights: RefCell::default(),
        now,
    };
    let mut deserializer = serde_json::Deserializer::from_reader(guard);
    let read = (&mut deserializer).deserialize_map(ExportVisitor(&reading)).and_then(|()| deserializer.end());
    if let Some(stopped) = reading.stopped.take() {
        return Err(stopped);
    }
    read.map_err(|error| {
        let line = u64::try_from(error.line()).unwrap_or(0).max(1);
        ParseError::at(line, format!("This is not a LuckPerms export: {error}."))
    })
}

/// Receiver of the records, with the state of reading.
struct Reading<'r, 's> {
    line: Rc<Cell<u64>>,
    sink: RefCell<&'r mut Sink<'s>>,
    /// Reason for which the sink stopped, if it did.
    stopped: RefCell<Option<ParseError>>,
    /// Weights of the groups, which come before the users.
    weights: RefCell<HashMap<String, i64>>,
    now: Millis,
}

impl Reading<'_, '_> {
    fn take<E: de::Error>(&self, line: u64, record: Record, notes: Vec<Remark>) -> Result<(), E> {
        let mut sink = self.sink.borrow_mut();
        (**sink)(Item { line: Some(line), record, notes }).map_err(|error| {
            let message = format!("{error:?}");
            self.stopped.replace(Some(error));
            E::custom(message)
        })
    }

    fn group<E: de::Error>(&self, name: &str, line: u64, holder: Holder) -> Result<(), E> {
        let mut notes = holder.notes;
        let Ok(id) = name.parse::<Identifier>() else {
            let subject = format!("group {:?}", node::short(name));
            notes.push(Remark::new(subject, "Invalid group name."));
            return self.take(line, Record::Skipped(Category::Groups), notes);
        };
        if self.weights.borrow().len() < MOST_GROUPS {
            self.weights.borrow_mut().insert(name.to_lowercase(), holder.weight.unwrap_or(0));
        }
        let group = GroupImport {
            id,
            display_name: holder.display_name,
            priority: holder.weight.unwrap_or(0),
            chat_prefix: holder.prefix.map(|(_, prefix)| prefix),
            nodes: holder.nodes.into_values().collect(),
        };
        self.take(line, Record::Group(group), notes)
    }

    fn user<E: de::Error>(&self, uuid: &str, line: u64, user: Body) -> Result<(), E> {
        let player: PlayerId =
            uuid.parse().map_err(|_| E::custom(format_args!("a user's key `{}` is not a UUID", node::short(uuid))))?;
        let Body { holder, primary_group } = user;
        let mut notes = holder.notes;
        if let Some(primary) =
            primary_group.filter(|primary| holder.parents.len() > 1 && holder.parents.contains(primary))
        {
            let weights = self.weights.borrow();
            let weight = |group: &str| weights.get(group).copied().unwrap_or(0);
            let own = weight(&primary);
            let mut equals = holder.parents.iter().filter(|group| **group < primary && weight(group) == own);
            if let Some(other) = equals.next() {
                let reason = format!(
                    "Among groups of equal weight LuckPerms checks the primary group first, the hub `{other}`. If they \
                     conflict, give `{primary}` a higher priority."
                );
                notes.push(Remark::new(format_args!("user {player}: primary group {primary}"), reason));
            }
        }
        let nodes = holder.nodes.into_values().collect();
        self.take(line, Record::Player { player, nodes }, notes)
    }

    fn track<E: de::Error>(&self, name: &str, line: u64) -> Result<(), E> {
        let remark = Remark::new(format_args!("track {}", node::short(name)), "The hub does not support tracks.");
        self.take(line, Record::Skipped(Category::Tracks), vec![remark])
    }
}

/// The whole file.
struct ExportVisitor<'r, 'a, 's>(&'r Reading<'a, 's>);

impl<'de> Visitor<'de> for ExportVisitor<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `groups` and `users`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut is_export = false;
        while let Some(key) = map.next_key::<String>()? {
            let section = match key.as_str() {
                "groups" => Section::Groups,
                "tracks" => Section::Tracks,
                "users" => Section::Users,
                "knownPermissions" | "permissionHolders" => {
                    return Err(de::Error::custom("it is a web editor file; create an export with `/lp export`"));
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            is_export = true;
            map.next_value_seed(SectionSeed(self.0, section))?;
        }
        if is_export { Ok(()) } else { Err(de::Error::custom("there are neither `groups` nor `users`")) }
    }
}

#[derive(Clone, Copy)]
enum Section {
    Groups,
    Tracks,
    Users,
}

/// Entries by name.
struct SectionSeed<'r, 'a, 's>(&'r Reading<'a, 's>, Section);

impl<'de> DeserializeSeed<'de> for SectionSeed<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SectionSeed<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object by names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(reading, section) = self;
        while let Some(name) = map.next_key::<String>()? {
            let line = reading.line.get();
            match section {
                Section::Groups => {
                    let seed = BodySeed { reading, subject: format!("group {}", node::short(&name)) };
                    let body = map.next_value_seed(seed)?;
                    reading.group(&name.to_lowercase(), line, body.holder)?;
                }
                Section::Tracks => {
                    map.next_value::<IgnoredAny>()?;
                    reading.track(&name, line)?;
                }
                Section::Users => {
                    let seed = BodySeed { reading, subject: format!("user {}", node::short(&name)) };
                    let body = map.next_value_seed(seed)?;
                    reading.user(&name, line, body)?;
                }
            }
        }
        Ok(())
    }
}

/// A group or a user.
struct Body {
    holder: Holder,
    primary_group: Option<String>,
}

struct BodySeed<'r, 'a, 's> {
    reading: &'r Reading<'a, 's>,
    subject: String,
}

impl<'de> DeserializeSeed<'de> for BodySeed<'_, '_, '_> {
    type Value = Body;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Body, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for BodySeed<'_, '_, '_> {
    type Value = Body;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `nodes`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body, A::Error> {
        let (mut holder, mut primary_group) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "nodes" => {
                    let holder_of = Holder::new(self.subject.clone(), self.reading.now);
                    holder = Some(map.next_value_seed(NodesSeed(holder_of))?);
                }
                "primaryGroup" => primary_group = map.next_value::<Option<String>>()?.map(|name| name.to_lowercase()),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let mut holder = holder.ok_or_else(|| de::Error::missing_field("nodes"))?;
        holder.finish();
        Ok(Body { holder, primary_group })
    }
}

/// Nodes of a holder, one by one.
struct NodesSeed(Holder);

impl<'de> DeserializeSeed<'de> for NodesSeed {
    type Value = Holder;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Holder, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for NodesSeed {
    type Value = Holder;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut nodes: A) -> Result<Holder, A::Error> {
        while let Some(node) = nodes.next_element::<RawNode>()? {
            self.0.add(&node);
        }
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests;

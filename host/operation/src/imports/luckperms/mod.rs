//! LuckPerms export: the JSON file written by `/lp export` with gzip.
//!
//! Its format is that of `common/backup/Exporter.java` in the repository `LuckPerms/LuckPerms`: `groups` and `users`
//! by name and UUID with their `nodes`, each `{type, key, value, expiry?, context?}` as in
//! `common/node/utils/NodeJsonSerializer.java`; `tracks` with the names of their `groups`, from the lowest. [`node`]
//! defines the meaning of nodes.

mod node;
mod shorthand;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::json;

use crate::budget::Budget;
use crate::clock::Millis;
use crate::config_documents::DocumentImport;
use crate::imports::balances::PlayerSet;
use crate::imports::findings::Findings;
use crate::imports::input::Input;
use crate::imports::json_guard::{JsonGuard, json_error};
use crate::imports::record::{Category, Item, ParseError, Record, Remark, Sink};
use crate::permissions::GroupImport;
use crate::values::{Identifier, PlayerId};
use node::{Holder, RawNode};

/// Primary group of a user whose export names none (`Exporter.java` leaves it out).
const DEFAULT_GROUP: &str = "default";
/// Group of the config documents that tracks become.
const TRACKS: &str = "luckperms-tracks";
/// Maximum number of groups in a track, and of bytes of their names.
const MOST_OF_TRACK: usize = 1_000;
const LONGEST_TRACK: usize = 64 * 1024;
/// Memory of a name beside its text.
const NAME: usize = 64;

/// Reads an unpacked export at the time `now`.
pub(super) fn read(source: Input<'_>, now: Millis, known: &Findings, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let guard = JsonGuard::new(source);
    let reading = Reading {
        line: guard.line(),
        budget: sink.budget(),
        sink: RefCell::new(sink),
        stopped: RefCell::new(None),
        known,
        now,
        taken: Cell::new((0, 0, 0)),
        has_read: Cell::new(false),
    };
    let failure = guard.failure();
    let mut deserializer = serde_json::Deserializer::from_reader(guard);
    let read = (&mut deserializer).deserialize_map(ExportVisitor(&reading)).and_then(|()| deserializer.end());
    if let Some(stopped) = reading.stopped.take() {
        return Err(stopped);
    }
    let taken = reading.taken.get();
    read.map_err(|error| json_error(&error, &failure, "a LuckPerms export"))?;
    if !reading.has_read.get() {
        let found = taken.0 + taken.1 + taken.2;
        return Err(ParseError::whole(if found == 0 {
            "The export has no groups, tracks or users; create it with `/lp export`.".to_owned()
        } else {
            format!("None of its {found} groups, tracks and users has a name that the hub can take.")
        }));
    }
    for (count, category, subject) in [(taken.0, Category::Groups, "groups"), (taken.2, Category::Players, "users")] {
        if count == 0 {
            let notes = vec![Remark::new(subject, format!("The export has no {subject}."))];
            sink.send(Item { line: None, record: Record::Table(category), notes })?;
        }
    }
    Ok(())
}

/// Receiver of the records, with the state of reading.
struct Reading<'r, 's> {
    line: Rc<Cell<u64>>,
    budget: &'r Budget,
    sink: RefCell<&'r mut Sink<'s>>,
    /// Reason for which the sink stopped, if it did.
    stopped: RefCell<Option<ParseError>>,
    /// Findings of an earlier reading: the weights of the groups.
    known: &'r Findings,
    now: Millis,
    /// Numbers of groups, tracks and users.
    taken: Cell<(u64, u64, u64)>,
    /// True once one of them was no skipped one.
    has_read: Cell<bool>,
}

impl Reading<'_, '_> {
    fn take<E: de::Error>(&self, line: u64, record: Record, notes: Vec<Remark>) -> Result<(), E> {
        let (groups, tracks, users) = self.taken.get();
        self.has_read.set(self.has_read.get() || !matches!(record, Record::Skipped(_)));
        self.taken.set(match record.category() {
            Category::Groups => (groups + 1, tracks, users),
            Category::Tracks => (groups, tracks + 1, users),
            _ => (groups, tracks, users + 1),
        });
        self.sink.borrow_mut().send(Item { line: Some(line), record, notes }).map_err(|error| self.stop(error))
    }

    fn stop<E: de::Error>(&self, error: ParseError) -> E {
        let message = format!("{error:?}");
        self.stopped.replace(Some(error));
        E::custom(message)
    }

    fn group<E: de::Error>(&self, name: &str, line: u64, holder: Holder, note: Option<Remark>) -> Result<(), E> {
        let (display_name, chat_prefix) = (holder.display_name(), holder.prefix());
        let mut notes = holder.notes;
        notes.extend(note);
        let Ok(id) = name.parse::<Identifier>() else {
            let subject = format!("group {:?}", node::short(name));
            notes.push(Remark::new(subject, "Invalid group name."));
            return self.take(line, Record::Skipped(Category::Groups), notes);
        };
        let group = GroupImport {
            id,
            display_name,
            priority: holder.weight.unwrap_or(0),
            chat_prefix,
            nodes: holder.nodes.into_values().collect(),
        };
        self.take(line, Record::Group(group), notes)
    }

    fn user<E: de::Error>(&self, uuid: &str, line: u64, user: Body, note: Option<Remark>) -> Result<(), E> {
        let player: PlayerId =
            uuid.parse().map_err(|_| E::custom(format_args!("a user's key `{}` is not a UUID", node::short(uuid))))?;
        let Body { holder, primary_group } = user;
        let mut notes = holder.notes;
        notes.extend(note);
        if player.0.is_nil() {
            notes.push(Remark::new(format_args!("user {player}"), "It is the UUID of nobody."));
            return self.take(line, Record::Skipped(Category::Players), notes);
        }
        let primary = primary_group.unwrap_or_else(|| DEFAULT_GROUP.to_owned());
        if holder.parents.len() > 1 && holder.parents.contains_key(&primary) {
            let weight = |group: &str| self.known.weight(group);
            let own = weight(&primary);
            // The order of the nodes counts in the hub: limited ones first, then by name.
            let mut equals = holder.parents.iter().filter(|(group, is_limited)| {
                **group != primary && weight(group) == own && (**is_limited || **group < primary)
            });
            if let Some((other, _)) = equals.next() {
                let reason = format!(
                    "Among groups of equal weight LuckPerms checks the primary group first, the hub perhaps `{other}`. \
                     If they conflict, give `{primary}` a higher priority."
                );
                notes.push(Remark::new(format_args!("user {player}: primary group {primary}"), reason));
            }
        }
        let nodes = holder.nodes.into_values().collect();
        self.take(line, Record::Player { player, nodes }, notes)
    }

    /// The hub promotes nobody along a track, but plugins may: it becomes a document that they read.
    fn track<E: de::Error>(&self, name: &str, line: u64, groups: &[String], note: Option<Remark>) -> Result<(), E> {
        let subject = format!("track {}", node::short(name));
        let Ok(namespace) = name.parse::<Identifier>() else {
            let remark = Remark::new(subject, "Invalid track name.");
            return self.take(line, Record::Skipped(Category::Tracks), vec![remark]);
        };
        let group = TRACKS.parse().map_err(E::custom)?;
        let reason = format!(
            "Stored as the config document `{namespace}` of the group `{TRACKS}`, with its groups in order. The hub itself \
             promotes nobody along a track."
        );
        let track = DocumentImport { group, namespace, doc: json!({"groups": groups}) };
        let notes = std::iter::once(Remark::new(subject, reason)).chain(note).collect();
        self.take(line, Record::Track(track), notes)
    }

    /// Notes that a user is there a second time.
    fn note_user<E: de::Error>(&self, players: &mut PlayerSet, uuid: &str) -> Result<Option<Remark>, E> {
        let Ok(player) = uuid.parse::<PlayerId>() else { return Ok(None) };
        let is_new = players.insert(player, self.budget);
        let is_new = is_new.map_err(|exhausted| self.stop::<E>(ParseError::exhausted(exhausted)))?;
        let reason = "The file has this user twice; both are read, one after the other.";
        Ok((!is_new).then(|| Remark::new(format_args!("user {player}"), reason)))
    }

    /// Notes that a name is there a second time.
    fn note_name<E: de::Error>(
        &self,
        names: &mut HashSet<String>,
        name: &str,
        kind: &str,
    ) -> Result<Option<Remark>, E> {
        let name = name.to_lowercase();
        if names.contains(&name) {
            let reason = "The file has this name twice, perhaps in another case; both are read, one after the other.";
            return Ok(Some(Remark::new(format_args!("{kind} {}", node::short(&name)), reason)));
        }
        let within = self.budget.memory(NAME + name.len());
        within.map_err(|exhausted| self.stop::<E>(ParseError::exhausted(exhausted)))?;
        names.insert(name);
        Ok(None)
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
        let mut sections = [false; 3];
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
            if std::mem::replace(&mut sections[section as usize], true) {
                return Err(de::Error::custom(format_args!("it has `{}` twice", node::short(&key))));
            }
            map.next_value_seed(SectionSeed(self.0, section))?;
        }
        if sections.contains(&true) { Ok(()) } else { Err(de::Error::custom("there are neither `groups` nor `users`")) }
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
        let (mut names, mut players) = (HashSet::new(), PlayerSet::default());
        while let Some(name) = map.next_key::<String>()? {
            let line = reading.line.get();
            match section {
                Section::Groups => {
                    let subject = format!("group {}", node::short(&name));
                    let seed = BodySeed { reading, subject, is_group: true };
                    let note = reading.note_name(&mut names, &name, "group")?;
                    let body = map.next_value_seed(seed)?;
                    reading.group(&name.to_lowercase(), line, body.holder, note)?;
                }
                Section::Tracks => {
                    let Track { groups: TrackGroups(groups) } = map.next_value()?;
                    let note = reading.note_name(&mut names, &name, "track")?;
                    reading.track(&name.to_lowercase(), line, &groups, note)?;
                }
                Section::Users => {
                    let subject = format!("user {}", node::short(&name));
                    let seed = BodySeed { reading, subject, is_group: false };
                    let body = map.next_value_seed(seed)?;
                    let note = reading.note_user(&mut players, &name)?;
                    reading.user(&name, line, body, note)?;
                }
            }
        }
        Ok(())
    }
}

/// Groups of a track, from the lowest.
#[derive(Deserialize)]
struct Track {
    groups: TrackGroups,
}

/// Names of a track's groups.
struct TrackGroups(Vec<String>);

impl<'de> Deserialize<'de> for TrackGroups {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(TrackGroupsVisitor)
    }
}

struct TrackGroupsVisitor;

impl<'de> Visitor<'de> for TrackGroupsVisitor {
    type Value = TrackGroups;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of groups")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<TrackGroups, A::Error> {
        let (mut groups, mut bytes) = (vec![], 0);
        while let Some(name) = names.next_element::<String>()? {
            bytes += name.len();
            if groups.len() == MOST_OF_TRACK || bytes > LONGEST_TRACK {
                let message =
                    format!("a track has more than {MOST_OF_TRACK} groups, or their names {LONGEST_TRACK} bytes");
                return Err(de::Error::custom(message));
            }
            groups.push(name.to_lowercase());
        }
        Ok(TrackGroups(groups))
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
    is_group: bool,
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
                "nodes" if holder.is_some() => return Err(de::Error::duplicate_field("nodes")),
                "nodes" => {
                    let empty = Holder::new(self.subject.clone(), self.is_group, self.reading.now);
                    holder = Some(map.next_value_seed(NodesSeed(self.reading, empty))?);
                }
                "primaryGroup" => primary_group = map.next_value::<Option<String>>()?.map(|name| name.to_lowercase()),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let mut holder = holder.ok_or_else(|| de::Error::missing_field("nodes"))?;
        let finished = holder.finish(self.reading.budget);
        finished.map_err(|exhausted| self.reading.stop::<A::Error>(ParseError::exhausted(exhausted)))?;
        Ok(Body { holder, primary_group })
    }
}

/// Nodes of a holder, one by one.
struct NodesSeed<'r, 'a, 's>(&'r Reading<'a, 's>, Holder);

impl<'de> DeserializeSeed<'de> for NodesSeed<'_, '_, '_> {
    type Value = Holder;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Holder, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for NodesSeed<'_, '_, '_> {
    type Value = Holder;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut nodes: A) -> Result<Holder, A::Error> {
        while let Some(node) = nodes.next_element::<RawNode>()? {
            let Self(reading, holder) = &mut self;
            let added = holder.add(&node, reading.budget);
            added.map_err(|exhausted| reading.stop::<A::Error>(ParseError::exhausted(exhausted)))?;
        }
        Ok(self.1)
    }
}

#[cfg(test)]
mod tests;

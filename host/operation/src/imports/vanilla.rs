//! The game server's own lists: `banned-players.json`, `banned-ips.json` and `whitelist.json`.
//!
//! Each is a list of objects: bans have `uuid` and `name` or `ip`, `created`, `source`, `expires` (a time or
//! `forever`) and `reason`; the whitelist has `uuid` and `name`.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use jiff::Timestamp;
use jiff::fmt::strtime;
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};

use crate::clock::Millis;
use crate::imports::database::{EARLIEST, LATEST, wrong};
use crate::imports::input::Input;
use crate::imports::json_guard::{JsonGuard, json_error};
use crate::imports::record::{Category, Item, ParseError, Record, Remark, Sink, SourceKey};
use crate::punishments::{Actor, ImportedPunishment, IpAddress, PunishmentKind, PunishmentState, Target};
use crate::values::PlayerId;

const LONGEST_REASON: usize = 1_024;
const LONGEST_NAME: usize = 255;
/// Format of times: `2026-01-31 12:00:00 +0000`.
const TIME: &str = "%Y-%m-%d %H:%M:%S %z";

/// Entry of a list, before its values are what they must be.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object such as `{\"uuid\": …, \"name\": …}`")]
struct Entry {
    uuid: Option<String>,
    name: Option<String>,
    ip: Option<String>,
    created: Option<String>,
    source: Option<String>,
    expires: Option<String>,
    reason: Option<String>,
    /// Level of an operator.
    level: Option<IgnoredAny>,
    /// End of a name in the server's cache.
    #[serde(rename = "expiresOn")]
    expires_on: Option<IgnoredAny>,
}

/// Reads a list at the time `now`.
pub(super) fn read(source: Input<'_>, now: Millis, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let guard = JsonGuard::new(source);
    let list = List {
        line: guard.line(),
        sink: RefCell::new(sink),
        stopped: RefCell::new(None),
        has_whitelist: Cell::new(false),
        has_cache: Cell::new(false),
        counts: Cell::new((0, 0)),
        first: RefCell::new(None),
        now,
    };
    let failure = guard.failure();
    let mut deserializer = serde_json::Deserializer::from_reader(guard);
    let read = (&mut deserializer).deserialize_seq(&list).and_then(|()| deserializer.end());
    if let Some(stopped) = list.stopped.take() {
        return Err(stopped);
    }
    let name = "one of the server's lists (`banned-players.json`, `banned-ips.json`, `whitelist.json`)";
    read.map_err(|error| json_error(&error, &failure, name))?;
    match list.counts.get() {
        (0, 0) => return Err(ParseError::whole("The list is empty.")),
        (0, unreadable) => {
            let (line, reason) = list.first.take().unwrap_or((1, String::new()));
            let message = format!("None of its {unreadable} entries can be read. The first: {reason}");
            return Err(ParseError::at(line, message));
        }
        _ => {}
    }
    let whitelist = ("whitelist", "The hub has no whitelist: the players' names are imported.");
    let cache = (
        "usercache.json",
        "The file is the server's cache of names, which has neither bans nor a whitelist: the players' names are \
         imported.",
    );
    for (is_there, (subject, reason)) in [(list.has_whitelist.get(), whitelist), (list.has_cache.get(), cache)] {
        if is_there {
            let notes = vec![Remark::new(subject, reason)];
            sink.send(Item { line: None, record: Record::Table(Category::Sightings), notes })?;
        }
    }
    Ok(())
}

struct List<'l, 's> {
    line: Rc<Cell<u64>>,
    sink: RefCell<&'l mut Sink<'s>>,
    /// Reason for which the sink stopped, if it did.
    stopped: RefCell<Option<ParseError>>,
    has_whitelist: Cell<bool>,
    /// True if entries are of `usercache.json`.
    has_cache: Cell<bool>,
    /// Numbers of entries that were read, and that cannot be.
    counts: Cell<(u64, u64)>,
    /// Line of the first that cannot be read, and the reason.
    first: RefCell<Option<(u64, String)>>,
    now: Millis,
}

impl<'de> Visitor<'de> for &List<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(entry) = entries.next_element::<Entry>()? {
            let line = self.line.get();
            let subject = entry.uuid.as_deref().or(entry.ip.as_deref()).unwrap_or("?");
            let subject: String = subject.chars().take(80).collect();
            let (read, unreadable) = self.counts.get();
            let (record, notes) = match self.record(entry, &subject) {
                Ok(read_entry) => {
                    self.counts.set((read + 1, unreadable));
                    read_entry
                }
                Err(reason) => {
                    self.counts.set((read, unreadable + 1));
                    self.first.borrow_mut().get_or_insert_with(|| (line, reason.clone()));
                    (Record::Skipped(Category::Punishments), vec![Remark::new(subject, reason)])
                }
            };
            self.sink.borrow_mut().send(Item { line: Some(line), record, notes }).map_err(|error| {
                let message = format!("{error:?}");
                self.stopped.replace(Some(error));
                de::Error::custom(message)
            })?;
        }
        Ok(())
    }
}

impl List<'_, '_> {
    fn record(&self, entry: Entry, subject: &str) -> Result<(Record, Vec<Remark>), String> {
        let mut notes = vec![];
        let name = text(entry.name, LONGEST_NAME);
        let player = || -> Result<PlayerId, String> {
            let uuid = entry.uuid.as_deref().ok_or("`uuid` is missing.")?;
            let player: PlayerId = uuid.parse().map_err(|_| wrong("uuid", uuid, "no UUID"))?;
            if player.0.is_nil() { Err(wrong("uuid", uuid, "the UUID of nobody")) } else { Ok(player) }
        };
        if entry.level.is_some() {
            return Err("The entry is of an operator; operators are not imported.".to_owned());
        }
        let is_ban = entry.created.is_some()
            || entry.source.is_some()
            || entry.expires.is_some()
            || entry.reason.is_some()
            || entry.ip.is_some();
        if !is_ban {
            let kind = if entry.expires_on.is_some() { &self.has_cache } else { &self.has_whitelist };
            kind.set(true);
            let name = Some(name.ok_or("`name` is missing.")?);
            return Ok((Record::Sighting { player: player()?, name, address: None, at: 0 }, vec![]));
        }
        let target = match &entry.ip {
            Some(ip) => Target::Address(ip.parse::<IpAddress>().map_err(|_| wrong("ip", ip, "no address"))?),
            None => Target::Player { id: player()?, name, ip_based: false },
        };
        let issued_at = if let Some(created) = entry.created.as_deref() {
            time(created).ok_or_else(|| wrong("created", created, "no time"))?
        } else {
            notes.push(Remark::new(subject, "The time of the ban is missing; it is the import's."));
            self.now
        };
        let expires_at = match entry.expires.as_deref() {
            None | Some("forever") => None,
            Some(expires) => {
                let at = time(expires).ok_or_else(|| wrong("expires", expires, "neither a time nor `forever`"))?;
                Some(at.max(issued_at + 1))
            }
        };
        let reason = text(entry.reason, usize::MAX);
        if reason.as_ref().is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
            notes.push(Remark::new(subject, format!("The reason is truncated to {LONGEST_REASON} characters.")));
        }
        let has_expired = expires_at.is_some_and(|at| at <= self.now);
        let punishment = ImportedPunishment {
            target,
            kind: PunishmentKind::Ban,
            reason: reason.map(|reason| reason.chars().take(LONGEST_REASON).collect()),
            issuer: Actor { player: None, name: text(entry.source, LONGEST_NAME) },
            issued_at,
            expires_at,
            address: None,
            state: if has_expired { PunishmentState::Expired } else { PunishmentState::Open },
            revocation: None,
        };
        // A later ban of the same player is another one. One without a time has none to tell it by.
        let created = entry.created.map_or(0, |_| issued_at);
        let key = SourceKey { source: "vanilla".to_owned(), key: format!("{subject}:{created}") };
        Ok((Record::Punishment { key, punishment: Box::new(punishment) }, notes))
    }
}

fn text(text: Option<String>, longest: usize) -> Option<String> {
    let text: String = text?.chars().filter(|character| *character != '\0').take(longest).collect();
    Some(text).filter(|text| !text.trim().is_empty())
}

fn time(text: &str) -> Option<Millis> {
    let at: Timestamp = strtime::parse(TIME, text.trim()).and_then(|time| time.to_timestamp()).ok()?;
    Some(at.as_millisecond()).filter(|at| (EARLIEST..LATEST).contains(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_the_server_writes_them() {
        assert_eq!(time("2027-03-10 09:30:00 +0000"), Some(1_804_671_000_000));
        assert_eq!(time("2027-03-10 11:30:00 +0200"), Some(1_804_671_000_000));
        for wrong in ["", "forever", "2027-03-10 09:30:00", "1804671000000", "1970-01-01 00:00:00 +0000"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}

//! EssentialsX's `userdata` folder as a ZIP archive: one YAML file per player, named by UUID.
//!
//! The fields are those of `config/holders/UserConfigHolder.java` in the repository `EssentialsX/Essentials`, with
//! names in kebab case: `money` (a quoted number), `npc`, `last-account-name`. A file without `money` is of a player
//! with the starting balance (`UserData._getMoney`).

use std::cell::Cell;
use std::io::{Read, Seek};

use saphyr_parser::{Event, Parser};

use super::number;
use super::{Tally, balance, skipped};
use crate::imports::archive::Archive;
use crate::imports::findings::NumberFormat;
use crate::imports::forms::not_utf8;
use crate::imports::record::{Category, Item, ParseError, Record, Remark, Sink};
use crate::values::PlayerId;

/// Maximum size of a player's file.
const LARGEST_FILE: u64 = 1024 * 1024;
/// Maximum nesting depth of a player's file.
const DEEPEST: usize = 64;

/// Reads an archive.
pub(in crate::imports) fn read(source: impl Read + Seek, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let budget = sink.budget();
    let unnamed = Cell::new(0_u64);
    let is_sheet = Cell::new(false);
    let mut archive = Archive::open(source, budget, |path| {
        is_sheet.set(is_sheet.get() || matches!(path, "[Content_Types].xml" | "mimetype"));
        let player = player_of(path);
        unnamed.set(unnamed.get() + u64::from(player.is_none() && is_of_name(path)));
        player
    })?;
    let entries = std::mem::take(&mut archive.entries);
    if entries.is_empty() && is_sheet.get() {
        return Err(ParseError::whole("This file is a spreadsheet; save the sheet as CSV and import that."));
    }
    if entries.is_empty() {
        return Err(ParseError::whole(
            "The archive contains no player files such as `userdata/069a79f4-44e9-4726-a5be-fca90e38aaf5.yml`.",
        ));
    }
    let (mut text, mut tally) = (vec![], Tally::default());
    for entry in &entries {
        let (player, name) = (entry.name, format!("{}.yml", entry.name));
        text.clear();
        let unpacked = archive.unpack(entry, budget, LARGEST_FILE + 1, &mut text)?;
        let mut skip = |line: u64, name: String, reason: String| {
            tally.unreadable(line, &reason);
            skipped(line, name, reason)
        };
        let item = if let Err(reason) = unpacked {
            skip(1, name, format!("Cannot unpack the file: {reason}."))
        } else if text.len() as u64 > LARGEST_FILE {
            skip(1, name, "The file is larger than 1 MiB.".to_owned())
        } else if let Some(reason) = not_utf8(&text) {
            skip(1, name, reason)
        } else {
            match user(&String::from_utf8_lossy(&text)) {
                Err((line, reason)) => skip(line, name, format!("Cannot read the file: {reason}.")),
                Ok(User { npc: true, .. }) => {
                    tally.read();
                    skipped(1, name, "The account belongs to a plugin, not a player.")
                }
                Ok(User { money: None, .. }) => {
                    tally.read();
                    skipped(1, name, "No `money`: the player has the starting balance.")
                }
                Ok(User { money: Some((line, money)), .. }) => match number::parse(&money, NumberFormat::Unknown) {
                    number::Number { amount: Ok((amount, is_cut)), .. } => {
                        tally.read();
                        balance(Some(line), name, player, amount, is_cut)
                    }
                    number::Number { amount: Err(reason), .. } => skip(line, name, reason),
                },
            }
        };
        sink.send(item)?;
    }
    tally.end()?;
    if unnamed.get() > 0 {
        let reason = format!("{} files are named by no UUID, as old versions did; they are skipped.", unnamed.get());
        let notes = vec![Remark::new("userdata", reason)];
        sink.send(Item { line: None, record: Record::Table(Category::Balances), notes })?;
    }
    Ok(())
}

/// True for a player's file of an old version, named by the player's name.
fn is_of_name(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once(['/', '\\']) else { return false };
    folder.rsplit(['/', '\\']).next() == Some("userdata") && stem_of(name).is_some()
}

/// Player of a file of the archive.
fn player_of(path: &str) -> Option<PlayerId> {
    let player: PlayerId = stem_of(path.rsplit(['/', '\\']).next()?)?.parse().ok()?;
    Some(player).filter(|player| !player.0.is_nil())
}

/// Name of a YAML file without its extension.
fn stem_of(name: &str) -> Option<&str> {
    name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml"))
}

/// Content of a player's file.
#[derive(Debug, Default)]
pub(super) struct User {
    /// Value with its line.
    money: Option<(u64, String)>,
    npc: bool,
}

#[cfg(test)]
impl User {
    pub(super) fn is_npc_for_tests(&self) -> bool {
        self.npc
    }
}

/// Reads the top-level fields of a player's file. Fails with line and reason.
pub(super) fn user(text: &str) -> Result<User, (u64, String)> {
    let (mut user, mut depth, mut key, mut is_key) = (User::default(), 0_usize, None::<String>, false);
    let (mut documents, mut has_npc) = (0, false);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| (line(error.marker().line()), error.info().to_owned()))?;
        let line = line(span.start.line());
        let refused = |reason: &str| Err((line, reason.to_owned()));
        match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents > 1 {
                    return refused("it has several documents");
                }
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                if depth == 0 && matches!(event, Event::SequenceStart(..)) {
                    return refused("it is a list");
                }
                if depth == 1 {
                    refuse_other(key.as_deref(), line, "is no single value")?;
                    is_key = key.is_none();
                }
                depth += 1;
                if depth > DEEPEST {
                    return refused("it is nested too deeply");
                }
                // The content is the value of the key, or the key itself.
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                if depth == 1 {
                    key = std::mem::take(&mut is_key).then(String::new);
                }
            }
            Event::Scalar(value, ..) if depth == 1 => match key.take().as_deref() {
                None => key = Some(value.into_owned()),
                Some("money") => {
                    if user.money.replace((line, value.into_owned())).is_some() {
                        return refused("it has `money` twice");
                    }
                }
                Some("npc") => {
                    if std::mem::replace(&mut has_npc, true) {
                        return refused("it has `npc` twice");
                    }
                    user.npc = truth(&value).ok_or_else(|| (line, "`npc` is neither true nor false".to_owned()))?;
                }
                Some(_) => {}
            },
            Event::Scalar(..) if depth == 0 => return refused("it is not a mapping"),
            Event::Alias(_) if depth == 1 => {
                refuse_other(key.as_deref(), line, "refers to another value")?;
                key = if key.is_some() { None } else { Some(String::new()) };
            }
            _ => {}
        }
    }
    Ok(user)
}

/// Refuses another value of a field than a text of its own.
fn refuse_other(key: Option<&str>, line: u64, form: &str) -> Result<(), (u64, String)> {
    match key {
        Some(key @ ("money" | "npc" | "<<")) => Err((line, format!("`{key}` {form}"))),
        _ => Ok(()),
    }
}

/// Truth value in a YAML file, whose reader in the game server takes all these words. Nothing is false.
fn truth(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "y" => Some(true),
        "" | "~" | "null" | "false" | "no" | "off" | "n" => Some(false),
        _ => None,
    }
}

fn line(line: usize) -> u64 {
    u64::try_from(line).unwrap_or(u64::MAX).max(1)
}

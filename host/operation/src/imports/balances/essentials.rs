//! EssentialsX's `userdata` folder as a ZIP archive: one YAML file per player, named by UUID.
//!
//! The fields are those of `config/holders/UserConfigHolder.java` in the repository `EssentialsX/Essentials`, with
//! names in kebab case: `money` (a quoted number), `npc`, `last-account-name`. A file without `money` is of a player
//! with the starting balance (`UserData._getMoney`).

use std::io::{Read, Seek};

use saphyr_parser::{Event, Parser};
use zip::ZipArchive;

use super::{item, skipped};
use crate::imports::record::{ParseError, Sink};
use crate::values::PlayerId;

/// Maximum number of files of an archive, and maximum size of a player's file.
const MOST_FILES: usize = 500_000;
const LARGEST_FILE: u64 = 1024 * 1024;
/// Maximum nesting depth of a player's file.
const DEEPEST: usize = 64;

/// Reads an archive.
pub(in crate::imports) fn read(source: impl Read + Seek, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let wrong = |error: zip::result::ZipError| ParseError::whole(format!("Cannot read the archive: {error}."));
    let mut archive = ZipArchive::new(source).map_err(wrong)?;
    if archive.len() > MOST_FILES {
        return Err(ParseError::whole(format!("The archive has more than {MOST_FILES} files.")));
    }
    let mut has_players = false;
    for at in 0..archive.len() {
        let file = archive.by_index(at).map_err(wrong)?;
        let Some((name, player)) = player_of(&file.name().map_err(wrong)?) else { continue };
        has_players = true;
        let mut text = vec![];
        let size = file.take(LARGEST_FILE + 1).read_to_end(&mut text);
        let size = size.map_err(|error| ParseError::whole(format!("Cannot unpack `{name}`: {error}.")))?;
        if size as u64 > LARGEST_FILE {
            sink(skipped(1, name, "The file is larger than 1 MiB."))?;
            continue;
        }
        let item = match user(&String::from_utf8_lossy(&text)) {
            Err((line, reason)) => skipped(line, name, format!("Cannot read the file: {reason}.")),
            Ok(User { npc: true, .. }) => skipped(1, name, "The account belongs to a plugin, not a player."),
            Ok(User { money: None, .. }) => skipped(1, name, "No `money`: the player has the starting balance."),
            Ok(User { money: Some((line, money)), .. }) => item(line, name, player, &money),
        };
        sink(item)?;
    }
    if has_players {
        return Ok(());
    }
    Err(ParseError::whole(
        "The archive contains no player files such as `userdata/069a79f4-44e9-4726-a5be-fca90e38aaf5.yml`.",
    ))
}

/// Player of a file, and the file's name for messages.
fn player_of(path: &str) -> Option<(String, PlayerId)> {
    let name = path.rsplit(['/', '\\']).next()?;
    let stem = name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml"))?;
    Some((name.to_owned(), stem.parse().ok()?))
}

/// Content of a player's file.
#[derive(Debug, Default)]
pub(super) struct User {
    /// Value with its line.
    money: Option<(u64, String)>,
    npc: bool,
}

/// Reads the top-level fields of a player's file. Fails with line and reason.
pub(super) fn user(text: &str) -> Result<User, (u64, String)> {
    let (mut user, mut depth, mut key) = (User::default(), 0_usize, None::<String>);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| (line(error.marker().line()), error.info().to_owned()))?;
        let line = line(span.start.line());
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                if depth == 0 && matches!(event, Event::SequenceStart(..)) {
                    return Err((line, "it is a list".to_owned()));
                }
                depth += 1;
                if depth > DEEPEST {
                    return Err((line, "it is nested too deeply".to_owned()));
                }
                // The content is the value of the key.
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                if depth == 1 {
                    key = None;
                }
            }
            Event::Scalar(value, ..) if depth == 1 => match key.take() {
                None => key = Some(value.into_owned()),
                Some(key) if key == "money" => user.money = Some((line, value.into_owned())),
                Some(key) if key == "npc" => user.npc = value == "true",
                Some(_) => {}
            },
            Event::Scalar(..) if depth == 0 => return Err((line, "it is not a mapping".to_owned())),
            Event::Alias(_) if depth == 1 => key = if key.is_some() { None } else { Some(String::new()) },
            _ => {}
        }
    }
    Ok(user)
}

fn line(line: usize) -> u64 {
    u64::try_from(line).unwrap_or(u64::MAX).max(1)
}

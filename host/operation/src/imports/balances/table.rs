//! Table of balances, as exported by plugins beside Vault: comma-, semicolon- or tab-separated values with column
//! names in the first row. Vault itself stores nothing (`MilkBowl/VaultAPI` is an interface), so the columns are found
//! by name.

use std::io::BufRead;

use csv::{ReaderBuilder, StringRecord};

use super::{item, skipped};
use crate::imports::record::{ParseError, Sink};
use crate::values::PlayerId;

/// Maximum length of a row.
const LONGEST: usize = 64 * 1024;
const PLAYER_NAMES: [&str; 6] = ["uuid", "player_uuid", "playeruuid", "id", "player_id", "unique_id"];
const AMOUNT_NAMES: [&str; 6] = ["balance", "money", "amount", "bal", "value", "coins"];

/// Positions of the columns.
struct Columns {
    player: usize,
    amount: usize,
}

/// Reads a table.
pub(in crate::imports) fn read(mut source: impl BufRead, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let beginning = source.fill_buf().map_err(|error| unreadable(1, &error.to_string()))?;
    let first = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let delimiter = [b';', b'\t'].into_iter().find(|delimiter| first.contains(delimiter)).unwrap_or(b',');
    let has_mark = beginning.starts_with(b"\xEF\xBB\xBF");
    if has_mark {
        source.consume(3);
    }
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(Bounded::new(source));
    let (mut columns, mut row) = (None, StringRecord::new());
    loop {
        let line = reader.position().line();
        if !reader.read_record(&mut row).map_err(|error| unreadable(line, &error.to_string()))? {
            break;
        }
        let line = row.position().map_or(line, csv::Position::line);
        let Some(Columns { player, amount }) = &columns else {
            let found = find_columns(line, &row)?;
            let has_names = row.get(found.player).is_none_or(|text| parse(text).is_none());
            columns = Some(found);
            if !has_names {
                take(line, &row, columns.as_ref(), sink)?;
            }
            continue;
        };
        if row.len() <= (*player).max(*amount) {
            return Err(ParseError::at(line, "The row has too few columns."));
        }
        take(line, &row, columns.as_ref(), sink)?;
    }
    if columns.is_none() { Err(ParseError::at(1, "The file is empty.")) } else { Ok(()) }
}

fn take(line: u64, row: &StringRecord, columns: Option<&Columns>, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let Some(Columns { player, amount }) = columns else { return Ok(()) };
    let (player, amount) = (row.get(*player).unwrap_or_default(), row.get(*amount).unwrap_or_default());
    if let Some(id) = parse(player) {
        return sink(item(line, format!("player {id}"), id, amount));
    }
    let subject = player.chars().take(80).collect::<String>();
    sink(skipped(line, subject, "There is no player UUID."))
}

fn parse(player: &str) -> Option<PlayerId> {
    player.trim().parse().ok()
}

/// Finds the columns by name, or in a table without names by a UUID at the start of the first row.
fn find_columns(line: u64, row: &StringRecord) -> Result<Columns, ParseError> {
    let find = |names: &[&str]| {
        let name = |text: &str| text.trim().trim_matches('\u{feff}').to_lowercase().replace([' ', '-'], "_");
        row.iter().position(|text| names.contains(&name(text).as_str()))
    };
    if let (Some(player), Some(amount)) = (find(&PLAYER_NAMES), find(&AMOUNT_NAMES)) {
        return Ok(Columns { player, amount });
    }
    if row.len() >= 2 && row.get(0).is_some_and(|text| parse(text).is_some()) {
        return Ok(Columns { player: 0, amount: row.len() - 1 });
    }
    Err(ParseError::at(line, "The first row must contain the column names `uuid` and `balance`."))
}

fn unreadable(line: u64, reason: &str) -> ParseError {
    ParseError::at(line.max(1), format!("Cannot read the file: {reason}."))
}

/// Fails at a line that is too long, because lines are kept in memory.
struct Bounded<R> {
    source: R,
    length: usize,
}

impl<R> Bounded<R> {
    fn new(source: R) -> Self {
        Self { source, length: 0 }
    }
}

impl<R: BufRead> std::io::Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let read = self.source.read(to)?;
        for byte in &to[..read] {
            self.length = if *byte == b'\n' { 0 } else { self.length + 1 };
            if self.length > LONGEST {
                return Err(std::io::Error::other("a row is longer than 64 KiB"));
            }
        }
        Ok(read)
    }
}

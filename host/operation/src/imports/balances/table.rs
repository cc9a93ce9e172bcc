//! Table of balances, as exported by plugins beside Vault: comma-, semicolon-, tab- or bar-separated values with column
//! names in the first row. Vault itself stores nothing (`MilkBowl/VaultAPI` is an interface), so the columns are found
//! by name.

use super::number;
use super::rows::Rows;
use super::{Tally, balance, skipped};
use crate::imports::findings::NumberFormat;
use crate::imports::input::{Input, unreadable};
use crate::imports::record::{ParseError, Sink};
use crate::values::PlayerId;

const DELIMITERS: [u8; 4] = [b';', b'\t', b'|', b','];
/// Names of the columns, best first. Those of one rank are equally good, so that two of them are refused.
const PLAYER_NAMES: [&[&str]; 3] =
    [&["uuid", "player_uuid", "playeruuid", "unique_id", "uniqueid"], &["player_id", "playerid"], &["id"]];
const AMOUNT_NAMES: [&[&str]; 3] = [&["balance"], &["money", "amount", "bal", "coins", "points"], &["value"]];

/// Reason against a row with `"1"5`.
const BROKEN: &str = "A cell goes on behind its closing quote.";

/// Positions of the columns, and the width of all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    player: usize,
    amount: usize,
    width: usize,
}

/// Reads a table whose numbers have the format `format`, and tells the one that they show.
pub(in crate::imports) fn read(
    mut source: Input<'_>,
    format: NumberFormat,
    shown: &mut NumberFormat,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let beginning = source.beginning().map_err(|error| unreadable(1, &error))?;
    let (delimiter, has_declaration) = find_delimiter(beginning);
    let mut rows = Rows::new(source, delimiter);
    if has_declaration {
        rows.next()?;
    }
    let Some((line, first)) = rows.next()? else { return Err(ParseError::at(1, "The file is empty.")) };
    if rows.is_broken() {
        return Err(ParseError::at(line, BROKEN));
    }
    let (columns, has_names) = find_columns(&first).map_err(|reason| ParseError::at(line, reason))?;
    let mut table = Table { columns, format, shown, tally: Tally::default() };
    if !has_names {
        table.take(line, &first, sink)?;
    }
    while let Some((line, row)) = rows.next()? {
        if rows.is_broken() {
            table.skip(line, &row, BROKEN.to_owned(), sink)?;
        } else {
            table.take(line, &row, sink)?;
        }
    }
    if table.tally.is_empty() {
        return Err(ParseError::at(line, "The table has names of columns and no rows."));
    }
    table.tally.end()
}

struct Table<'t> {
    columns: Columns,
    format: NumberFormat,
    shown: &'t mut NumberFormat,
    tally: Tally,
}

impl Table<'_> {
    fn take(&mut self, line: u64, row: &[String], sink: &mut Sink<'_>) -> Result<(), ParseError> {
        let Columns { player, amount, width } = self.columns;
        let named = row.get(player).map_or("", |text| text.trim());
        if row.len() != width {
            let reason = format!(
                "The row has {} columns, the table {width}; an amount with a decimal comma must be quoted.",
                row.len()
            );
            return self.skip(line, row, reason, sink);
        }
        let Some(id) = parse(named).filter(|id| !id.0.is_nil()) else {
            return self.skip(line, row, "There is no player UUID.".to_owned(), sink);
        };
        let number = number::parse(row.get(amount).map_or("", String::as_str), self.format);
        self.note_format(line, number.shows)?;
        let subject = format!("player {id}");
        match number.amount {
            Ok((amount, is_cut)) => {
                self.tally.read();
                sink.send(balance(Some(line), subject, id, amount, is_cut))
            }
            Err(reason) => {
                self.tally.unreadable(line, &reason);
                sink.send(skipped(line, subject, reason))
            }
        }
    }

    /// Skips a row whose player may be unknown.
    fn skip(&mut self, line: u64, row: &[String], reason: String, sink: &mut Sink<'_>) -> Result<(), ParseError> {
        let named = row.get(self.columns.player).map_or("", |text| text.trim());
        self.tally.unreadable(line, &reason);
        sink.send(skipped(line, named.chars().take(80).collect(), reason))
    }

    /// Refuses a file that writes its amounts in two formats.
    fn note_format(&mut self, line: u64, shows: NumberFormat) -> Result<(), ParseError> {
        if shows == NumberFormat::Unknown {
            return Ok(());
        }
        if *self.shown == NumberFormat::Unknown {
            *self.shown = shows;
        }
        if *self.shown == shows {
            return Ok(());
        }
        let (here, before) = if shows == NumberFormat::Comma { ("comma", "point") } else { ("point", "comma") };
        Err(ParseError::at(line, format!("The amount has a decimal {here}, earlier ones have a decimal {before}.")))
    }
}

/// Delimiter, and true if the first line declares it as spreadsheets do: `sep=;`.
fn find_delimiter(beginning: &[u8]) -> (u8, bool) {
    let first = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let declared = first.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(first);
    if let Some([delimiter]) = declared.strip_prefix(b"sep=") {
        return (*delimiter, true);
    }
    let first = first.trim_ascii_end();
    let has_columns = |delimiter: &&u8| {
        let text = String::from_utf8_lossy(first);
        let cells: Vec<_> = text.split(char::from(**delimiter)).map(|cell| cell.trim_matches('"').to_owned()).collect();
        cells.len() > 1 && find_columns(&cells).is_ok()
    };
    let found = DELIMITERS.iter().find(has_columns).or_else(|| DELIMITERS.iter().find(|it| first.contains(it)));
    (found.copied().unwrap_or(b','), false)
}

fn parse(player: &str) -> Option<PlayerId> {
    player.trim().parse().ok()
}

/// Finds the columns by name, and true; or in a table of two columns without names by a UUID in the first one.
fn find_columns(row: &[String]) -> Result<(Columns, bool), String> {
    let width = row.len();
    if row.first().is_some_and(|text| parse(text).is_some()) {
        return if width == 2 {
            Ok((Columns { player: 0, amount: 1, width }, false))
        } else {
            Err("A table without column names must have two columns, the player's UUID and the balance; name the \
                 columns in the first row."
                .to_owned())
        };
    }
    let names: Vec<_> =
        row.iter().map(|text| text.trim().trim_matches('\u{feff}').to_lowercase().replace([' ', '-'], "_")).collect();
    let find = |ranks: &[&[&str]]| {
        for rank in ranks {
            let found: Vec<_> =
                names.iter().enumerate().filter(|(_, name)| rank.contains(&name.as_str())).map(|(at, _)| at).collect();
            match found.as_slice() {
                [] => {}
                [at] => return Ok(Some(*at)),
                [one, other, ..] => {
                    let (one, other) = (&names[*one], &names[*other]);
                    return Err(format!(
                        "Both the columns `{one}` and `{other}` may be meant; leave only one of them."
                    ));
                }
            }
        }
        Ok(None)
    };
    match (find(&PLAYER_NAMES)?, find(&AMOUNT_NAMES)?) {
        (Some(player), Some(amount)) => Ok((Columns { player, amount, width }, true)),
        _ => Err("The first row must contain the column names `uuid` and `balance`.".to_owned()),
    }
}

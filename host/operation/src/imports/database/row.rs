//! Rows, and their values as what they must be.

use std::cell::Cell as StdCell;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::clock::Millis;
use crate::imports::text::{Charset, decode_windows_1252, hexadecimal};
use crate::punishments::IpAddress;
use crate::values::PlayerId;

/// 9999-12-31: later times are in another unit.
pub(in crate::imports) const LATEST: Millis = 253_402_214_400_000;
/// 2009-01-01: before the game, so that an earlier time is in another unit.
pub(in crate::imports) const EARLIEST: Millis = 1_230_768_000_000;

/// Nobody's UUID.
const NIL: &str = "00000000-0000-0000-0000-000000000000";
const NIL_WITHOUT_HYPHENS: &str = "00000000000000000000000000000000";

/// Value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::imports) enum Cell {
    Null,
    /// Number as written, or `1` and `0` for truth values.
    Number(String),
    /// Text or bytes.
    Text(Vec<u8>),
    /// An expression that is not evaluated, or too long a value.
    Unreadable(String),
}

impl Cell {
    /// Bytes that it holds.
    pub(in crate::imports) fn size(&self) -> u64 {
        match self {
            Self::Null => 0,
            Self::Number(text) | Self::Unreadable(text) => text.len() as u64,
            Self::Text(bytes) => bytes.len() as u64,
        }
    }
}

/// Row of a table.
#[derive(Debug)]
pub(in crate::imports) struct Row<'r> {
    /// Name of the table in lower case, without its schema.
    pub(in crate::imports) table: &'r str,
    /// Names of the columns in lower case.
    columns: &'r [String],
    cells: &'r [Cell],
    /// None in a database file.
    pub(in crate::imports) line: Option<u64>,
    charset: Charset,
    is_guessed: StdCell<bool>,
}

impl<'r> Row<'r> {
    pub(in crate::imports) fn new(
        table: &'r str,
        columns: &'r [String],
        cells: &'r [Cell],
        line: Option<u64>,
        charset: Charset,
    ) -> Self {
        Self { table, columns, cells, line, charset, is_guessed: StdCell::new(false) }
    }

    #[cfg(test)]
    pub(in crate::imports) fn cells_for_tests(&self) -> Vec<(String, Cell)> {
        self.columns.iter().cloned().zip(self.cells.iter().cloned()).collect()
    }

    pub(in crate::imports) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|name| name == column)
    }

    /// True if a text was read in an encoding that the file does not declare.
    pub(in crate::imports) fn is_guessed(&self) -> bool {
        self.is_guessed.get()
    }

    /// Value of a column; null if the table does not have it.
    pub(in crate::imports) fn get(&self, column: &str) -> &'r Cell {
        let at = self.columns.iter().position(|name| name == column);
        at.and_then(|at| self.cells.get(at)).unwrap_or(&Cell::Null)
    }

    /// Name of the row for notes: its id, or its first value.
    pub(in crate::imports) fn label(&self) -> String {
        let cell = if self.has("id") { self.get("id") } else { self.cells.first().unwrap_or(&Cell::Null) };
        match cell {
            Cell::Number(number) => number.chars().take(40).collect(),
            Cell::Text(bytes) if bytes.len() == 16 && bytes.iter().any(|byte| !byte.is_ascii_graphic()) => {
                uuid::Uuid::from_slice(bytes).map_or_else(|_| "?".to_owned(), |id| id.to_string())
            }
            Cell::Text(bytes) => String::from_utf8_lossy(bytes).chars().take(40).collect(),
            Cell::Null | Cell::Unreadable(_) => "?".to_owned(),
        }
    }

    /// Text of a column; none if it is null or blank.
    pub(in crate::imports) fn text(&self, column: &str) -> Result<Option<String>, String> {
        let text = match self.get(column) {
            Cell::Null => return Ok(None),
            Cell::Number(number) => number.clone(),
            // Also where another encoding is declared: text of that one is hardly ever valid UTF-8.
            Cell::Text(bytes) => str::from_utf8(bytes).map_or_else(
                |_| {
                    self.is_guessed.set(self.is_guessed.get() || self.charset == Charset::Utf8);
                    decode_windows_1252(bytes)
                },
                str::to_owned,
            ),
            Cell::Unreadable(reason) => return Err(format!("`{column}` cannot be read: `{reason}`.")),
        };
        // No database here keeps a NUL.
        let text = text.replace('\0', "");
        let text = text.trim();
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    /// Integer in a column.
    pub(in crate::imports) fn integer(&self, column: &str) -> Result<Option<i64>, String> {
        let Some(text) = self.text(column)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| wrong(column, &text, "no whole number"))
    }

    /// Truth value in a column: a number, a bit, or a text of one. Null is false.
    pub(in crate::imports) fn flag(&self, column: &str) -> Result<bool, String> {
        match self.get(column) {
            Cell::Null => Ok(false),
            Cell::Number(number) => match number.parse::<i64>() {
                Ok(number) => Ok(number != 0),
                Err(_) => Err(wrong(column, number, "no truth value")),
            },
            Cell::Text(bytes) => match bytes.as_slice() {
                b"" | [0] | b"0" | b"f" | b"F" | b"false" | b"FALSE" | b"n" | b"no" => Ok(false),
                [1] | b"1" | b"t" | b"T" | b"true" | b"TRUE" | b"y" | b"yes" => Ok(true),
                bytes => Err(wrong(column, &String::from_utf8_lossy(bytes), "no truth value")),
            },
            Cell::Unreadable(reason) => Err(format!("`{column}` cannot be read: `{reason}`.")),
        }
    }

    /// Player by UUID in a text; none if the column is empty or has one of the words that stand for nobody.
    pub(in crate::imports) fn player(&self, column: &str, nobody: &[&str]) -> Result<Option<PlayerId>, String> {
        let Some(text) = self.text(column)? else { return Ok(None) };
        if nobody.iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Ok(None);
        }
        let player: PlayerId = text.parse().map_err(|_| wrong(column, &text, "no UUID"))?;
        if player.0.is_nil() {
            return Err(wrong(column, &text, "the UUID of nobody"));
        }
        Ok(Some(player))
    }

    /// Bytes of a binary column: as they are, or as PostgreSQL writes them.
    pub(in crate::imports) fn bytes(&self, column: &str) -> Result<Option<Vec<u8>>, String> {
        match self.get(column) {
            Cell::Null => Ok(None),
            Cell::Text(bytes) => {
                let of_postgres = bytes.strip_prefix(b"\\x").and_then(hexadecimal);
                Ok(Some(of_postgres.unwrap_or_else(|| bytes.clone())))
            }
            Cell::Number(text) | Cell::Unreadable(text) => Err(wrong(column, text, "no bytes")),
        }
    }

    /// UUID in a binary column of 16 bytes, or in a text; none if it is of zeros, which stands for nobody.
    pub(in crate::imports) fn binary_uuid(&self, column: &str) -> Result<Option<PlayerId>, String> {
        let Some(bytes) = self.bytes(column)? else { return Ok(None) };
        if let Ok(bytes) = <[u8; 16]>::try_from(bytes.as_slice()) {
            return Ok(Some(PlayerId(uuid::Uuid::from_bytes(bytes))).filter(|player| !player.0.is_nil()));
        }
        self.player(column, &[NIL, NIL_WITHOUT_HYPHENS])
    }

    /// Address in a text; none if the column is empty or has one of the words that stand for none.
    pub(in crate::imports) fn address(&self, column: &str, none: &[&str]) -> Result<Option<IpAddress>, String> {
        let Some(text) = self.text(column)? else { return Ok(None) };
        if none.iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| wrong(column, &text, "no address"))
    }

    /// Time in a column: in a database's format, or in milliseconds. None if there is none, such as MySQL's zero date.
    pub(in crate::imports) fn time(&self, column: &str) -> Result<Option<Millis>, String> {
        let Some(text) = self.text(column)? else { return Ok(None) };
        if text.starts_with("0000-00-00") || text == "0" {
            return Ok(None);
        }
        time(&text).map(Some).ok_or_else(|| wrong(column, &text, "no time"))
    }
}

/// Reason for skipping a row because of a value.
pub(in crate::imports) fn wrong(column: &str, value: &str, what: &str) -> String {
    let value: String = value.chars().take(60).map(|it| if it.is_control() { '?' } else { it }).collect();
    format!("`{column}` is {what}: `{value}`.")
}

/// Time in a database's format, with an offset or in UTC, or in milliseconds.
pub(in crate::imports) fn time(text: &str) -> Option<Millis> {
    if let Ok(ms) = text.parse::<i64>() {
        return (EARLIEST..LATEST).contains(&ms).then_some(ms);
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_millisecond());
    }
    let date: DateTime = text.parse().ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

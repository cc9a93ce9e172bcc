//! Readers of the columns of a table: an imported row must pass them before anything is written.

use std::fmt::Display;
use std::str::FromStr;

use hub_db::{Cell, Column, ColumnType};
use serde::de::{DeserializeOwned, IgnoredAny};

/// Last millisecond of the year 9999: the largest time of a column without a rule of its own.
const LAST_TIME: i64 = 253_402_300_799_999;
/// Largest count of a column without a rule of its own: all readers of JSON know it exactly.
const LAST_COUNT: i64 = (1 << 53) - 1;
/// Ends of the names of columns with times.
const TIMES: [&str; 5] = ["_at", "_until", "_since", "_seen", "_before"];

/// Maximum size of a text in bytes. No column holds more, but for those that say so.
const MAX_TEXT: usize = 1024 * 1024;

/// Reads a text, or returns the reason against it.
pub type TextReader = fn(&str) -> Result<(), String>;

/// Column of a table, and the reader of its values.
#[derive(Clone, Copy, Debug)]
pub struct ColumnRule {
    pub name: &'static str,
    pub reader: Reader,
}

/// Values that a column may hold. Null is as the schema says.
#[derive(Clone, Copy, Debug)]
pub enum Reader {
    /// Every value of the column's type.
    Any,
    /// Integers from the first to the second.
    Number(i64, i64),
    /// Decimal numbers from the first to the second.
    Float(f64, f64),
    /// Texts that this function reads.
    Text(TextReader),
    /// Bytes, from the first number of them to the second.
    Bytes(usize, usize),
}

impl Reader {
    /// Reader of a column without a rule: counts and times, finite numbers, texts of moderate size.
    pub(super) fn of_column(column: &Column) -> Self {
        let is_time = column.name == "at" || TIMES.iter().any(|end| column.name.ends_with(end));
        match column.column_type {
            ColumnType::Integer => Self::Number(0, if is_time { LAST_TIME } else { LAST_COUNT }),
            ColumnType::Text => Self::Text(read_any),
            ColumnType::Bool | ColumnType::Float | ColumnType::Bytes | ColumnType::Uuid => Self::Any,
        }
    }

    /// True if the reader is for columns of this type.
    pub(super) fn fits(&self, column_type: ColumnType) -> bool {
        match self {
            Self::Any => true,
            Self::Number(..) => column_type == ColumnType::Integer,
            Self::Float(..) => column_type == ColumnType::Float,
            Self::Text(_) => column_type == ColumnType::Text,
            Self::Bytes(..) => column_type == ColumnType::Bytes,
        }
    }

    /// Reads a value of a column.
    pub(super) fn read(&self, column: &Column, cell: &Cell) -> Result<(), String> {
        match (self, cell) {
            (_, Cell::Null) if column.nullable => Ok(()),
            (_, Cell::Null) => Err("must not be null".to_owned()),
            (Self::Number(least, most), Cell::Integer(number)) if !(*least..=*most).contains(number) => {
                Err(format!("must be from {least} to {most}"))
            }
            (Self::Float(least, most), Cell::Float(number)) if !(*least..=*most).contains(number) => {
                Err(format!("must be from {least:e} to {most:e}"))
            }
            (Self::Text(read), Cell::Text(text)) => read(text),
            (Self::Bytes(least, most), Cell::Bytes(bytes)) if !(*least..=*most).contains(&bytes.len()) => {
                Err(format!("must have {least} to {most} bytes"))
            }
            _ => Ok(()),
        }
    }
}

/// Texts that are read as a `T`, by the type that serves them.
pub const fn read<T: FromStr<Err: Display>>(name: &'static str) -> ColumnRule {
    ColumnRule { name, reader: Reader::Text(read_as::<T>) }
}

/// Texts that become a `T`: for types without [`FromStr`].
pub const fn convert<T: TryFrom<String, Error: Display>>(name: &'static str) -> ColumnRule {
    ColumnRule { name, reader: Reader::Text(convert_to::<T>) }
}

/// JSON of a `T`.
pub const fn json<T: DeserializeOwned>(name: &'static str) -> ColumnRule {
    ColumnRule { name, reader: Reader::Text(read_json::<T>) }
}

/// Any JSON.
pub const fn any_json(name: &'static str) -> ColumnRule {
    json::<IgnoredAny>(name)
}

/// Texts that this function reads.
pub const fn text_by(name: &'static str, read: TextReader) -> ColumnRule {
    ColumnRule { name, reader: Reader::Text(read) }
}

/// Texts of at most `MAX` characters, whose content nothing depends upon.
pub const fn text<const MAX: usize>(name: &'static str) -> ColumnRule {
    ColumnRule { name, reader: Reader::Text(read_short::<MAX>) }
}

/// Texts of which nothing is expected but a size of at most 1 MiB.
pub const fn any_text(name: &'static str) -> ColumnRule {
    ColumnRule { name, reader: Reader::Text(read_any) }
}

/// Integers in a range.
pub const fn number(name: &'static str, least: i64, most: i64) -> ColumnRule {
    ColumnRule { name, reader: Reader::Number(least, most) }
}

/// Integers that callers choose, and that the hub only compares.
pub const fn any_number(name: &'static str) -> ColumnRule {
    number(name, i64::MIN, i64::MAX)
}

/// Decimal numbers in a range.
pub const fn decimal(name: &'static str, least: f64, most: f64) -> ColumnRule {
    ColumnRule { name, reader: Reader::Float(least, most) }
}

/// Bytes, at least and at most so many.
pub const fn bytes(name: &'static str, least: usize, most: usize) -> ColumnRule {
    ColumnRule { name, reader: Reader::Bytes(least, most) }
}

fn read_as<T: FromStr<Err: Display>>(text: &str) -> Result<(), String> {
    text.parse::<T>().map(drop).map_err(|error| match error.to_string() {
        // The reason of every derived `FromStr`.
        reason if reason == strum::ParseError::VariantNotFound.to_string() => {
            "is no value that this hub knows".to_owned()
        }
        reason => reason,
    })
}

fn convert_to<T: TryFrom<String, Error: Display>>(text: &str) -> Result<(), String> {
    T::try_from(text.to_owned()).map(drop).map_err(|error| error.to_string())
}

fn read_json<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    serde_json::from_str::<T>(text).map(drop).map_err(|error| format!("must be JSON as the hub writes it: {error}"))
}

fn read_short<const MAX: usize>(text: &str) -> Result<(), String> {
    // Bytes are counted first, because most texts are short.
    let fits = text.len() <= MAX || text.chars().count() <= MAX;
    fits.then_some(()).ok_or_else(|| format!("must be at most {MAX} characters"))
}

fn read_any(text: &str) -> Result<(), String> {
    (text.len() <= MAX_TEXT).then_some(()).ok_or_else(|| format!("must be at most {MAX_TEXT} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Identifier;

    fn refused(reader: Reader, column_type: ColumnType, cell: &Cell) -> Option<String> {
        let column = Column { name: "a", column_type, nullable: false };
        reader.read(&column, cell).err()
    }

    #[test]
    fn values_are_read_by_their_types() {
        let of = |rule: ColumnRule, text: &str| refused(rule.reader, ColumnType::Text, &Cell::Text(text.to_owned()));
        assert_eq!(of(read::<Identifier>("a"), "lobby"), None);
        assert!(of(read::<Identifier>("a"), " ").unwrap().contains("blank"));
        assert!(of(json::<Vec<u8>>("a"), "[300]").is_some() && of(json::<Vec<u8>>("a"), "[3]").is_none());
        assert!(of(any_json("a"), "{").is_some() && of(any_json("a"), "{}").is_none());
        assert!(of(text::<2>("a"), "äöü").is_some() && of(text::<2>("a"), "äö").is_none());
        let integers = |name| Reader::of_column(&Column { name, column_type: ColumnType::Integer, nullable: false });
        for (name, number, fits) in [
            ("seq", -1, false),
            ("seq", 0, true),
            ("seq", LAST_COUNT, true),
            ("seq", i64::MAX, false),
            ("made_at", LAST_TIME, true),
            ("made_at", LAST_COUNT, false),
        ] {
            let reason = refused(integers(name), ColumnType::Integer, &Cell::Integer(number));
            assert_eq!(reason.is_none(), fits, "{name} {number}");
        }
        assert!(refused(Reader::Bytes(32, 32), ColumnType::Bytes, &Cell::Bytes(vec![0; 31])).is_some());
        assert_eq!(refused(Reader::Any, ColumnType::Bool, &Cell::Null).unwrap(), "must not be null");
        let nullable = Column { name: "a", column_type: ColumnType::Bool, nullable: true };
        assert_eq!(Reader::Any.read(&nullable, &Cell::Null), Ok(()));
    }
}

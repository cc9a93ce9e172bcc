//! Contents of the file's members.

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hub_db::{Cell, Column, ColumnType};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::archive::row::Row;
use crate::values::{NetworkId, hex};

/// The only format that this hub writes and reads.
pub(super) const FORMAT: u32 = 1;
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const SUMMARY: &str = "summary.json";

/// Network and format of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    pub(super) schema: i64,
    #[serde(rename = "networkId")]
    pub(super) network: NetworkId,
    pub(super) name: String,
}

/// Expected contents of a complete file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) tables: Vec<Part>,
    pub(super) files: Part,
}

/// A table, or all files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) sha256: String,
}

/// Contents that were exported or imported.
#[derive(Debug)]
pub struct Report {
    pub network: NetworkId,
    pub name: String,
    pub rows: u64,
    pub files: u64,
}

impl Report {
    pub(super) fn new(manifest: &Manifest, summary: &Summary) -> Self {
        Self {
            network: manifest.network,
            name: manifest.name.clone(),
            rows: summary.tables.iter().map(|table| table.count).sum(),
            files: summary.files.count,
        }
    }
}

/// Counts and hashes the contents of a part.
#[derive(Default)]
pub(super) struct PartHasher {
    pub(super) count: u64,
    pub(super) hash: Sha256,
}

impl PartHasher {
    /// Adds a row or a file.
    pub(super) fn add(&mut self, line: &[u8]) {
        self.count += 1;
        self.hash.update(line);
    }

    /// Adds bytes of rows that are counted separately.
    pub(super) fn update(&mut self, lines: &[u8]) {
        self.hash.update(lines);
    }

    pub(super) fn part(self, name: &str) -> Part {
        Part { name: name.to_owned(), count: self.count, sha256: hex(&self.hash.finalize()) }
    }
}

/// Name of a member with a chunk of a table.
pub(super) fn chunk_name(table: &str, number: u32) -> String {
    format!("tables/{table}/{number:06}.jsonl")
}

/// Appends a row as a line of JSON.
pub(super) fn write_row(row: &Row, to: &mut Vec<u8>) -> serde_json::Result<()> {
    to.push(b'[');
    for (index, cell) in row.iter().enumerate() {
        if index > 0 {
            to.push(b',');
        }
        match cell {
            Cell::Null => to.extend(b"null"),
            Cell::Bool(value) => serde_json::to_writer(&mut *to, value)?,
            Cell::Integer(value) => serde_json::to_writer(&mut *to, value)?,
            // SQLite stores no negative zero; adding zero makes it positive.
            Cell::Float(value) => serde_json::to_writer(&mut *to, &(value + 0.0))?,
            Cell::Text(value) => serde_json::to_writer(&mut *to, value)?,
            Cell::Bytes(value) => serde_json::to_writer(&mut *to, &STANDARD.encode(value))?,
            Cell::Uuid(value) => serde_json::to_writer(&mut *to, value)?,
        }
    }
    to.extend(b"]\n");
    Ok(())
}

/// Parses a line.
pub(super) fn read_row(columns: &[Column], line: &[u8]) -> anyhow::Result<Row> {
    let cells: Vec<&RawValue> = serde_json::from_slice(line)?;
    if cells.len() != columns.len() {
        bail!("a row has {} columns, not {}", columns.len(), cells.len());
    }
    let read = |(column, cell): (&Column, &&RawValue)| {
        read_cell(column.column_type, cell.get()).with_context(|| format!("the column {}", column.name))
    };
    columns.iter().zip(&cells).map(read).collect()
}

/// Parses numbers from their digits, because JSON's own number type would round them.
fn read_cell(column_type: ColumnType, text: &str) -> anyhow::Result<Cell> {
    if text == "null" {
        return Ok(Cell::Null);
    }
    Ok(match column_type {
        ColumnType::Bool => Cell::Bool(text.parse()?),
        ColumnType::Integer => Cell::Integer(text.parse()?),
        ColumnType::Float => match text.parse::<f64>()? {
            value if value.is_finite() => Cell::Float(value),
            _ => bail!("{text} is out of range"),
        },
        ColumnType::Text => Cell::Text(serde_json::from_str(text)?),
        ColumnType::Bytes => Cell::Bytes(STANDARD.decode(serde_json::from_str::<String>(text)?)?),
        ColumnType::Uuid => Cell::Uuid(serde_json::from_str(text)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column { name: "a", column_type: ColumnType::Bool, nullable: true },
        Column { name: "b", column_type: ColumnType::Integer, nullable: true },
        Column { name: "c", column_type: ColumnType::Float, nullable: true },
        Column { name: "d", column_type: ColumnType::Text, nullable: true },
        Column { name: "e", column_type: ColumnType::Bytes, nullable: true },
        Column { name: "f", column_type: ColumnType::Uuid, nullable: true },
    ];

    #[test]
    fn rows_are_read_as_written() {
        let text = "\u{0}\"\\\u{7f}\u{2028}é\u{1f600}\n";
        for (integer, float) in [(i64::MIN, 5e-324), (i64::MAX, -1e300), (0, 0.1 + 0.2), (-1, 9_007_199_254_740_993.0)]
        {
            let row = vec![
                Cell::Bool(true),
                Cell::Integer(integer),
                Cell::Float(float),
                Cell::Text(text.to_owned()),
                Cell::Bytes(vec![0, 255, 10]),
                Cell::Uuid(uuid::Uuid::from_u128(7)),
            ];
            let mut line = vec![];
            write_row(&row, &mut line).unwrap();
            assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1), "a row is one line");
            assert_eq!(read_row(COLUMNS, &line).unwrap(), row);
        }
        let nulls = vec![Cell::Null; 6];
        let mut line = vec![];
        write_row(&nulls, &mut line).unwrap();
        assert_eq!(read_row(COLUMNS, &line).unwrap(), nulls);
    }

    #[test]
    fn zero_has_no_sign() {
        let mut line = vec![];
        write_row(&vec![Cell::Float(-0.0)], &mut line).unwrap();
        assert_eq!(line, b"[0.0]\n");
    }

    #[test]
    fn malformed_rows_are_refused() {
        let uuid = "\"00000000-0000-0000-0000-000000000007\"";
        for (line, reason) in [
            ("", "EOF"),
            ("[true,1,1.0,\"\",\"\"]", "columns"),
            ("{}", "sequence"),
            (&format!("[1,1,1.0,\"\",\"\",{uuid}]"), "column a"),
            (&format!("[true,1.5,1.0,\"\",\"\",{uuid}]"), "column b"),
            (&format!("[true,9223372036854775808,1.0,\"\",\"\",{uuid}]"), "column b"),
            (&format!("[true,1,1e999,\"\",\"\",{uuid}]"), "column c"),
            (&format!("[true,1,1.0,\"\\ud800\",\"\",{uuid}]"), "column d"),
            (&format!("[true,1,1.0,\"\",\"*\",{uuid}]"), "column e"),
            ("[true,1,1.0,\"\",\"\",\"x\"]", "column f"),
        ] {
            let error = format!("{:#}", read_row(COLUMNS, line.as_bytes()).unwrap_err());
            assert!(error.contains(reason), "{line}: {error}");
        }
        assert!(read_row(COLUMNS, b"[\"\xff\"]").is_err());
    }
}

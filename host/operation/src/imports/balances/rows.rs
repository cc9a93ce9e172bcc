//! Rows of separated values, as RFC 4180 has them. A row is never longer than its bound, however its cells are quoted.

use crate::imports::input::{Input, unreadable};
use crate::imports::record::ParseError;
use crate::imports::text::decode_windows_1252;

/// Maximum length of a row with its quotes and line breaks, and maximum number of its cells.
const LONGEST: usize = 64 * 1024;
const MOST_CELLS: usize = 1_000;

/// Reader of rows.
pub(super) struct Rows<'b> {
    source: Input<'b>,
    delimiter: u8,
    line: u64,
    /// True if the last row has characters between a closing quote and the next delimiter.
    is_broken: bool,
}

impl<'b> Rows<'b> {
    pub(super) fn new(source: Input<'b>, delimiter: u8) -> Self {
        Self { source, delimiter, line: 1, is_broken: false }
    }

    /// Next row that is not empty, with its line.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Vec<String>)>, ParseError> {
        loop {
            let line = self.line;
            match self.row()? {
                None => return Ok(None),
                Some(cells) if cells.iter().all(Vec::is_empty) && cells.len() == 1 => {}
                Some(cells) => {
                    let decode = |cell: Vec<u8>| {
                        String::from_utf8(cell).unwrap_or_else(|error| decode_windows_1252(error.as_bytes()))
                    };
                    return Ok(Some((line, cells.into_iter().map(decode).collect())));
                }
            }
        }
    }

    /// True if the last row has a cell that goes on behind its quotes, so that it cannot be told.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    fn byte(&mut self) -> Result<Option<u8>, ParseError> {
        self.source.next_byte().map_err(|error| unreadable(self.line, &error))
    }

    fn row(&mut self) -> Result<Option<Vec<Vec<u8>>>, ParseError> {
        let (first, mut length) = (self.line, 0);
        self.is_broken = false;
        let (mut cells, mut cell, mut is_quoted, mut was_quoted) = (vec![], vec![], false, false);
        loop {
            let Some(byte) = self.byte()? else {
                if is_quoted {
                    return Err(ParseError::at(first, "A quoted cell does not end."));
                }
                if length == 0 {
                    return Ok(None);
                }
                cells.push(cell);
                return Ok(Some(cells));
            };
            length += 1;
            self.line += u64::from(byte == b'\n');
            if length > LONGEST || cells.len() > MOST_CELLS {
                return Err(ParseError::at(first, "A row is longer than 64 KiB; perhaps a quote does not end."));
            }
            match byte {
                b'"' if is_quoted => {
                    let next = self.source.peek().map_err(|error| unreadable(self.line, &error))?;
                    if next == Some(b'"') {
                        self.byte()?;
                        length += 1;
                        cell.push(b'"');
                    } else {
                        is_quoted = false;
                    }
                }
                byte if is_quoted => cell.push(byte),
                b'"' if cell.is_empty() && !was_quoted => (is_quoted, was_quoted) = (true, true),
                byte if byte == self.delimiter => {
                    cells.push(std::mem::take(&mut cell));
                    was_quoted = false;
                }
                b'\n' => {
                    if cell.last() == Some(&b'\r') {
                        cell.pop();
                    }
                    cells.push(cell);
                    return Ok(Some(cells));
                }
                byte => {
                    self.is_broken |= was_quoted && !byte.is_ascii_whitespace();
                    cell.push(byte);
                }
            }
        }
    }
}

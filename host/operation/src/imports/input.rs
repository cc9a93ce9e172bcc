//! Bytes of a file, unpacked, drawn from the import's budget. Parsers read nothing else.

use std::io::{self, BufRead, Read};

use crate::budget::{Budget, Exhausted};
use crate::imports::record::ParseError;

/// Size of the buffer, and so of the beginning that formats and dialects are recognised by.
const BUFFER: usize = 64 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// Formats that are no text, by their first bytes, and what to do about them.
const NOT_TEXT: [(&[u8], &str); 9] = [
    (b"\x1F\x8B", "is packed with gzip twice; unpack it once"),
    (b"PK\x03\x04", "is a ZIP archive or a spreadsheet; import the file in it, a spreadsheet saved as CSV"),
    (b"SQLite format 3\0", "is a SQLite database in a packed file; unpack it first"),
    (b"H:2,", "is a database file of H2; export it with the statement `SCRIPT TO 'dump.sql'`"),
    (b"PGDMP", "is in pg_dump's custom format; dump it with `pg_dump --format=plain`"),
    (b"\x28\xB5\x2F\xFD", "is packed with zstd; unpack it, or pack it with gzip"),
    (b"\xFD7zXZ\0", "is packed with xz; unpack it, or pack it with gzip"),
    (b"7z\xBC\xAF\x27\x1C", "is a 7z archive; import the file in it"),
    (b"Rar!\x1A\x07", "is a RAR archive; import the file in it"),
];

/// Buffered input. It ends with an error where the budget does.
pub(super) struct Input<'b> {
    source: Box<dyn Read + 'b>,
    budget: &'b Budget,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
}

impl<'b> Input<'b> {
    pub(super) fn new(source: impl Read + 'b, budget: &'b Budget) -> Self {
        Self { source: Box::new(source), budget, buffer: vec![0; BUFFER].into(), at: 0, end: 0 }
    }

    /// Like [`Self::new`], for a text: past its byte order mark. Fails with a sentence if it is none.
    pub(super) fn text(source: impl Read + 'b, budget: &'b Budget) -> Result<Self, ParseError> {
        let mut input = Self::new(source, budget);
        let beginning = input.beginning().map_err(|error| unreadable(1, &error))?;
        if let Some(reason) = not_utf8(beginning) {
            return Err(ParseError::whole(reason));
        }
        if beginning.starts_with(BYTE_ORDER_MARK) {
            input.consume(BYTE_ORDER_MARK.len());
        }
        Ok(input)
    }

    /// Beginning of the file: all of a short one.
    pub(super) fn beginning(&mut self) -> io::Result<&[u8]> {
        // One read may return little, such as the first member of a packed file.
        while self.end < self.buffer.len() && self.fill()? > 0 {}
        Ok(&self.buffer[self.at..self.end])
    }

    fn fill(&mut self) -> io::Result<usize> {
        let read = self.source.read(&mut self.buffer[self.end..])?;
        self.budget.bytes(read as u64).map_err(io::Error::other)?;
        self.end += read;
        Ok(read)
    }

    /// Next byte without taking it.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.end {
            (self.at, self.end) = (0, 0);
            self.fill()?;
        }
        Ok(self.buffer[self.at..self.end].first().copied())
    }

    /// Next byte.
    pub(super) fn next_byte(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }
}

impl Read for Input<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(to)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek()?;
        Ok(&self.buffer[self.at..self.end])
    }

    fn consume(&mut self, amount: usize) {
        self.at = (self.at + amount).min(self.end);
    }
}

/// Reason for which the beginning of a file is of no text in UTF-8.
pub(super) fn not_utf8(beginning: &[u8]) -> Option<String> {
    if let Some((_, form)) = NOT_TEXT.iter().find(|(magic, _)| beginning.starts_with(magic)) {
        return Some(format!("This file {form}."));
    }
    let utf16 = |order: &str| {
        Some(format!(
            "This file is UTF-16 ({order}), as PowerShell's `>` and Notepad's \"Unicode\" write it; save it as UTF-8, \
             for example with `iconv -f UTF-16 -t UTF-8`."
        ))
    };
    match beginning {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("This file is UTF-32; save it as UTF-8.".to_owned()),
        // With a mark, or ASCII without one.
        [0xFF, 0xFE, ..] | [1..=0x7F, 0, 1..=0x7F, 0, ..] => utf16("little-endian"),
        [0xFE, 0xFF, ..] | [0, 1..=0x7F, 0, 1..=0x7F, ..] => utf16("big-endian"),
        _ => None,
    }
}

/// Sentence for a text that is not UTF-8.
pub(super) const NOT_UTF8: &str = "its text is not UTF-8; it looks like Latin-1 or Windows-1252: convert the file with \
                                   `iconv -f WINDOWS-1252 -t UTF-8`";

/// Error for a file that cannot be read on, at a line.
pub(super) fn unreadable(line: u64, error: &io::Error) -> ParseError {
    match exhausted(error) {
        Some(exhausted) => ParseError::at(line.max(1), format!("The file is too large: {exhausted}.")),
        None => ParseError::at(line.max(1), format!("Cannot read the file: {error}.")),
    }
}

/// End of the budget behind an error of reading.
pub(super) fn exhausted(error: &io::Error) -> Option<Exhausted> {
    error.get_ref()?.downcast_ref::<Exhausted>().copied()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::budget::Allowance;

    fn budget(bytes: u64) -> Budget {
        let allowance = Allowance { bytes, steps: 10, memory: 10, time: Duration::from_secs(60) };
        Budget::begin(allowance)
    }

    #[test]
    fn what_is_no_text_is_named() {
        let budget = budget(100_000);
        let utf16 = |order: fn(u16) -> [u8; 2]| "create".encode_utf16().flat_map(order).collect::<Vec<_>>();
        for (bytes, name) in [
            (b"\xFF\xFEI\0".to_vec(), "UTF-16"),
            (utf16(u16::to_le_bytes), "UTF-16"),
            (utf16(u16::to_be_bytes), "UTF-16"),
            (b"\xFF\xFE\0\0I\0\0\0".to_vec(), "UTF-32"),
            (b"PGDMP\x01".to_vec(), "--format=plain"),
            (b"PK\x03\x04".to_vec(), "ZIP"),
        ] {
            match Input::text(bytes.as_slice(), &budget) {
                Err(ParseError::Wrong { message, .. }) => assert!(message.contains(name), "{message}"),
                _ => panic!("{name}"),
            }
        }
        let mut text = String::new();
        Input::text(&b"\xEF\xBB\xBFuuid"[..], &budget).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "uuid");
    }

    #[test]
    fn the_budget_ends_the_input() {
        let budget = budget(100_000);
        let error = io::copy(&mut Input::new(io::repeat(b'x'), &budget), &mut io::sink()).unwrap_err();
        assert_eq!(exhausted(&error), Some(Exhausted::Bytes(100_000)));
    }
}

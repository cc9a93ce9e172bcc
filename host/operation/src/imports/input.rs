//! Bytes of a file, unpacked, drawn from the import's budget. Parsers read nothing else.

use std::io::{self, BufRead, Read};

use crate::budget::{Budget, Exhausted};
use crate::imports::forms::{Expected, not_utf8};
use crate::imports::record::ParseError;

/// Size of the buffer, and so of the beginning that formats and dialects are recognised by.
const BUFFER: usize = 64 * 1024;
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
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

    /// Like [`Self::new`], for a text: past its byte order mark. Fails with a sentence if it is none, or visibly another
    /// one than expected.
    pub(super) fn text(source: impl Read + 'b, budget: &'b Budget, expected: Expected) -> Result<Self, ParseError> {
        let mut input = Self::new(source, budget);
        let beginning = input.beginning().map_err(|error| unreadable(1, &error))?;
        if let Some(reason) = not_utf8(beginning).or_else(|| expected.other(beginning)) {
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
    fn the_budget_ends_the_input() {
        let budget = budget(100_000);
        let error = io::copy(&mut Input::new(io::repeat(b'x'), &budget), &mut io::sink()).unwrap_err();
        assert_eq!(exhausted(&error), Some(Exhausted::Bytes(100_000)));
    }
}

//! Counts the lines of a JSON text while it is read, limits the memory that its reader needs, and checks its encoding.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::rc::Rc;

use crate::imports::input::{Input, NOT_UTF8, unreadable};
use crate::imports::record::ParseError;

/// Maximum length of a string, and of the content between braces or brackets at that depth.
const LONGEST: usize = 1024 * 1024;
/// Depth of a node in the list of nodes of a holder in a section of the file: nodes are read as a whole.
const DEEP: usize = 5;
/// Bytes checked for their encoding at once.
const CHECKED: usize = 4_096;

/// Failure of the guard, which the JSON reader's error hides.
pub(super) type Failure = Rc<RefCell<Option<ParseError>>>;

/// Reads a JSON text byte by byte, like `serde_json`.
pub(super) struct JsonGuard<'b> {
    source: Input<'b>,
    line: Rc<Cell<u64>>,
    failure: Failure,
    /// Length of the string being read, if any.
    text: Option<usize>,
    is_escaped: bool,
    /// Number of open braces and brackets, and bytes since there are as many as [`DEEP`].
    depth: usize,
    deep: usize,
    /// Bytes of strings whose encoding is not checked yet.
    unchecked: Vec<u8>,
}

impl<'b> JsonGuard<'b> {
    pub(super) fn new(source: Input<'b>) -> Self {
        Self {
            source,
            line: Rc::new(Cell::new(1)),
            failure: Failure::default(),
            text: None,
            is_escaped: false,
            depth: 0,
            deep: 0,
            unchecked: vec![],
        }
    }

    /// Current line.
    pub(super) fn line(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.line)
    }

    /// Reason for which the guard stopped, if it did.
    pub(super) fn failure(&self) -> Failure {
        Rc::clone(&self.failure)
    }

    fn look_at(&mut self, byte: u8) -> Result<(), &'static str> {
        if byte == b'\n' {
            self.line.set(self.line.get() + 1);
        }
        self.text = match self.text {
            Some(_) if byte == b'"' && !self.is_escaped => None,
            Some(LONGEST..) => return Err("a text is longer than 1 MiB"),
            Some(length) => Some(length + 1),
            None => (byte == b'"').then_some(0),
        };
        match byte {
            b'{' | b'[' if self.text.is_none() => self.depth += 1,
            b'}' | b']' if self.text.is_none() => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.deep = if self.depth < DEEP { 0 } else { self.deep + 1 };
        if self.deep > LONGEST {
            return Err("a node is longer than 1 MiB");
        }
        self.is_escaped = self.text.is_some() && byte == b'\\' && !self.is_escaped;
        if byte >= 0x80 || !self.unchecked.is_empty() {
            self.unchecked.push(byte);
            if byte < 0x80 || self.unchecked.len() > CHECKED {
                match str::from_utf8(&self.unchecked) {
                    Ok(_) => self.unchecked.clear(),
                    Err(error) if error.error_len().is_none() && byte >= 0x80 => {
                        self.unchecked.drain(..error.valid_up_to());
                    }
                    Err(_) => return Err(NOT_UTF8),
                }
            }
        }
        Ok(())
    }
}

impl Read for JsonGuard<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Some(first) = to.first_mut() else { return Ok(0) };
        let byte = match self.source.next_byte() {
            Ok(Some(byte)) => byte,
            Ok(None) => return Ok(0),
            Err(error) => {
                self.failure.replace(Some(unreadable(self.line.get(), &error)));
                return Err(error);
            }
        };
        *first = byte;
        self.look_at(byte).map_err(|reason| {
            let message = format!("Cannot read the file: {reason}.");
            self.failure.replace(Some(ParseError::at(self.line.get(), message)));
            io::Error::other(reason)
        })?;
        Ok(1)
    }
}

/// Error for a text that is no JSON of this form, unless the guard stopped it.
pub(super) fn json_error(error: &serde_json::Error, failure: &Failure, form: &str) -> ParseError {
    failure.take().unwrap_or_else(|| {
        let line = u64::try_from(error.line()).unwrap_or(0).max(1);
        ParseError::at(line, format!("This is not {form}: {error}."))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::budget::{Allowance, Budget};

    fn copy(text: &[u8]) -> Result<u64, ParseError> {
        let allowance = Allowance { bytes: 1 << 30, steps: 0, memory: 0, time: Duration::from_secs(600) };
        let budget = Budget::begin(allowance);
        let mut guard = JsonGuard::new(Input::new(text, &budget));
        let (line, failure) = (guard.line(), guard.failure());
        match io::copy(&mut guard, &mut io::sink()) {
            Ok(_) => Ok(line.get()),
            Err(_) => Err(failure.take().unwrap()),
        }
    }

    #[test]
    fn lines_are_counted_and_texts_bounded() {
        assert_eq!(copy(b"{\n\"a\\\"b\": 1,\n"), Ok(3));
        let within = format!("\"{}\"", "\\\"".repeat(LONGEST / 2));
        assert!(copy(within.as_bytes()).is_ok());
        let over = format!("\"{}\\\"\"", "\\\"".repeat(LONGEST / 2));
        assert!(copy(over.as_bytes()).is_err());
        let of_nodes = |node: &str, count: usize| format!("{{[[[{}]]]}}", node.repeat(count));
        assert!(copy(of_nodes("{\"key\": \"}\"},", LONGEST / 8).as_bytes()).is_ok());
        let one = format!("{{{}}}", "1,".repeat(LONGEST));
        assert!(copy(of_nodes(&one, 1).as_bytes()).is_err());
        let many = "\"x\"".repeat(LONGEST);
        assert!(copy(many.as_bytes()).is_ok());
    }

    #[test]
    fn another_encoding_is_named() {
        assert_eq!(copy("\"grün 🏰\n\"".as_bytes()), Ok(2));
        match copy(b"{\n\"gr\xFCn\": 1}") {
            Err(ParseError::Wrong { line, message }) => {
                assert_eq!((line, message.contains("Windows-1252")), (Some(2), true), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
}

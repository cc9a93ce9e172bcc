//! Counts the lines of a JSON text while it is read, and limits the memory that its reader needs.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// Maximum length of a string, and of the content between braces or brackets at that depth.
const LONGEST: usize = 1024 * 1024;
/// Depth of a node in the list of nodes of a holder in a section of the file: nodes are read as a whole.
const DEEP: usize = 5;

/// Reads a JSON text byte by byte, like `serde_json`.
pub(super) struct JsonGuard<R> {
    source: R,
    line: Rc<Cell<u64>>,
    /// Length of the string being read, if any.
    text: Option<usize>,
    is_escaped: bool,
    /// Number of open braces and brackets, and bytes since there are as many as [`DEEP`].
    depth: usize,
    deep: usize,
}

impl<R: BufRead> JsonGuard<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, line: Rc::new(Cell::new(1)), text: None, is_escaped: false, depth: 0, deep: 0 }
    }

    /// Current line.
    pub(super) fn line(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.line)
    }

    fn look_at(&mut self, byte: u8) -> io::Result<()> {
        if byte == b'\n' {
            self.line.set(self.line.get() + 1);
        }
        self.text = match self.text {
            Some(_) if byte == b'"' && !self.is_escaped => None,
            Some(LONGEST..) => return Err(io::Error::other("a text is longer than 1 MiB")),
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
            return Err(io::Error::other("a node is longer than 1 MiB"));
        }
        self.is_escaped = self.text.is_some() && byte == b'\\' && !self.is_escaped;
        Ok(())
    }
}

impl<R: BufRead> Read for JsonGuard<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let (Some(byte), Some(first)) = (self.source.fill_buf()?.first().copied(), to.first_mut()) else {
            return Ok(0);
        };
        *first = byte;
        self.source.consume(1);
        self.look_at(byte)?;
        Ok(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_texts_bounded() {
        let mut guard = JsonGuard::new(&b"{\n\"a\\\"b\": 1,\n"[..]);
        let line = guard.line();
        io::copy(&mut guard, &mut io::sink()).unwrap();
        assert_eq!(line.get(), 3);
        let within = format!("\"{}\"", "\\\"".repeat(LONGEST / 2));
        assert!(io::copy(&mut JsonGuard::new(within.as_bytes()), &mut io::sink()).is_ok());
        let over = format!("\"{}\\\"\"", "\\\"".repeat(LONGEST / 2));
        assert!(io::copy(&mut JsonGuard::new(over.as_bytes()), &mut io::sink()).is_err());
        let of_nodes = |node: &str, count: usize| format!("{{[[[{}]]]}}", node.repeat(count));
        assert!(
            io::copy(&mut JsonGuard::new(of_nodes("{\"key\": \"}\"},", LONGEST / 8).as_bytes()), &mut io::sink())
                .is_ok()
        );
        let one = format!("{{{}}}", "1,".repeat(LONGEST));
        assert!(io::copy(&mut JsonGuard::new(of_nodes(&one, 1).as_bytes()), &mut io::sink()).is_err());
        let many = "\"x\"".repeat(LONGEST);
        assert!(io::copy(&mut JsonGuard::new(many.as_bytes()), &mut io::sink()).is_ok());
    }
}

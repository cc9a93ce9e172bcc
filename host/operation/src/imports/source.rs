//! Form of a file, and its content.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::imports::input::Input;
use crate::imports::record::{ParseError, Sink};

/// Maximum unpacked size of a file, in bytes.
const MOST_UNPACKED: u64 = 1 << 30;

/// Form of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Gzip,
    Zip,
    Sqlite,
}

/// Local copy of an uploaded file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceFile<'f> {
    pub(super) path: &'f Path,
    pub(super) form: Form,
}

fn unreadable(error: &io::Error) -> ParseError {
    ParseError::whole(format!("Cannot read the file: {error}."))
}

impl<'f> SourceFile<'f> {
    pub(super) fn new(path: &'f Path) -> Result<Self, ParseError> {
        let mut beginning = vec![];
        let file = File::open(path).map_err(|error| unreadable(&error))?;
        file.take(16).read_to_end(&mut beginning).map_err(|error| unreadable(&error))?;
        let form = match beginning.as_slice() {
            [0x1F, 0x8B, ..] => Form::Gzip,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Form::Zip,
            beginning if beginning.starts_with(b"SQLite format 3\0") => Form::Sqlite,
            _ => Form::Plain,
        };
        Ok(Self { path, form })
    }

    /// The file as it is.
    pub(super) fn raw(&self) -> Result<BufReader<File>, ParseError> {
        File::open(self.path).map(BufReader::new).map_err(|error| unreadable(&error))
    }

    /// Content of the file, unpacked if it is packed.
    pub(super) fn open(&self) -> Result<Box<dyn Read>, ParseError> {
        let file = self.raw()?;
        Ok(match self.form {
            Form::Gzip => Box::new(AtMost { source: MultiGzDecoder::new(file), left: MOST_UNPACKED }),
            _ => Box::new(file),
        })
    }

    /// Content of a text that is not a database.
    pub(super) fn text<'b>(&self, sink: &Sink<'b>) -> Result<Input<'b>, ParseError> {
        match self.form {
            Form::Zip => Err(ParseError::whole("This is a ZIP archive; import the file in it.")),
            Form::Sqlite => Err(ParseError::whole("This is a SQLite database, which this import does not read.")),
            Form::Plain | Form::Gzip => Input::text(self.open()?, sink.budget()),
        }
    }
}

/// Reader that fails after a number of bytes.
struct AtMost<R> {
    source: R,
    left: u64,
}

impl<R: Read> Read for AtMost<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(to)?;
        let more = || io::Error::other(format!("its unpacked size exceeds {MOST_UNPACKED} bytes"));
        self.left = self.left.checked_sub(read as u64).ok_or_else(more)?;
        Ok(read)
    }
}

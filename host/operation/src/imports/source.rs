//! Form of a file, and its content.

use std::cell::{RefCell, RefMut};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::budget::Budget;
use crate::imports::database::Database;
use crate::imports::forms::Expected;
use crate::imports::input::Input;
use crate::imports::record::ParseError;

/// Form of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Gzip,
    Zip,
    Sqlite,
}

/// A file to read. Everything is opened with it, so that it can be read after the process gave up all other files.
pub(super) struct SourceFile {
    pub(super) form: Form,
    file: File,
    /// Of a SQLite file.
    database: Option<RefCell<Database>>,
}

fn unreadable(error: &io::Error) -> ParseError {
    ParseError::whole(format!("Cannot read the file: {error}."))
}

impl SourceFile {
    /// Takes the open file at a path.
    pub(super) fn new(path: &Path, file: File) -> Result<Self, ParseError> {
        let mut beginning = vec![];
        (&file).take(16).read_to_end(&mut beginning).map_err(|error| unreadable(&error))?;
        let form = match beginning.as_slice() {
            [0x1F, 0x8B, ..] => Form::Gzip,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Form::Zip,
            beginning if beginning.starts_with(b"SQLite format 3\0") => Form::Sqlite,
            _ => Form::Plain,
        };
        let database = if form == Form::Sqlite { Some(RefCell::new(Database::open(path)?)) } else { None };
        Ok(Self { form, file, database })
    }

    /// The file as it is, from its beginning.
    pub(super) fn raw(&self) -> Result<BufReader<&File>, ParseError> {
        (&self.file).seek(SeekFrom::Start(0)).map_err(|error| unreadable(&error))?;
        Ok(BufReader::new(&self.file))
    }

    /// Content of the file, unpacked if it is packed.
    pub(super) fn unpacked(&self) -> Result<Box<dyn Read + '_>, ParseError> {
        let file = self.raw()?;
        Ok(match self.form {
            Form::Gzip => Box::new(MultiGzDecoder::new(file)),
            _ => Box::new(file),
        })
    }

    /// Content of a text that is not a database.
    pub(super) fn text<'f>(&'f self, budget: &'f Budget, expected: Expected) -> Result<Input<'f>, ParseError> {
        match self.form {
            Form::Zip => Err(ParseError::whole("This is a ZIP archive; import the file in it.")),
            Form::Sqlite => Err(ParseError::whole("This is a SQLite database, which this import does not read.")),
            Form::Plain | Form::Gzip => Input::text(self.unpacked()?, budget, expected),
        }
    }

    /// The database of a SQLite file.
    pub(super) fn database(&self) -> Result<RefMut<'_, Database>, ParseError> {
        let database = self.database.as_ref().ok_or_else(|| ParseError::whole("This is no SQLite database."))?;
        Ok(database.borrow_mut())
    }
}

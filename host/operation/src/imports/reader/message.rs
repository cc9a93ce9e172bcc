//! Messages between the hub and the child that reads a file, which are the same executable.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use hub_sandbox::confined::{Confinement, ProcessLimits};
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::imports::model::{ImportFailure, ImportKind, ImportOptions};
use crate::imports::record::Item;

/// Maximum size of a message: a group of 4,000 nodes with the longest names.
const LARGEST: usize = 16 << 20;

/// Request of the hub, in one line. After it the standard input stays open until the child is to end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::imports) struct ReadRequest {
    /// Memory beyond what the process takes at its start, and processor time.
    pub(super) limits: ProcessLimits,
    pub(super) file: PathBuf,
    pub(in crate::imports) kind: ImportKind,
    pub(in crate::imports) options: ImportOptions,
    /// Time of the upload.
    pub(in crate::imports) created_at: Millis,
    /// Maximum number of records.
    pub(super) records: i64,
    /// Number of records that were imported before.
    pub(super) done: i64,
}

/// Message of the child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Message {
    /// It begins to read.
    Confined(Confinement),
    /// The whole file was read once: number of its records.
    Checked(i64),
    Item(Item),
    /// The file is invalid.
    Failed(ImportFailure),
    /// All records were written.
    Done,
}

impl Message {
    /// Writes the message behind its length.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let json = serde_json::to_vec(self)?;
        let length = u32::try_from(json.len()).map_err(io::Error::other)?;
        to.write_all(&length.to_le_bytes())?;
        to.write_all(&json)
    }

    /// Reads a message into a buffer; none at the end.
    pub(super) fn read(from: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<Option<Self>> {
        let mut length = [0; 4];
        match from.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > LARGEST {
            return Err(io::Error::other(format!("a message of {length} bytes")));
        }
        buffer.clear();
        if from.take(length as u64).read_to_end(buffer)? < length {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(buffer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back_unless_they_are_cut_short_or_too_long() {
        let mut bytes = vec![];
        Message::Checked(3).write(&mut bytes).unwrap();
        Message::Done.write(&mut bytes).unwrap();
        let (mut from, mut buffer) = (bytes.as_slice(), vec![]);
        assert!(matches!(Message::read(&mut from, &mut buffer).unwrap(), Some(Message::Checked(3))));
        assert!(matches!(Message::read(&mut from, &mut buffer).unwrap(), Some(Message::Done)));
        assert!(Message::read(&mut from, &mut buffer).unwrap().is_none());
        assert!(Message::read(&mut &bytes[..9], &mut buffer).unwrap().is_none());
        assert!(Message::read(&mut [0xFF; 8].as_slice(), &mut buffer).is_err());
        assert!(Message::read(&mut b"\x02\0\0\0{}".as_slice(), &mut buffer).is_err());
    }
}

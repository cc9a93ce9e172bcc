//! Files of a ZIP archive, weighed before any of them is unpacked: their number, the sum of their sizes, and that no
//! two of them are the same bytes. The list of files at the archive's end is read entry by entry, and only what is
//! wanted of it is kept.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::budget::Budget;
use crate::imports::input::{Input, unreadable};
use crate::imports::record::ParseError;

/// Maximum number of entries of an archive, of any kind.
const MOST_ENTRIES: u64 = 200_000;
/// Maximum sum of the sizes that the entries have unpacked.
const MOST_UNPACKED: u64 = 1 << 30;
/// Maximum length of a name that may be wanted.
const LONGEST_NAME: usize = 1_024;
const END: &[u8] = b"PK\x05\x06";
const END_SIZE: u64 = 22;
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";
const LOCAL_SIZE: u64 = 30;

/// A file of an archive.
#[derive(Clone, Debug)]
pub(super) struct Entry<N> {
    pub(super) name: N,
    method: u16,
    flags: u16,
    crc: u32,
    packed: u64,
    unpacked: u64,
    offset: u64,
}

/// Archive whose files of interest are known.
pub(super) struct Archive<R, N> {
    source: R,
    pub(super) entries: Vec<Entry<N>>,
}

fn damaged(what: &str) -> ParseError {
    ParseError::whole(format!("Cannot read the archive: {what}."))
}

fn failed(error: &io::Error) -> ParseError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged("it is incomplete"),
        _ => unreadable(1, error),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Place of the list of entries: their number, its offset.
struct Directory {
    count: u64,
    offset: u64,
}

fn find_directory(source: &mut (impl Read + Seek)) -> Result<Directory, ParseError> {
    let size = source.seek(SeekFrom::End(0)).map_err(|error| failed(&error))?;
    let tail_at = size.saturating_sub(END_SIZE + u64::from(u16::MAX));
    source.seek(SeekFrom::Start(tail_at)).map_err(|error| failed(&error))?;
    let mut tail = vec![];
    source.take(END_SIZE + u64::from(u16::MAX)).read_to_end(&mut tail).map_err(|error| failed(&error))?;
    // The last one whose comment ends with the file.
    let is_end = |at: &usize| {
        tail.get(*at..)
            .is_some_and(|end| end.starts_with(END) && end.len() == END_SIZE as usize + usize::from(u16_at(end, 20)))
    };
    let at = (0..tail.len()).rev().find(is_end).ok_or_else(|| damaged("its list of files is missing"))?;
    let end = &tail[at..];
    let found = Directory { count: u16_at(end, 10).into(), offset: u32_at(end, 16).into() };
    if found.count != u64::from(u16::MAX) && found.offset != u64::from(u32::MAX) {
        return Ok(found);
    }
    let locator = at.checked_sub(20).and_then(|at| tail.get(at..at + 20)).filter(|it| it.starts_with(&LOCATOR_64));
    let Some(locator) = locator else { return Ok(found) };
    source.seek(SeekFrom::Start(u64_at(locator, 8))).map_err(|error| failed(&error))?;
    let mut end = [0; 56];
    source.read_exact(&mut end).map_err(|error| failed(&error))?;
    if !end.starts_with(&END_64) {
        return Err(damaged("its list of files is missing"));
    }
    Ok(Directory { count: u64_at(&end, 32), offset: u64_at(&end, 48) })
}

impl<R: Read + Seek, N: Copy + Ord> Archive<R, N> {
    /// Reads the list of files and keeps those that `wanted` names.
    pub(super) fn open(mut source: R, budget: &Budget, wanted: impl Fn(&str) -> Option<N>) -> Result<Self, ParseError> {
        let Directory { count, offset } = find_directory(&mut source)?;
        if count > MOST_ENTRIES {
            return Err(ParseError::whole(format!("The archive has more than {MOST_ENTRIES} files.")));
        }
        source.seek(SeekFrom::Start(offset)).map_err(|error| failed(&error))?;
        let (mut entries, mut unpacked) = (vec![], 0_u64);
        let mut list = Input::new(&mut source, budget);
        for _ in 0..count {
            budget.steps(1).map_err(ParseError::exhausted)?;
            let (name, entry) = read_entry(&mut list)?;
            unpacked = unpacked.saturating_add(entry.unpacked);
            if unpacked > MOST_UNPACKED {
                return Err(ParseError::whole("The archive unpacks to more than 1 GiB."));
            }
            if let Some(name) = wanted(&name) {
                budget.memory(size_of::<Entry<N>>()).map_err(ParseError::exhausted)?;
                entries.push(Entry {
                    name,
                    method: entry.method,
                    flags: entry.flags,
                    crc: entry.crc,
                    packed: entry.packed,
                    unpacked: entry.unpacked,
                    offset: entry.offset,
                });
            }
        }
        drop(list);
        // In the order of the file, where each must begin behind the end of the one before.
        entries.sort_unstable_by_key(|entry| entry.offset);
        let overlaps = |(one, next): (&Entry<N>, &Entry<N>)| {
            one.offset.saturating_add(LOCAL_SIZE).saturating_add(one.packed) > next.offset
        };
        if entries.iter().zip(entries.iter().skip(1)).any(overlaps) {
            return Err(ParseError::whole("The archive names the same bytes as several files."));
        }
        let mut names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ParseError::whole(
                "The archive has several files of one player; leave out all but the newest.",
            ));
        }
        Ok(Self { source, entries })
    }

    /// Unpacks a file into `to`, at most `most` bytes of it. The reason if it cannot be unpacked.
    pub(super) fn unpack(
        &mut self,
        entry: &Entry<N>,
        budget: &Budget,
        most: u64,
        to: &mut Vec<u8>,
    ) -> Result<Result<(), String>, ParseError> {
        if entry.flags & 1 != 0 {
            return Ok(Err("it is encrypted".to_owned()));
        }
        self.source.seek(SeekFrom::Start(entry.offset)).map_err(|error| failed(&error))?;
        let mut local = [0; LOCAL_SIZE as usize];
        self.source.read_exact(&mut local).map_err(|error| failed(&error))?;
        if !local.starts_with(&LOCAL) {
            return Err(damaged("an entry is missing"));
        }
        let skipped = i64::from(u16_at(&local, 26)) + i64::from(u16_at(&local, 28));
        self.source.seek(SeekFrom::Current(skipped)).map_err(|error| failed(&error))?;
        let packed = (&mut self.source).take(entry.packed);
        let read = match entry.method {
            0 => Input::new(packed, budget).take(most).read_to_end(to),
            8 => Input::new(DeflateDecoder::new(packed), budget).take(most).read_to_end(to),
            method => return Ok(Err(format!("it is packed by method {method}, which is not supported"))),
        };
        if let Err(error) = read {
            return match crate::imports::input::exhausted(&error) {
                Some(_) => Err(unreadable(1, &error)),
                None => Ok(Err(error.to_string())),
            };
        }
        let mut crc = Crc::new();
        crc.update(to);
        let is_whole = (to.len() as u64) < most;
        Ok(if is_whole && (crc.sum() != entry.crc || to.len() as u64 != entry.unpacked) {
            Err("it is damaged".to_owned())
        } else {
            Ok(())
        })
    }
}

fn read_entry(list: &mut Input<'_>) -> Result<(String, Entry<()>), ParseError> {
    let mut head = [0; 46];
    list.read_exact(&mut head).map_err(|error| failed(&error))?;
    if !head.starts_with(&ENTRY) {
        return Err(damaged("its list of files is damaged"));
    }
    let list = &mut *list;
    let mut part = |length: u16, most: usize| -> Result<Vec<u8>, ParseError> {
        let mut bytes = vec![];
        let mut part = (&mut *list).take(length.into());
        (&mut part).take(most as u64).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        io::copy(&mut part, &mut io::sink()).map_err(|error| failed(&error))?;
        Ok(bytes)
    };
    let name = part(u16_at(&head, 28), LONGEST_NAME)?;
    let extra = part(u16_at(&head, 30), LONGEST_NAME)?;
    part(u16_at(&head, 32), 0)?;
    let mut entry = Entry {
        name: (),
        method: u16_at(&head, 10),
        flags: u16_at(&head, 8),
        crc: u32_at(&head, 16),
        packed: u32_at(&head, 20).into(),
        unpacked: u32_at(&head, 24).into(),
        offset: u32_at(&head, 42).into(),
    };
    // Sizes that need more than 32 bits follow in this order.
    let mut rest = extra.as_slice();
    while rest.len() >= 4 {
        let (id, size) = (u16_at(rest, 0), usize::from(u16_at(rest, 2)));
        let content = rest.get(4..4 + size).unwrap_or_default();
        if id == 1 {
            let mut at = 0;
            for field in [&mut entry.unpacked, &mut entry.packed, &mut entry.offset] {
                if *field == u64::from(u32::MAX) {
                    *field = u64_at(content, at);
                    at += 8;
                }
            }
        }
        rest = rest.get(4 + size..).unwrap_or_default();
    }
    Ok((String::from_utf8_lossy(&name).into_owned(), entry))
}

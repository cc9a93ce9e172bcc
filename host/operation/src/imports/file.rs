//! Uploaded file, on this node's disk while it is read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use futures_util::StreamExt as _;
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;

use crate::app::App;
use crate::blobs::{BlobError, BlobKey, Blobs};
use crate::clock::Millis;
use crate::imports::litebans::{self, Names};
use crate::imports::model::{Import, ImportKind, Scopes};
use crate::imports::record::{ParseError, Sink};
use crate::imports::{balances, luckperms};

/// Maximum unpacked size of a packed file, in bytes.
const MOST_UNPACKED: u64 = 1024 * 1024 * 1024;
const GZIP: &[u8] = &[0x1F, 0x8B];
const ZIP: &[u8] = b"PK\x03\x04";
const SQLITE: &[u8] = b"SQLite format 3\0";
/// First bytes of H2's own files.
const H2: &[u8] = b"H:2,";

/// Folder of files being read.
pub(super) fn folder(app: &App) -> PathBuf {
    app.settings.data.join("imports")
}

/// Copies a file from the blob store; none if it was deleted.
pub(super) async fn fetch(app: &App, key: &BlobKey) -> Result<Option<NamedTempFile>, BlobError> {
    let Some(blob) = app.state::<Blobs>().get(key).await? else { return Ok(None) };
    let folder = folder(app);
    let file = tokio::task::spawn_blocking(move || {
        std::fs::create_dir_all(&folder)?;
        NamedTempFile::new_in(folder)
    });
    let file = file.await??;
    let mut to = tokio::fs::File::from_std(file.reopen()?);
    let mut bytes = blob.stream();
    while let Some(chunk) = bytes.next().await {
        to.write_all(&chunk?).await?;
    }
    to.flush().await?;
    Ok(Some(file))
}

/// Reads a file on a thread that may block.
pub(super) fn read(
    path: &Path,
    import: &Import,
    names: &Names,
    now: Millis,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let unreadable = |error: io::Error| ParseError::whole(format!("Cannot read the file: {error}."));
    let mut file = File::open(path).map_err(unreadable)?;
    let mut beginning = vec![];
    (&mut file).take(16).read_to_end(&mut beginning).map_err(unreadable)?;
    file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    let is = |magic: &[u8]| beginning.starts_with(magic);
    match import.kind {
        ImportKind::LuckPerms => luckperms::read(unpack(file, is(GZIP)), now, sink),
        ImportKind::LiteBans => {
            let options = &import.options;
            let widens_scopes = options.scopes == Scopes::Everywhere;
            let reading = litebans::Reading { prefix: &options.prefix, widens_scopes, now, names };
            if is(H2) {
                return Err(ParseError::whole(
                    "This is an H2 database file; export it with the statement `SCRIPT TO 'litebans.sql'`.",
                ));
            }
            if is(SQLITE) {
                return litebans::read_database(path, &reading, sink);
            }
            litebans::read(unpack(file, is(GZIP)), &reading, sink)
        }
        ImportKind::Balances => {
            let sink = &mut balances::first_of_each_player(sink);
            if is(ZIP) {
                return balances::read_essentials(BufReader::new(file), sink);
            }
            balances::read_table(unpack(file, is(GZIP)), sink)
        }
    }
}

/// Content of a file, unpacked if it is packed.
fn unpack(file: File, is_packed: bool) -> Box<dyn BufRead> {
    const BUFFER: usize = 64 * 1024;
    let file = BufReader::with_capacity(BUFFER, file);
    if !is_packed {
        return Box::new(file);
    }
    Box::new(BufReader::with_capacity(BUFFER, AtMost { source: MultiGzDecoder::new(file), left: MOST_UNPACKED }))
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

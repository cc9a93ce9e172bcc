//! The files that rows name, on the hub's own disk.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use hub_db::Table;
use sha2::{Digest as _, Sha256};

use crate::archive::tables::{Row, integer, text};
use crate::config::Settings;
use crate::files::Files;
use crate::values::{NetworkId, hex};
use crate::{artifacts, provisioning, worlds};

/// A file that a row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedFile {
    room: Room,
    name: String,
    pub(super) size: u64,
    /// Snapshots have none.
    pub(super) sha256: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    Artifacts,
    Bundles,
    Worlds,
}

impl NamedFile {
    /// Whether rows of a table name files.
    pub(super) fn are_of(table: &Table) -> bool {
        matches!(table.name, "artifacts" | "provisioning_bundles" | "world_blobs")
    }

    /// The file that a row names, if it does. A name that the hub would not have given is an error: it might lead anywhere.
    pub(super) fn of(network: NetworkId, table: &Table, row: &Row) -> anyhow::Result<Option<Self>> {
        let (room, column) = match table.name {
            "artifacts" => (Room::Artifacts, "artifact_id"),
            "provisioning_bundles" => (Room::Bundles, "file_id"),
            "world_blobs" => (Room::Worlds, "file"),
            _ => return Ok(None),
        };
        let Some(name) = text(table, row, column) else {
            // In another store, or not there yet.
            return Ok(None);
        };
        let id = match room {
            Room::Worlds => name.strip_prefix(&format!("{network}/")),
            _ => (!name.contains('/')).then_some(name),
        };
        let plain =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        ensure!(id.is_some_and(|id| id.split('/').all(plain)), "`{name}` is no name of a file of the hub's");
        let size = integer(table, row, "size_bytes").and_then(|size| u64::try_from(size).ok());
        let size = size.with_context(|| format!("the file `{name}` has no size"))?;
        let sha256 = text(table, row, "sha256").map(str::to_owned);
        Ok(Some(Self { room, name: name.to_owned(), size, sha256 }))
    }

    /// Its name in the archive.
    pub(super) fn member(&self) -> String {
        let room = match self.room {
            Room::Artifacts => artifacts::FOLDER,
            Room::Bundles => provisioning::BUNDLES,
            Room::Worlds => worlds::FOLDER,
        };
        format!("files/{room}/{}", self.name)
    }
}

/// The folders of the files.
pub(super) struct Disk {
    files: Files,
    worlds: PathBuf,
}

impl Disk {
    pub(super) fn open(settings: &Settings) -> io::Result<Self> {
        Ok(Self { files: Files::open(&settings.data)?, worlds: settings.data.join(worlds::FOLDER) })
    }

    fn place(&self, network: NetworkId, file: &NamedFile) -> PathBuf {
        match file.room {
            Room::Artifacts => self.files.place(artifacts::FOLDER, network, &file.name),
            Room::Bundles => self.files.place(provisioning::BUNDLES, network, &file.name),
            Room::Worlds => self.worlds.join(&file.name),
        }
    }

    /// Opens a file, which must have the size that its row says.
    pub(super) fn read(&self, network: NetworkId, file: &NamedFile) -> anyhow::Result<File> {
        let place = self.place(network, file);
        let open = File::open(&place).with_context(|| place.display().to_string())?;
        let size = open.metadata()?.len();
        ensure!(size == file.size, "{} has {size} bytes and should have {}", place.display(), file.size);
        Ok(open)
    }

    /// Puts a file in its place, whole and safe from a power cut. Its path, unless the same bytes were there before, as
    /// when both hubs share the folder.
    pub(super) fn put(
        &self,
        network: NetworkId,
        file: &NamedFile,
        from: &mut dyn Read,
    ) -> anyhow::Result<Option<PathBuf>> {
        let place = self.place(network, file);
        let (incoming, top) = match file.room {
            Room::Worlds => (self.worlds.join("incoming"), self.worlds.as_path()),
            _ => (self.files.incoming(), self.files.root()),
        };
        let folder = place.parent().context("a file needs a folder")?;
        fs::create_dir_all(&incoming)?;
        fs::create_dir_all(folder)?;
        let mut copy = tempfile::Builder::new().prefix("in-").tempfile_in(&incoming)?;
        // Whoever holds the lock is still at it.
        copy.as_file().lock()?;
        io::copy(from, &mut copy)?;
        copy.flush()?;
        copy.as_file().sync_all()?;
        match copy.persist_noclobber(&place) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                let same = sha256_of(&place)? == sha256_of(error.file.path())?;
                ensure!(same, "{} is there already with other bytes", place.display());
                return Ok(None);
            }
            Err(error) => return Err(error.error.into()),
        }
        // The name is on the disk when its folder is; a folder that is new has a name, too.
        for folder in folder.ancestors().take_while(|it| it.starts_with(top)) {
            File::open(folder)?.sync_all()?;
        }
        Ok(Some(place))
    }
}

fn sha256_of(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = File::open(path)?;
    let mut piece = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&piece[..read]);
    }
}

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
    folder: Folder,
    name: String,
    pub(super) size: u64,
    /// None for snapshots.
    pub(super) sha256: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folder {
    Artifacts,
    Bundles,
    Worlds,
}

impl NamedFile {
    /// Whether rows of a table name files.
    pub(super) fn are_in(table: &Table) -> bool {
        matches!(table.name, "artifacts" | "provisioning_bundles" | "world_blobs")
    }

    /// The file that a row names, if it does. A name that the hub does not give is refused: it might lead to any path.
    pub(super) fn of(network: NetworkId, table: &Table, row: &Row) -> anyhow::Result<Option<Self>> {
        let (folder, column) = match table.name {
            "artifacts" => (Folder::Artifacts, "artifact_id"),
            "provisioning_bundles" => (Folder::Bundles, "file_id"),
            "world_blobs" => (Folder::Worlds, "file"),
            _ => return Ok(None),
        };
        let Some(name) = text(table, row, column) else {
            // It is in another store, or not uploaded yet.
            return Ok(None);
        };
        let id = match folder {
            Folder::Worlds => name.strip_prefix(&format!("{network}/")),
            _ => (!name.contains('/')).then_some(name),
        };
        let is_plain =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        ensure!(id.is_some_and(|id| id.split('/').all(is_plain)), "`{name}` is no name of a file of the hub's");
        let size = integer(table, row, "size_bytes").and_then(|size| u64::try_from(size).ok());
        let size = size.with_context(|| format!("the file `{name}` has no size"))?;
        let sha256 = text(table, row, "sha256").map(str::to_owned);
        Ok(Some(Self { folder, name: name.to_owned(), size, sha256 }))
    }

    /// Its name in the archive.
    pub(super) fn member_name(&self) -> String {
        let folder = match self.folder {
            Folder::Artifacts => artifacts::FOLDER,
            Folder::Bundles => provisioning::BUNDLES,
            Folder::Worlds => worlds::FOLDER,
        };
        format!("files/{folder}/{}", self.name)
    }
}

/// The folders of the files.
pub(super) struct FileStore {
    files: Files,
    worlds: PathBuf,
}

impl FileStore {
    pub(super) fn open(settings: &Settings) -> io::Result<Self> {
        Ok(Self { files: Files::open(&settings.data)?, worlds: settings.data.join(worlds::FOLDER) })
    }

    fn path(&self, network: NetworkId, file: &NamedFile) -> PathBuf {
        match file.folder {
            Folder::Artifacts => self.files.place(artifacts::FOLDER, network, &file.name),
            Folder::Bundles => self.files.place(provisioning::BUNDLES, network, &file.name),
            Folder::Worlds => self.worlds.join(&file.name),
        }
    }

    /// Opens a file, which must have the size that its row says.
    pub(super) fn open_file(&self, network: NetworkId, file: &NamedFile) -> anyhow::Result<File> {
        let path = self.path(network, file);
        let open = File::open(&path).with_context(|| path.display().to_string())?;
        let size = open.metadata()?.len();
        ensure!(size == file.size, "{} has {size} bytes and should have {}", path.display(), file.size);
        Ok(open)
    }

    /// Stores a file, complete and durable. Answers its path, unless the same bytes were there before, as when both hubs
    /// share the folder.
    pub(super) fn store(
        &self,
        network: NetworkId,
        file: &NamedFile,
        bytes: &mut dyn Read,
    ) -> anyhow::Result<Option<PathBuf>> {
        let path = self.path(network, file);
        let (incoming, top) = match file.folder {
            Folder::Worlds => (self.worlds.join("incoming"), self.worlds.as_path()),
            _ => (self.files.incoming(), self.files.root()),
        };
        let folder = path.parent().context("a file needs a folder")?;
        fs::create_dir_all(&incoming)?;
        fs::create_dir_all(folder)?;
        let mut copy = tempfile::Builder::new().prefix("in-").tempfile_in(&incoming)?;
        // A locked file is not removed as abandoned.
        copy.as_file().lock()?;
        io::copy(bytes, &mut copy)?;
        copy.flush()?;
        copy.as_file().sync_all()?;
        match copy.persist_noclobber(&path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                let same = sha256_of(&path)? == sha256_of(error.file.path())?;
                ensure!(same, "{} is there already with other bytes", path.display());
                return Ok(None);
            }
            Err(error) => return Err(error.error.into()),
        }
        // A name is durable once its folder is synced, and so is a new folder's.
        for folder in folder.ancestors().take_while(|it| it.starts_with(top)) {
            File::open(folder)?.sync_all()?;
        }
        Ok(Some(path))
    }
}

fn sha256_of(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&buffer[..read]);
    }
}

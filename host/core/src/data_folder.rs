//! Protection of the data folder: only the hub's user may access it, because it contains keys, secrets and players'
//! data.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rustix::fs::Mode;

use crate::config::Settings;

/// Permission bits of group and others.
const OTHERS: u32 = 0o077;
/// Database of the modules' stores, made at the first start after that of the hub.
pub const MODULE_STORE: &str = "module-store.db";

/// Makes files that this process creates accessible only to its user.
pub fn create_private_files() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Absolute path of the folder, for messages: a relative one depends on the current directory.
pub fn shown(settings: &Settings) -> PathBuf {
    std::path::absolute(&settings.data).unwrap_or_else(|_| settings.data.clone())
}

/// Fails if there is no hub in the data folder; the error names the folder.
pub fn require_hub(settings: &Settings) -> anyhow::Result<()> {
    anyhow::ensure!(
        settings.database.is_some() || settings.database_file().is_file(),
        "no hub found in {}; set --data (HUB_DATA) to the hub's folder, or --database to its PostgreSQL \
         (HUB_DATABASE)",
        shown(settings).display()
    );
    require_whole(settings)
}

/// Fails if the SQLite database is empty or missing beside files that only a hub with a database writes: a copy that
/// failed, a full disk, or a hub whose database is elsewhere. A new database would make all keys unknown.
pub fn require_whole(settings: &Settings) -> anyhow::Result<()> {
    let file = settings.database_file();
    let is_empty = |path: &Path| fs::metadata(path).map_or(true, |metadata| metadata.len() == 0);
    if settings.database.is_some() || !is_empty(&file) || is_empty(&settings.data.join(MODULE_STORE)) {
        return Ok(());
    }
    let state = if file.exists() { "is empty" } else { "is missing" };
    anyhow::bail!(
        "{} {state}, but the folder holds other files of a hub; restore the latest backup, set --database (HUB_DATABASE) if the \
         hub is on PostgreSQL, or start a new hub in another folder",
        file.display()
    )
}

/// Locks the folder's SQLite database for this process until the guard is dropped or the process ends: the in-memory
/// state of a hub, such as presence, must be in one process. PostgreSQL may have several nodes.
pub fn lock(settings: &Settings) -> anyhow::Result<Option<File>> {
    if settings.database.is_some() {
        return Ok(None);
    }
    let path = settings.data.join("serving.lock");
    let shown = path.display();
    fs::create_dir_all(&settings.data)
        .with_context(|| format!("cannot create the folder {}", settings.data.display()))?;
    let file = File::create(&path).with_context(|| format!("cannot write {shown}"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(anyhow::anyhow!(
            "another `hub serve` uses this folder ({shown} is locked); stop it first, or set another --data (HUB_DATA)"
        )),
        // Some network file systems do not support locks.
        Err(TryLockError::Error(error)) => {
            tracing::warn!(%error, "cannot lock {shown}; make sure that no other hub uses this folder");
            Ok(None)
        }
    }
}

/// Fails if the blobs of a hub on PostgreSQL would be in a missing folder.
pub fn require_blobs(settings: &Settings) -> anyhow::Result<()> {
    anyhow::ensure!(
        settings.database.is_none() || settings.blobs.is_some() || settings.data.is_dir(),
        "the data folder {} with the hub's files does not exist; set --data (HUB_DATA), or --blobs for another store \
         (HUB_BLOBS)",
        shown(settings).display()
    );
    Ok(())
}

/// Removes other users' access to an existing folder.
pub fn make_private(folder: &Path) {
    match restrict(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, folder = %folder.display(), "other users may be able to read the data folder");
        }
        _ => {}
    }
}

fn restrict(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        // The target of a link may be shared on purpose.
        return Ok(());
    }
    let mode = metadata.permissions().mode();
    if mode & OTHERS != 0 {
        fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS))?;
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(path)? {
            match restrict(&entry?.path()) {
                // Temporary files come and go.
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

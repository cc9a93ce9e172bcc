//! The data folder is the hub's own user's: it holds keys, secrets and players' data.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rustix::fs::Mode;

use crate::config::Settings;

/// What group and others may do.
const OTHERS: u32 = 0o077;

/// Whatever this process creates from now on is its user's alone.
pub(crate) fn create_private_files() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// The folder's whole path, to be shown: a relative one means another folder wherever the hub is called.
pub(crate) fn shown(settings: &Settings) -> PathBuf {
    std::path::absolute(&settings.data).unwrap_or_else(|_| settings.data.clone())
}

/// An error where there is no hub, which names the folder that was looked into.
pub(crate) fn require_hub(settings: &Settings) -> anyhow::Result<()> {
    anyhow::ensure!(
        settings.database.is_some() || settings.database_file().is_file(),
        "there is no hub in {}; name the hub's folder with --data (HUB_DATA), or its PostgreSQL with --database \
         (HUB_DATABASE)",
        shown(settings).display()
    );
    Ok(())
}

/// Makes this process the one that serves the folder's SQLite database, until the guard is dropped or the process ends:
/// what a hub has in memory, such as who is online, must be in one. PostgreSQL may have several nodes.
pub(crate) fn lock(settings: &Settings) -> anyhow::Result<Option<File>> {
    if settings.database.is_some() {
        return Ok(None);
    }
    let path = settings.data.join("serving.lock");
    let shown = path.display();
    fs::create_dir_all(&settings.data)
        .with_context(|| format!("the folder {} can't be made", settings.data.display()))?;
    let file = File::create(&path).with_context(|| format!("{shown} can't be written"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(anyhow::anyhow!(
            "another `hub serve` has this folder ({shown} is locked); stop it first, or name another folder with --data (HUB_DATA)"
        )),
        // Some network file systems have no locks.
        Err(TryLockError::Error(error)) => {
            tracing::warn!(%error, "{shown} can't be locked; see to it that no other hub serves this folder");
            Ok(None)
        }
    }
}

/// An error where the blobs of a hub on PostgreSQL would be in a folder that is not there.
pub(crate) fn require_blobs(settings: &Settings) -> anyhow::Result<()> {
    anyhow::ensure!(
        settings.database.is_none() || settings.blobs.is_some() || settings.data.is_dir(),
        "there is no data folder {}, where the hub's files are; name it with --data (HUB_DATA), or the store with --blobs \
         (HUB_BLOBS)",
        shown(settings).display()
    );
    Ok(())
}

/// Takes away what others may do in a folder that is there already.
pub(crate) fn make_private(folder: &Path) {
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
        // What it leads to may be shared on purpose.
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

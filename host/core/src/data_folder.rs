//! Protection of the data folder: only the hub's user may access it, because it contains keys, secrets and players'
//! data.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use rustix::fs::Mode;

use crate::config::Settings;

/// Permission bits of group and others.
const OTHERS: u32 = 0o077;
/// File that the process which serves from the folder has locked, with its address.
const SERVING: &str = "serving.lock";
const LOCK_ATTEMPTS: u32 = 4;
const LOCK_PAUSE: Duration = Duration::from_millis(50);
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

/// Locks the folder for this process until the guard is dropped or the process ends, and writes down its address: the
/// in-memory state of a hub on SQLite, such as presence, must be in one process. PostgreSQL may have several nodes, so
/// that a lock which another one has is no error.
pub fn lock(settings: &Settings) -> anyhow::Result<Option<File>> {
    match try_lock(settings) {
        Err(_) if settings.database.is_some() => Ok(None),
        locked => locked,
    }
}

fn try_lock(settings: &Settings) -> anyhow::Result<Option<File>> {
    let path = settings.data.join(SERVING);
    let shown = path.display();
    fs::create_dir_all(&settings.data)
        .with_context(|| format!("cannot create the folder {}", settings.data.display()))?;
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    let mut file = options.open(&path).with_context(|| format!("cannot write {shown}"))?;
    let mut attempts = LOCK_ATTEMPTS;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            // The doctor may have it for a moment.
            Err(TryLockError::WouldBlock) if attempts > 0 => {
                attempts -= 1;
                std::thread::sleep(LOCK_PAUSE);
            }
            Err(TryLockError::WouldBlock) => anyhow::bail!(
                "another `hub serve` uses this folder ({shown} is locked); stop it first, or set another --data (HUB_DATA)"
            ),
            // Some network file systems do not support locks.
            Err(TryLockError::Error(error)) => {
                tracing::warn!(%error, "cannot lock {shown}; make sure that no other hub uses this folder");
                return Ok(None);
            }
        }
    }
    let written = file.set_len(0).and_then(|()| write!(file, "{}", settings.listen));
    if let Err(error) = written {
        tracing::warn!(%error, "cannot write {shown}; `hub admin doctor` will not find this hub");
    }
    Ok(Some(file))
}

/// Address of the process that serves from the folder; none if there is no such process.
///
/// # Errors
/// Fails if that cannot be known: the file system has no locks, or had no room for the address.
pub fn serving_address(settings: &Settings) -> anyhow::Result<Option<SocketAddr>> {
    let mut file = match File::open(settings.data.join(SERVING)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
        Err(TryLockError::WouldBlock) => {
            let mut address = String::new();
            file.read_to_string(&mut address)?;
            Ok(Some(address.parse()?))
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

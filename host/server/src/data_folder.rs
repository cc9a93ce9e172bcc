//! The data folder is the hub's own user's: it holds keys, secrets and players' data.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::Mode;

/// What group and others may do.
const OTHERS: u32 = 0o077;

/// Whatever this process creates from now on is its user's alone.
pub(crate) fn create_private_files() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
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

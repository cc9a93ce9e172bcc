//! The files of the cache, regardless of the hub's version that wrote them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum depth of folders that are scanned.
const MAX_DEPTH: u32 = 3;

/// A file of the cache.
pub(super) struct CachedFile {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) used_at: SystemTime,
}

/// All files below a folder: finished, left behind unfinished, or of an engine no longer in use.
pub(super) fn list(folder: &Path) -> io::Result<Vec<CachedFile>> {
    let mut files = vec![];
    collect(folder, MAX_DEPTH, &mut files)?;
    Ok(files)
}

fn collect(folder: &Path, depth: u32, files: &mut Vec<CachedFile>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // Another command may have deleted it meanwhile.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() && depth > 0 {
            collect(&entry.path(), depth - 1, files)?;
        } else if metadata.is_file() {
            files.push(CachedFile { path: entry.path(), bytes: metadata.len(), used_at: metadata.modified()? });
        }
    }
    Ok(())
}

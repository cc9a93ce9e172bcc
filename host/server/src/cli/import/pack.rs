//! Packs player files into the archive format that the hub reads.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::NamedTempFile;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Packs one player file or a folder of them. Returns none if the file can be sent unchanged.
pub(super) fn pack(path: &Path) -> anyhow::Result<Option<NamedTempFile>> {
    let cant_read = || format!("cannot read {}", path.display());
    let files = if fs::metadata(path).with_context(cant_read)?.is_dir() {
        let mut files = vec![];
        for entry in fs::read_dir(path).with_context(cant_read)? {
            let file = entry.with_context(cant_read)?.path();
            if is_player_file(&file) {
                files.push(file);
            }
        }
        files.sort();
        anyhow::ensure!(!files.is_empty(), "{} contains no .yml files", path.display());
        files
    } else if is_player_file(path) {
        vec![path.to_owned()]
    } else {
        return Ok(None);
    };
    archive(&files).map(Some)
}

fn is_player_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml") && path.is_file()
}

fn archive(files: &[PathBuf]) -> anyhow::Result<NamedTempFile> {
    let archive = NamedTempFile::new()?;
    let mut writer = ZipWriter::new(io::BufWriter::new(archive.reopen()?));
    for path in files {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        writer.start_file(name, SimpleFileOptions::default())?;
        let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        io::copy(&mut file, &mut writer)?;
    }
    writer.finish()?.flush()?;
    Ok(archive)
}

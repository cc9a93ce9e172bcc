//! The files of the SDKs that are embedded in this program.

use super::error::BuildError;
use std::path::Path;

/// Name, relative to the SDKs' folder, and content.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/sdk.rs"));

/// The files under a folder, such as `c/template/`, each with its name relative to it.
pub(super) fn under(folder: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    FILES.iter().filter_map(move |(name, content)| Some((name.strip_prefix(folder)?, *content)))
}

/// The text of a file, empty if it does not exist.
pub(super) fn text(name: &str) -> &'static str {
    let content = FILES.iter().find(|(known, _)| *known == name).map_or(&b""[..], |(_, content)| content);
    std::str::from_utf8(content).unwrap_or_default()
}

/// Writes a file and creates its parent folders.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<(), BuildError> {
    let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, content));
    written.map_err(|error| BuildError::Io { path: path.into(), error })
}

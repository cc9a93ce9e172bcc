//! Files of the data folder.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tokio_util::io::ReaderStream;
use uuid::Uuid;

use super::{Item, Kind, copy, finish_move, store};
use crate::app::App;
use crate::blobs::{BlobError, BlobKey, Blobs, blocking};
use crate::values::{NetworkId, hex};

/// Number of bytes read at a time.
const CHUNK: usize = 1024 * 1024;

pub(super) async fn run(app: &App) -> Result<(), BlobError> {
    if app.state::<Blobs>().old_files.is_none() {
        return Ok(());
    }
    let data = app.settings.data.clone();
    for (item, file) in blocking(move || find(&data)).await? {
        if store::is_moved(&app.db, &item).await? {
            continue;
        }
        let Some((key, sha256)) = item.key(app).await? else { continue };
        match move_file(app, &item, &key, sha256, file).await {
            // It was deleted meanwhile.
            Err(BlobError::Disk(error)) if error.kind() == io::ErrorKind::NotFound => {}
            moved => moved?,
        }
    }
    Ok(())
}

/// Finds all files that may be blobs and deletes incomplete ones.
fn find(data: &Path) -> io::Result<Vec<(Item, PathBuf)>> {
    let mut found = vec![];
    for kind in [Kind::Artifact, Kind::Bundle, Kind::Snapshot] {
        let Some(folder) = kind.folder() else { continue };
        let folder = data.join(folder);
        for of_network in entries(&folder)? {
            let Some(network) = file_name(&of_network).and_then(|name| Uuid::try_parse(name).ok()) else { continue };
            for file in files(&of_network)? {
                // A snapshot's name contains the network and the world, too.
                let whole = || file.strip_prefix(&folder).ok().and_then(Path::to_str);
                let name = if kind == Kind::Snapshot { whole() } else { file_name(&file) };
                let Some(name) = name.map(str::to_owned) else { continue };
                found.push((Item { network: NetworkId(network), kind, name }, file));
            }
        }
    }
    for folder in ["files/incoming", "worlds/incoming"] {
        for file in entries(&data.join(folder))? {
            // A process that still receives it holds its lock.
            if File::open(&file)?.try_lock().is_ok() {
                std::fs::remove_file(file)?;
            }
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(vec![]),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// All files below a folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![];
    for path in entries(folder)? {
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

async fn move_file(
    app: &App,
    item: &Item,
    key: &BlobKey,
    expected: Option<String>,
    file: PathBuf,
) -> Result<(), BlobError> {
    let hashed = file.clone();
    let sha256 = blocking(move || hash_of(&hashed)).await?;
    if expected.is_some_and(|expected| expected != sha256) {
        tracing::error!(file = %file.display(), sha256, "a file does not match its row's hash; it is not moved");
        return Ok(());
    }
    let mut copied = app.state::<Blobs>().link(file.clone(), app.clock.now(), &app.ids).await?;
    if copied.is_none() {
        let bytes = ReaderStream::with_capacity(tokio::fs::File::open(&file).await?, CHUNK);
        copied = copy(app, bytes, &sha256).await?;
    }
    match copied {
        Some(copied) => finish_move(app, item, key, copied).await,
        None => Ok(()),
    }
}

fn hash_of(file: &Path) -> io::Result<String> {
    let (mut file, mut hash, mut chunk) = (File::open(file)?, Sha256::new(), vec![0; CHUNK]);
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&chunk[..read]);
    }
}

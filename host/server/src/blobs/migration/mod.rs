//! Moves the blobs of older hubs into the store: files of the data folder, and modules in the database.
//!
//! Blobs are moved one by one: copied (or linked, if the store is a folder on the same disk), verified, and recorded
//! in `blob_moves`. Until then they are read from the old location, which is deleted a day later, so that nodes of the
//! older version can read it during a rolling upgrade. Interrupted moves are resumed.

mod files;
mod modules;
mod store;

use std::io;
use std::path::Path as FilePath;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _};
use object_store::ObjectStoreExt as _;
use object_store::local::LocalFileSystem;
use object_store::path::Path;

use crate::app::App;
use crate::background::every;
use crate::blobs::{Blob, BlobError, BlobKey, Blobs, TemporaryBlob};
use crate::clock::millis;
use crate::values::NetworkId;

const RUN_EVERY: Duration = Duration::from_mins(10);
/// Time for which moved blobs stay in the old location.
const KEPT_FOR: Duration = Duration::from_hours(24);
/// Number of old locations cleared per run.
const BATCH: i64 = 1000;

/// Location of a blob in an older hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OldPlace {
    /// A file of the data folder.
    File(Path),
    /// Rows of `module_pieces`, or a value of `module_code`.
    Module { name: String, version: i64, kind: Kind },
}

/// Kind of a blob: selects its row and its name in `blob_moves` and `module_pieces`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub(super) enum Kind {
    Artifact,
    Bundle,
    Snapshot,
    Upload,
    Component,
}

impl Kind {
    fn as_str(self) -> &'static str {
        self.into()
    }

    /// Folder of files of this kind in the data folder.
    fn folder(self) -> Option<&'static str> {
        match self {
            Self::Artifact => Some("files/artifacts"),
            Self::Bundle => Some("files/bundles"),
            Self::Snapshot => Some("worlds"),
            Self::Upload | Self::Component => None,
        }
    }

    /// Location of a file in an older hub. A snapshot's name begins with its network.
    pub(super) fn old_file(self, network: NetworkId, name: &str) -> Option<OldPlace> {
        let folder = self.folder()?;
        let path =
            if self == Self::Snapshot { format!("{folder}/{name}") } else { format!("{folder}/{network}/{name}") };
        Some(OldPlace::File(Path::from(path)))
    }
}

/// A blob in its old location.
#[derive(Debug)]
struct Item {
    network: NetworkId,
    kind: Kind,
    /// The id of an artifact or bundle, a snapshot's file, or a module's name and version with a slash between.
    name: String,
}

impl Item {
    /// Key of the blob and the hash in its row, if any; none without a row.
    async fn key(&self, app: &App) -> Result<Option<(BlobKey, Option<String>)>, BlobError> {
        let Some(sha256) = store::find_row(&app.db, self).await? else { return Ok(None) };
        let (network, name) = (self.network, self.name.as_str());
        let hash = sha256.as_deref().unwrap_or_default();
        let key = match (self.kind, self.module()) {
            (Kind::Artifact, _) => BlobKey::artifact(network, hash, name),
            (Kind::Bundle, _) => BlobKey::bundle(network, hash, name),
            (Kind::Snapshot, _) => BlobKey::snapshot(network, name),
            (Kind::Upload, Some((name, version))) => BlobKey::module_upload(network, hash, name, version),
            (Kind::Component, Some((name, version))) => BlobKey::module_component(network, hash, name, version),
            (Kind::Upload | Kind::Component, None) => return Ok(None),
        };
        Ok(Some((key, sha256)))
    }

    /// A module's name and version.
    fn module(&self) -> Option<(&str, i64)> {
        if self.kind.folder().is_some() {
            return None;
        }
        let (name, version) = self.name.rsplit_once('/')?;
        Some((name, version.parse().ok()?))
    }
}

/// The data folder, if it is an older hub's, too.
pub(super) fn old_files(data: &FilePath) -> anyhow::Result<Option<LocalFileSystem>> {
    let has_files = ["files", "worlds"].iter().any(|folder| data.join(folder).exists());
    Ok(if has_files { Some(LocalFileSystem::new_with_prefix(data)?.with_automatic_cleanup(true)) } else { None })
}

/// A blob that was not moved yet.
pub(super) async fn get_old(blobs: &Blobs, key: &BlobKey) -> Result<Option<Blob>, BlobError> {
    match (&key.old, &blobs.old_files) {
        (Some(OldPlace::File(path)), Some(files)) => match files.get(path).await {
            Ok(found) => Ok(Some(Blob::new(found))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        },
        (Some(OldPlace::Module { name, version, kind }), _) => {
            let bytes = store::read_module(&blobs.db, key.network, name, *version, *kind).await?;
            Ok((!bytes.is_empty()).then(|| Blob::of_bytes(bytes.into())))
        }
        _ => Ok(None),
    }
}

/// Deletes the file that a blob was. Modules go with a later run.
pub(super) async fn delete_old(blobs: &Blobs, old: Option<&OldPlace>) -> Result<(), BlobError> {
    let (Some(OldPlace::File(path)), Some(files)) = (old, &blobs.old_files) else { return Ok(()) };
    match files.delete(path).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn start(app: &App) {
    every(app, RUN_EVERY, "move all blobs of an older hub", async |app| run(&app).await);
}

async fn run(app: &App) -> Result<(), BlobError> {
    files::run(app).await?;
    modules::run(app).await?;
    clear_old_places(app).await
}

/// Copies bytes to a temporary key; none, with a log message, if they do not match.
async fn copy(
    app: &App,
    mut bytes: impl Stream<Item = io::Result<Bytes>> + Unpin,
    sha256: &str,
) -> Result<Option<TemporaryBlob>, BlobError> {
    let mut writer = app.state::<Blobs>().writer(app.clock.now(), &app.ids);
    while let Some(chunk) = bytes.try_next().await? {
        writer.append(chunk).await?;
    }
    let copy = writer.finish().await?;
    if copy.sha256().await? == sha256 {
        return Ok(Some(copy));
    }
    tracing::error!(sha256, "a copy in the store differs");
    copy.discard().await?;
    Ok(None)
}

/// Moves a copy to its key if the row still exists.
async fn finish_move(app: &App, item: &Item, key: &BlobKey, copy: TemporaryBlob) -> Result<(), BlobError> {
    copy.store_for_row(key).await?;
    let now = app.clock.now();
    let moved = app.db.transaction(async |mut tx| store::insert_move(&mut tx, item, &key.path, now).await);
    if !moved.await? {
        app.state::<Blobs>().delete_path(&key.path).await?;
    }
    Ok(())
}

/// Deletes the old locations of blobs moved a day ago.
async fn clear_old_places(app: &App) -> Result<(), BlobError> {
    let before = app.clock.now().saturating_sub(millis(KEPT_FOR));
    for (item, key) in store::moved_before(&app.db, before, BATCH).await? {
        delete_old(app.state::<Blobs>(), item.kind.old_file(item.network, &item.name).as_ref()).await?;
        if let Some((name, version)) = item.module() {
            store::delete_chunks(&app.db, item.network, name, version, item.kind).await?;
            store::clear_code(&app.db, item.network, name, version, item.kind).await?;
        }
        if store::find_row(&app.db, &item).await?.is_none() {
            // A node of the older version, which knew only the old location, deleted the row.
            app.state::<Blobs>().delete_path(&Path::parse(key).map_err(object_store::Error::from)?).await?;
        }
        store::forget_move(&app.db, &item).await?;
    }
    Ok(())
}

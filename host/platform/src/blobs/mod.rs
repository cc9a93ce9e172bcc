//! Store for blobs: artifacts, bundles, world snapshots, and modules too large for a row. It is a folder or a bucket
//! of an S3-compatible store.
//!
//! A blob arrives under a temporary key and is renamed when it is complete. Before that it is recorded as
//! unreferenced; the transaction that writes its row removes the record, and the transaction that deletes the row adds
//! one. Recorded blobs are deleted when due, so that neither a kill nor a failure leaves a blob without its row or a
//! row without its blob. Acknowledged blobs survive a power cut. Networks never share blobs.
//!
//! Tables: `unreferenced_blobs`, `backup_holds`.

mod hold;
mod key;
mod location;
mod mark;
mod receive;
mod send;
mod store;
mod sweep;

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::http::{Method, StatusCode};
use futures_util::TryStreamExt as _;
use hub_db::{Db, Tx};
use object_store::aws::AmazonS3;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::signer::Signer as _;
use object_store::{ObjectStore, ObjectStoreExt as _};
use parking_lot::Mutex;
use thiserror::Error;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::app::App;
use crate::background::every_settled;
use crate::clock::Millis;
use crate::component::{Component, ErrorCode, TableRule};
use crate::config::Settings;
use crate::fault::Fault;
use crate::http::error::ApiError;
use crate::ids::Ids;
use crate::limits::QuotaExceeded;
use crate::values::NetworkId;

pub(crate) use hold::BlobHold;
pub use key::BlobKey;
pub use receive::BlobWriter;
pub use receive::{ReceivedBlob, TemporaryBlob, Upload, check_bytes, receive};
pub use send::{Blob, Validator};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "store that other components keep large bytes in",
    tables: &[
        TableRule::left("unreferenced_blobs")
            .not_backed_up("about blobs that are not backed up")
            .without_players("files to be deleted"),
        TableRule::hub("backup_holds").not_backed_up("belong to the backup itself"),
    ],
    errors: &[ErrorCode::new("storage_full", &[503], "The hub's storage for files is full.")],
    register: |states, opening| {
        states.insert(Blobs::open(opening.settings, opening.db)?);
        Ok(())
    },
    start: |app| Box::pin(mark::check(app)),
    background: start,
    ..Component::new(module_path!())
};

/// Maximum size of an artifact or bundle, in bytes.
pub const BLOB_LIMIT: u64 = 512 * 1024 * 1024;
/// Modules up to this size in bytes stay in their row.
pub const INLINE_LIMIT: usize = 256 * 1024;
/// Location of incomplete blobs.
const INCOMING: &str = "incoming";
const SWEEP_EVERY: Duration = Duration::from_mins(10);

/// Raw bytes.
pub struct Bytes;

impl PartialSchema for Bytes {
    fn schema() -> RefOr<Schema> {
        let binary = SchemaFormat::KnownFormat(KnownFormat::Binary);
        ObjectBuilder::new().schema_type(Type::String).format(Some(binary)).into()
    }
}
impl ToSchema for Bytes {}

/// Errors of blobs.
#[derive(Debug, Error)]
pub enum BlobError {
    #[error("more than {0} bytes")]
    TooLarge(u64),
    #[error("The request body is empty; send the file's bytes.")]
    Empty,
    #[error("Could not read the whole request body: {0}.")]
    Broken(String),
    #[error("the blob {0} is missing")]
    Missing(String),
    #[error("the blob {key} has {found} bytes instead of {expected}")]
    WrongSize { key: String, found: u64, expected: u64 },
    #[error("blobs cannot be deleted during a backup")]
    Held,
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    #[error(transparent)]
    Store(#[from] object_store::Error),
    #[error(transparent)]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl BlobError {
    fn is_storage_full(&self) -> bool {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = match self {
            Self::Store(error) => Some(error),
            Self::Disk(error) => Some(error),
            _ => None,
        };
        while let Some(error) = cause {
            if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::StorageFull) {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

impl From<tokio::task::JoinError> for BlobError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Disk(io::Error::other(error))
    }
}

impl From<BlobError> for ApiError {
    fn from(error: BlobError) -> Self {
        let message = error.to_string();
        match error {
            BlobError::TooLarge(limit) => Self::too_large(usize::try_from(limit).unwrap_or(usize::MAX)),
            BlobError::Empty => Self::bad_request("empty_body", message),
            BlobError::Broken(_) => Self::invalid(message),
            BlobError::Quota(exceeded) => exceeded.into(),
            BlobError::Database(error) => error.into(),
            error if error.is_storage_full() => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "storage_full",
                "The hub's storage is full; the operator must free space.",
            ),
            error => Self::internal(error),
        }
    }
}

/// Blob store. Clones share it.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    backend: StoreBackend,
    db: Db,
    /// Found while the hub runs.
    fault: Arc<Mutex<Option<Fault>>>,
}

#[derive(Clone)]
enum StoreBackend {
    Folder(LocalFileSystem, PathBuf),
    S3(AmazonS3, Path),
}

impl Blobs {
    /// Opens the store in the settings. A missing folder is created.
    pub fn open(settings: &Settings, db: &Db) -> anyhow::Result<Self> {
        let (store, backend): (Arc<dyn ObjectStore>, _) = match location::Location::of(settings)? {
            location::Location::Folder(root) => {
                let made = DirBuilder::new().recursive(true).mode(0o700).create(&root);
                made.with_context(|| format!("cannot create the folder {}", root.display()))?;
                // Without its own `fsync`, which omits folders that another upload has just created.
                let folder = LocalFileSystem::new_with_prefix(&root)?.with_automatic_cleanup(true);
                (Arc::new(folder.clone()), StoreBackend::Folder(folder, root.canonicalize()?))
            }
            location::Location::S3(s3) => {
                let (s3, prefix) = (s3.open()?, s3.prefix);
                (Arc::new(s3.clone()), StoreBackend::S3(s3, prefix))
            }
        };
        Ok(Self { store, backend, db: db.clone(), fault: Arc::default() })
    }

    /// Path of a key in the store.
    fn path(&self, key: &Path) -> Path {
        match &self.backend {
            StoreBackend::Folder(..) => key.clone(),
            StoreBackend::S3(_, prefix) => prefix.parts().chain(key.parts()).collect(),
        }
    }

    /// Returns the blob with this key, if it exists.
    pub async fn get(&self, key: &BlobKey) -> Result<Option<Blob>, BlobError> {
        match self.store.get(&self.path(&key.path)).await {
            Ok(found) => Ok(Some(Blob::new(found))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes a blob; a missing blob is not an error. Current readers can finish.
    pub async fn delete(&self, key: &BlobKey) -> Result<(), BlobError> {
        if self.is_held().await? {
            return Err(BlobError::Held);
        }
        self.delete_path(&key.path).await
    }

    async fn delete_path(&self, path: &Path) -> Result<(), BlobError> {
        match self.store.delete(&self.path(path)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// True if a backup currently prevents deletions.
    pub(crate) async fn is_held(&self) -> Result<bool, hub_db::Error> {
        Ok(!store::holds(&self.db).await?.is_empty())
    }

    /// Deletes all blobs of a network.
    pub(crate) async fn delete_network(&self, network: NetworkId) -> Result<(), BlobError> {
        let prefix = self.path(&Path::from(network.to_string()));
        delete_under(&*self.store, &prefix).await
    }

    /// Deletes blobs that are recorded as unreferenced. Failures are retried by the sweep.
    pub async fn delete_unreferenced(&self, keys: &[BlobKey]) {
        for key in keys {
            let deleted = async {
                self.delete(key).await?;
                Ok::<_, BlobError>(store::forget(&self.db, key.network, &key.path).await?)
            };
            match deleted.await {
                Ok(()) => {}
                Err(BlobError::Held) => tracing::debug!(key = %key.path, "backup in progress: deleted later"),
                Err(error) => tracing::warn!(%error, key = %key.path, "could not delete a blob"),
            }
        }
    }

    /// True if a blob is recorded as unreferenced.
    pub(crate) async fn is_unreferenced(&self, key: &BlobKey) -> Result<bool, hub_db::Error> {
        store::is_noted(&self.db, key.network, &key.path).await
    }

    /// Presigned URL to put or get this blob in the S3-compatible store; none if the store is a folder.
    pub async fn presign(
        &self,
        method: Method,
        key: &BlobKey,
        good_for: Duration,
    ) -> Result<Option<String>, BlobError> {
        let StoreBackend::S3(s3, _) = &self.backend else { return Ok(None) };
        Ok(Some(s3.signed_url(method, &self.path(&key.path), good_for).await?.into()))
    }

    /// Writes, reads and deletes a temporary blob.
    pub async fn probe(&self, now: Millis, ids: &Ids) -> Result<(), BlobError> {
        let path = self.path(&Path::from(format!("{INCOMING}/{now}-{}", ids.token(20))));
        let bytes = bytes::Bytes::from_static(b"a probe of hub admin doctor");
        self.store.put(&path, bytes.clone().into()).await?;
        let read = self.store.get(&path).await?.bytes().await;
        self.store.delete(&path).await?;
        if read? == bytes { Ok(()) } else { Err(BlobError::Missing(path.to_string())) }
    }

    /// True if blobs are in a folder, so that the hub itself receives all of them.
    pub fn is_folder(&self) -> bool {
        matches!(self.backend, StoreBackend::Folder(..))
    }

    /// Renames a blob, so that it survives a power cut under its new key.
    async fn rename(&self, from: &Path, to: &Path) -> Result<(), BlobError> {
        let (source, target) = (self.path(from), self.path(to));
        if let StoreBackend::Folder(folder, _) = &self.backend {
            let file = folder.path_to_filesystem(&source)?;
            blocking(move || File::open(file)?.sync_all()).await?;
        }
        self.store.rename(&source, &target).await?;
        if let StoreBackend::Folder(folder, root) = &self.backend {
            let (file, root) = (folder.path_to_filesystem(&target)?, root.clone());
            blocking(move || sync_folders(&file, &root)).await?;
        }
        Ok(())
    }
}

/// Deletes all objects under a prefix, one by one.
async fn delete_under(store: &dyn ObjectStore, prefix: &Path) -> Result<(), BlobError> {
    let mut objects = store.list(Some(prefix));
    while let Some(object) = objects.try_next().await? {
        match store.delete(&object.location).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Records that a row references a blob. Fails if the sweep is about to delete it.
pub async fn mark_referenced(tx: &mut Tx, key: &BlobKey) -> Result<(), hub_db::Error> {
    store::mark_referenced(tx, key.network, &key.path).await
}

/// Records that no row references a blob any more; call [`Blobs::delete_unreferenced`] after the commit.
pub async fn mark_unreferenced(tx: &mut Tx, key: &BlobKey) -> Result<(), hub_db::Error> {
    store::mark_unreferenced(tx, key.network, &key.path).await
}

/// Has the sweep delete a blob from that time on, of which no row may know any more.
pub async fn delete_later(tx: &mut Tx, key: &BlobKey, at: Millis) -> Result<(), hub_db::Error> {
    store::delete_later(tx, key.network, &key.path, at).await
}

/// Records that rows reference all unswept blobs that a network received, for imports.
pub(crate) use store::mark_all_referenced;

/// Starts the background work.
fn start(app: &App) {
    mark::watch(app);
    let seen = Arc::new(hold::SeenHolds::default());
    every_settled(app, SWEEP_EVERY, "delete blobs that nothing refers to", move |app: App, settled| {
        let seen = Arc::clone(&seen);
        async move { if seen.check(&app.db).await? { Ok(()) } else { sweep::sweep(&app, settled).await } }
    });
}

/// Syncs a file's folders: the names of a file and its folders are on disk only when their folders are.
fn sync_folders(file: &FilePath, root: &FilePath) -> io::Result<()> {
    for folder in file.ancestors().skip(1).take_while(|folder| folder.starts_with(root)) {
        match File::open(folder) {
            // Its last file has gone meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            folder => folder?.sync_all()?,
        }
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, BlobError> {
    Ok(tokio::task::spawn_blocking(work).await??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_errors() {
        let store =
            |source: io::Error| object_store::Error::Generic { store: "LocalFileSystem", source: source.into() };
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        for error in [full().into(), store(full()).into(), BlobError::Disk(store(full()).into())] {
            assert!(BlobError::is_storage_full(&error), "{error:?}");
        }
        for error in [BlobError::Empty, BlobError::Disk(io::Error::other("x")), store(io::Error::other("x")).into()] {
            assert!(!error.is_storage_full(), "{error:?}");
        }
    }
}

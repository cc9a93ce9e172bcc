//! The mark of its hub in a blob store, so that another store, or one that is not shared, is noticed.

use std::time::Duration;

use anyhow::ensure;
use hub_db::Backend;
use object_store::ObjectStoreExt as _;
use object_store::path::Path;
use tokio::time::timeout;

use crate::app::App;
use crate::background::every;
use crate::blobs::{BlobError, Blobs};
use crate::fault::{Fault, FaultKind};
use crate::identity::{self, Identity};

/// Object that holds the hub's id.
const MARK: &str = "hub-cluster";
/// Time for the store to answer.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// A disk can be unmounted while the hub runs; then the folder below it is there, and empty.
const FOLDER_INTERVAL: Duration = Duration::from_secs(1);
/// Each check of a bucket is a request that is paid for.
const BUCKET_INTERVAL: Duration = Duration::from_mins(1);
const FOREIGN: &str = "The blob store is not this hub's any more: its mark is missing or another's. See --blobs.";

/// Fails if the store is not this hub's; marks a new one. One that fails is not checked: most of the hub works without.
pub(super) async fn check(app: &App) -> anyhow::Result<()> {
    let (blobs, id) = (app.state::<Blobs>(), app.state::<Identity>().cluster.as_str());
    let mark =
        match timeout(TIME_LIMIT, blobs.mark()).await.unwrap_or_else(|late| Err(std::io::Error::from(late).into())) {
            Ok(mark) => mark,
            Err(error) => {
                tracing::warn!(%error, "could not check that the blob store is this hub's");
                return Ok(());
            }
        };
    match mark {
        Some(mark) => ensure!(
            mark == id,
            "the blob store belongs to another hub; set --blobs (HUB_BLOBS) to this hub's own, or to a copy of it \
             without the file `{MARK}` if this hub is a copy"
        ),
        // On SQLite the store is beside the database, which may be restored alone.
        None if app.db.backend() == Backend::Postgres && identity::has_blob_mark(&app.db).await? => anyhow::bail!(
            "the blob store is not this hub's: the file `{MARK}` is missing; all nodes need the same --blobs \
             (HUB_BLOBS), a folder on a shared disk or a bucket"
        ),
        None => {
            let marking = timeout(TIME_LIMIT, blobs.set_mark(id)).await;
            match marking.unwrap_or_else(|late| Err(std::io::Error::from(late).into())) {
                Ok(()) => identity::set_blob_mark(&app.db).await?,
                Err(error) => tracing::warn!(%error, "could not mark the blob store as this hub's"),
            }
        }
    }
    Ok(())
}

/// Checks the mark until the hub stops. On SQLite the store is beside the database.
pub(super) fn watch(app: &App) {
    if app.db.backend() == Backend::Sqlite {
        return;
    }
    let interval = if app.state::<Blobs>().is_folder() { FOLDER_INTERVAL } else { BUCKET_INTERVAL };
    every(app, interval, "check that the blob store is this hub's", async |app: App| check_again(&app).await);
}

async fn check_again(app: &App) -> Result<(), BlobError> {
    let (blobs, id) = (app.state::<Blobs>(), app.state::<Identity>().cluster.as_str());
    let mark = timeout(TIME_LIMIT, blobs.mark()).await.unwrap_or_else(|late| Err(std::io::Error::from(late).into()))?;
    // A store that could not be marked at the start is no other hub's.
    let is_foreign = match mark {
        Some(mark) => mark != id,
        None => identity::has_blob_mark(&app.db).await?,
    };
    *blobs.fault.lock() = is_foreign.then(|| Fault::disabling(FaultKind::Cluster, FOREIGN));
    Ok(())
}

impl Blobs {
    /// The fault, while the store is not this hub's.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.lock().clone()
    }

    async fn mark(&self) -> Result<Option<String>, BlobError> {
        match self.store.get(&self.path(&Path::from(MARK))).await {
            Ok(found) => Ok(Some(String::from_utf8_lossy(&found.bytes().await?).trim().to_owned())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn set_mark(&self, id: &str) -> Result<(), BlobError> {
        self.store.put(&self.path(&Path::from(MARK)), id.to_owned().into()).await?;
        Ok(())
    }
}

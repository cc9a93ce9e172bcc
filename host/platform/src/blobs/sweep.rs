//! Deletes leftovers of unfinished uploads and deletions.

use std::io;

use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStore as _, ObjectStoreExt as _};

use crate::app::App;
use crate::blobs::receive::GRACE;
use crate::blobs::{BlobError, Blobs, INCOMING, StoreBackend, blocking, store};
use crate::clock::{Cutoff, Millis, Settled, millis};
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

/// Maximum number of blobs deleted per run.
const BATCH: i64 = 1000;

pub(super) async fn sweep(app: &App, settled: Settled) -> Result<(), BlobError> {
    let due = store::claim_due(&app.db, settled.before(0), BATCH).await?;
    for_each_network(due, "delete a blob", |network, key| delete_claimed(app, network, key)).await;
    app.state::<Blobs>().delete_temporaries(settled.before(millis(GRACE))).await
}

async fn delete_claimed(app: &App, network: NetworkId, key: String) -> Result<(), BlobError> {
    let path = Path::parse(key).map_err(object_store::Error::from)?;
    app.state::<Blobs>().delete_path(&path).await?;
    Ok(store::forget(&app.db, network, &path).await?)
}

impl Blobs {
    /// Deletes temporary blobs begun before that time, complete or not.
    async fn delete_temporaries(&self, before: Cutoff) -> Result<(), BlobError> {
        let is_old = move |name: &str| {
            name.split_once('-').and_then(|(begun, _)| begun.parse::<Millis>().ok()).is_some_and(|at| at < before.at())
        };
        match &self.backend {
            // Incomplete blobs are not objects of the store, but they are files.
            StoreBackend::Folder(_, root) => {
                let incoming = root.join(INCOMING);
                blocking(move || {
                    let entries = match std::fs::read_dir(&incoming) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                        entries => entries?,
                    };
                    for entry in entries {
                        let entry = entry?;
                        if entry.file_name().to_str().is_some_and(is_old) {
                            match std::fs::remove_file(entry.path()) {
                                // Another node was quicker.
                                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                                removed => removed?,
                            }
                        }
                    }
                    Ok(())
                })
                .await
            }
            StoreBackend::S3(..) => {
                let incoming = self.path(&Path::from(INCOMING));
                let objects: Vec<_> = self.store.list(Some(&incoming)).try_collect().await?;
                for object in objects {
                    if object.location.filename().is_some_and(is_old) {
                        self.store.delete(&object.location).await?;
                    }
                }
                Ok(())
            }
        }
    }
}

//! Prevents deletions of blobs during a backup, which has read the rows that reference them.

use std::collections::HashMap;
use std::time::Duration;

use hub_db::{Db, Error};
use parking_lot::Mutex;
use tokio::task::AbortHandle;

use crate::blobs::store;

/// Shorter than the interval of the sweep.
const RENEW_EVERY: Duration = Duration::from_mins(1);

/// While a hold exists, no hub on the database deletes blobs.
pub(crate) struct BlobHold {
    db: Db,
    id: String,
    renewal: AbortHandle,
}

impl BlobHold {
    /// Takes a hold and renews it until it is released. The hold of a killed process ends within half an hour.
    pub(crate) async fn take(db: &Db, id: &str) -> Result<Self, Error> {
        store::take_hold(db, id).await?;
        let (renewed, id) = ((db.clone(), id.to_owned()), id.to_owned());
        let renewal = tokio::spawn(async move {
            loop {
                tokio::time::sleep(RENEW_EVERY).await;
                if let Err(error) = store::renew_hold(&renewed.0, &renewed.1).await {
                    tracing::warn!(%error, "could not renew the hold on blobs");
                }
            }
        });
        Ok(Self { db: db.clone(), id, renewal: renewal.abort_handle() })
    }

    /// Allows deletions again.
    pub(crate) async fn release(self) -> Result<(), Error> {
        store::delete_hold(&self.db, &self.id).await
    }
}

impl Drop for BlobHold {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

/// Holds seen by the last sweep.
#[derive(Debug, Default)]
pub(super) struct SeenHolds(Mutex<HashMap<String, i64>>);

impl SeenHolds {
    /// True if a hold is being renewed. Holds not renewed since the last run are deleted.
    pub(super) async fn check(&self, db: &Db) -> Result<bool, Error> {
        let holds: HashMap<String, i64> = store::holds(db).await?.into_iter().collect();
        let before = std::mem::replace(&mut *self.0.lock(), holds.clone());
        let mut is_held = false;
        for (id, beat) in &holds {
            if before.get(id) == Some(beat) {
                tracing::warn!(hold = id, "deleted the stale hold of a backup; blobs are deleted again");
                store::delete_hold(db, id).await?;
            } else {
                is_held = true;
            }
        }
        Ok(is_held)
    }
}

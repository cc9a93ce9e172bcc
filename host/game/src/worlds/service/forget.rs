//! Worlds of erased players.

use hub_db::Db;

use crate::blobs::{self, BlobKey, Blobs};
use crate::values::NetworkId;
use crate::worlds::store;

/// Deletes a world with its leases and snapshots. A node that runs it learns of it by the error of its next heartbeat.
pub async fn forget_world(db: &Db, blobs: &Blobs, network: NetworkId, world: i64) -> Result<(), hub_db::Error> {
    let files = db
        .transaction(async |mut tx| {
            let files = store::worlds::delete(&mut tx, network, world).await?;
            let keys: Vec<_> = files.iter().map(|file| BlobKey::snapshot(network, file)).collect();
            for key in &keys {
                blobs::mark_unreferenced(&mut tx, key).await?;
            }
            Ok::<_, hub_db::Error>(keys)
        })
        .await?;
    blobs.delete_unreferenced(&files).await;
    Ok(())
}

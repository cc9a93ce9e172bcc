//! Unreferenced blobs.

use hub_db::{Db, Error, Sql, Tx};
use object_store::path::Path;

use crate::clock::{Cutoff, Millis};
use crate::values::NetworkId;

/// Records a blob that is deleted at this time unless a row references it by then. Fails if it is being deleted.
pub(super) async fn note(db: &Db, network: NetworkId, key: &Path, delete_at: Millis) -> Result<(), Error> {
    let noted = db
        .write(
            "INSERT INTO unreferenced_blobs (network_id, blob_key, delete_at) VALUES ($1, $2, $3)
             ON CONFLICT (network_id, blob_key) DO UPDATE SET delete_at = excluded.delete_at
             WHERE unreferenced_blobs.delete_at <> 0",
        )
        .bind(network)
        .bind(key.as_ref())
        .bind(delete_at)
        .execute()
        .await?;
    if noted == 0 { Err(Error::Conflict) } else { Ok(()) }
}

pub(super) async fn is_noted(db: &Db, network: NetworkId, key: &Path) -> Result<bool, Error> {
    let row: Option<(Millis,)> = db
        .query("SELECT delete_at FROM unreferenced_blobs WHERE network_id = $1 AND blob_key = $2")
        .bind(network)
        .bind(key.as_ref())
        .optional()
        .await?;
    Ok(row.is_some())
}

pub(super) async fn mark_referenced(tx: &mut Tx, network: NetworkId, key: &Path) -> Result<(), Error> {
    let noted = tx
        .query("DELETE FROM unreferenced_blobs WHERE network_id = $1 AND blob_key = $2 AND delete_at <> 0")
        .bind(network)
        .bind(key.as_ref())
        .execute()
        .await?;
    if noted == 0 { Err(Error::Conflict) } else { Ok(()) }
}

/// Records that rows reference all recorded blobs of a network being imported. Fails if some are being deleted.
pub(crate) async fn mark_all_referenced(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    tx.query("DELETE FROM unreferenced_blobs WHERE network_id = $1 AND delete_at <> 0").bind(network).execute().await?;
    let left: Option<(String,)> = tx
        .query("SELECT blob_key FROM unreferenced_blobs WHERE network_id = $1 LIMIT 1")
        .bind(network)
        .optional()
        .await?;
    if left.is_some() { Err(Error::Conflict) } else { Ok(()) }
}

pub(super) async fn mark_unreferenced(tx: &mut Tx, network: NetworkId, key: &Path) -> Result<(), Error> {
    tx.query(
        "INSERT INTO unreferenced_blobs (network_id, blob_key, delete_at) VALUES ($1, $2, 0)
         ON CONFLICT (network_id, blob_key) DO UPDATE SET delete_at = 0",
    )
    .bind(network)
    .bind(key.as_ref())
    .execute()
    .await?;
    Ok(())
}

/// The same from that time on: until then somebody may still write it.
pub(super) async fn delete_later(tx: &mut Tx, network: NetworkId, key: &Path, at: Millis) -> Result<(), Error> {
    tx.query(
        "INSERT INTO unreferenced_blobs (network_id, blob_key, delete_at) VALUES ($1, $2, $3)
         ON CONFLICT (network_id, blob_key) DO UPDATE SET delete_at = excluded.delete_at",
    )
    .bind(network)
    .bind(key.as_ref())
    .bind(at)
    .execute()
    .await?;
    Ok(())
}

/// Removes the record of a deleted blob.
pub(super) async fn forget(db: &Db, network: NetworkId, key: &Path) -> Result<(), Error> {
    db.write("DELETE FROM unreferenced_blobs WHERE network_id = $1 AND blob_key = $2")
        .bind(network)
        .bind(key.as_ref())
        .execute()
        .await?;
    Ok(())
}

/// Claims due blobs: from here on no row can reference them. Crosses networks: one sweep covers all. One that another
/// transaction references at this moment is left for the next time.
pub(super) async fn claim_due(db: &Db, due: Cutoff, limit: i64) -> Result<Vec<(NetworkId, String)>, Error> {
    macro_rules! statement {
        ($lock:literal) => {
            concat!(
                "UPDATE unreferenced_blobs SET delete_at = 0 WHERE (network_id, blob_key) IN (
                     SELECT network_id, blob_key FROM unreferenced_blobs WHERE delete_at <= $1
                     ORDER BY delete_at LIMIT $2 ",
                $lock,
                ") RETURNING network_id, blob_key"
            )
        };
    }
    db.write(Sql { sqlite: statement!(""), postgres: statement!("FOR UPDATE SKIP LOCKED") })
        .bind(due.at())
        .bind(limit)
        .readable()
        .await
}

/// Records that a backup needs all existing blobs. Crosses networks: a backup covers all.
pub(super) async fn take_hold(db: &Db, id: &str) -> Result<(), Error> {
    db.write("INSERT INTO backup_holds (hold_id, beat) VALUES ($1, 0)").bind(id).execute().await?;
    Ok(())
}

/// Renews a backup's hold. Crosses networks: a backup covers all.
pub(super) async fn renew_hold(db: &Db, id: &str) -> Result<(), Error> {
    db.write("UPDATE backup_holds SET beat = beat + 1 WHERE hold_id = $1").bind(id).execute().await?;
    Ok(())
}

/// Ends a backup's hold. Crosses networks: a backup covers all.
pub(super) async fn delete_hold(db: &Db, id: &str) -> Result<(), Error> {
    db.write("DELETE FROM backup_holds WHERE hold_id = $1").bind(id).execute().await?;
    Ok(())
}

/// Backups that need all blobs, each with its heartbeat. Crosses networks: a backup covers all.
pub(super) async fn holds(db: &Db) -> Result<Vec<(String, i64)>, Error> {
    db.query("SELECT hold_id, beat FROM backup_holds ORDER BY hold_id LIMIT 100").all().await
}

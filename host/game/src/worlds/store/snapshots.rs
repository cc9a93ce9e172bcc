//! Snapshots.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::Millis;
use crate::values::NetworkId;
use crate::worlds::model::{Lease, WorldSnapshot};

/// Records an upload that is about to begin.
pub(in crate::worlds) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    lease: &Lease,
    blob_key: &str,
    now: Millis,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO world_blobs (network_id, blob_key, world_no, lease_id, fence, seq, minted_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(network)
    .bind(blob_key)
    .bind(lease.world_no)
    .bind(lease.id)
    .bind(lease.fence)
    .bind(lease.uploads)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Number of incomplete uploads of this lease with a valid link.
pub(in crate::worlds) async fn count_open(
    tx: &mut Tx,
    network: NetworkId,
    lease: &Lease,
    minted_after: Millis,
) -> Result<i64, Error> {
    let (count,): (i64,) = tx
        .query(
            "SELECT COUNT(*) FROM world_blobs
             WHERE network_id = $1 AND world_no = $2 AND fence = $3 AND size_bytes IS NULL AND minted_at > $4",
        )
        .bind(network)
        .bind(lease.world_no)
        .bind(lease.fence)
        .bind(minted_after)
        .one()
        .await?;
    Ok(count)
}

pub(in crate::worlds) async fn get(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    blob_key: &str,
) -> Result<Option<WorldSnapshot>, Error> {
    let mut on = on.into();
    on.query(
        "SELECT blob_key, world_no, lease_id, fence, seq, size_bytes, file FROM world_blobs
         WHERE network_id = $1 AND blob_key = $2",
    )
    .bind(network)
    .bind(blob_key)
    .optional()
    .await
}

/// Records that an upload of this lease is complete, in `file` or at its destination. None if the lease never began
/// such an upload.
pub(in crate::worlds) async fn record(
    tx: &mut Tx,
    network: NetworkId,
    lease_id: i64,
    blob_key: &str,
    size_bytes: i64,
    file: Option<&str>,
) -> Result<Option<WorldSnapshot>, Error> {
    tx.query(
        "UPDATE world_blobs SET size_bytes = $4, file = COALESCE($5, file)
         WHERE network_id = $1 AND blob_key = $2 AND lease_id = $3
         RETURNING blob_key, world_no, lease_id, fence, seq, size_bytes, file",
    )
    .bind(network)
    .bind(blob_key)
    .bind(lease_id)
    .bind(size_bytes)
    .bind(file)
    .optional()
    .await
}

/// An upload of this lease.
pub(in crate::worlds) async fn of_lease(
    tx: &mut Tx,
    network: NetworkId,
    lease_id: i64,
    blob_key: &str,
) -> Result<Option<WorldSnapshot>, Error> {
    tx.query(
        "SELECT blob_key, world_no, lease_id, fence, seq, size_bytes, file FROM world_blobs
         WHERE network_id = $1 AND blob_key = $2 AND lease_id = $3",
    )
    .bind(network)
    .bind(blob_key)
    .bind(lease_id)
    .optional()
    .await
}

/// A world's snapshots except for the newest `keep`, and the incomplete uploads of its earlier leases.
pub(in crate::worlds) async fn superfluous(
    db: &Db,
    network: NetworkId,
    world_no: i64,
    fence: i64,
    keep: i64,
) -> Result<Vec<WorldSnapshot>, Error> {
    db.query(
        "SELECT blob_key, world_no, lease_id, fence, seq, size_bytes, file FROM world_blobs
         WHERE network_id = $1 AND world_no = $2 AND ((size_bytes IS NULL AND fence < $3)
           OR (size_bytes IS NOT NULL AND blob_key NOT IN (
             SELECT n.blob_key FROM world_blobs n
             WHERE n.network_id = $1 AND n.world_no = $2 AND n.size_bytes IS NOT NULL
             ORDER BY n.fence DESC, n.seq DESC LIMIT $4)))",
    )
    .bind(network)
    .bind(world_no)
    .bind(fence)
    .bind(keep)
    .all()
    .await
}

pub(in crate::worlds) async fn delete(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    blob_key: &str,
) -> Result<(), Error> {
    let mut on = on.into();
    on.write("DELETE FROM world_blobs WHERE network_id = $1 AND blob_key = $2")
        .bind(network)
        .bind(blob_key)
        .execute()
        .await?;
    Ok(())
}

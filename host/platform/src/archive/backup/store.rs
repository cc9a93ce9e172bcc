//! Progress of restores.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;

/// Backup that is partially restored, and the number of its restored parts. Crosses networks: a restore covers all.
pub(super) async fn unfinished(db: &Db) -> Result<Option<(String, i64)>, Error> {
    db.query("SELECT backup_id, members FROM restores WHERE finished_at IS NULL LIMIT 1").optional().await
}

/// True if no hub has used the database yet. Crosses networks: a restore covers all.
pub(super) async fn is_empty(db: &Db) -> Result<bool, Error> {
    let (rows,): (i64,) = db
        .query(
            "SELECT (SELECT COUNT(*) FROM networks) + (SELECT COUNT(*) FROM hub_secrets) + (SELECT COUNT(*) FROM persons)
                 + (SELECT COUNT(*) FROM plans) + (SELECT COUNT(*) FROM network_deletions)",
        )
        .one()
        .await?;
    Ok(rows == 0)
}

/// Records the start of a restore and deletes rows that migrations write into an empty database. Crosses networks: a
/// restore covers all.
pub(super) async fn begin(db: &Db, backup: &str) -> Result<(), Error> {
    db.transaction(async |mut tx| {
        tx.query("INSERT INTO restores (backup_id, members) VALUES ($1, 0)").bind(backup).execute().await?;
        // Crosses networks: the table belongs to the hub.
        tx.query("DELETE FROM usage_progress").execute().await?;
        Ok(())
    })
    .await
}

/// Records that the parts up to this one are restored. Crosses networks: a restore covers all.
pub(super) async fn advance(tx: &mut Tx, backup: &str, part: i64) -> Result<(), Error> {
    tx.query("UPDATE restores SET members = $2 WHERE backup_id = $1").bind(backup).bind(part).execute().await?;
    Ok(())
}

/// Records that a restore is complete. Crosses networks: a restore covers all.
pub(super) async fn finish(tx: &mut Tx, backup: &str, now: Millis) -> Result<(), Error> {
    tx.query("UPDATE restores SET finished_at = $2 WHERE backup_id = $1").bind(backup).bind(now).execute().await?;
    Ok(())
}

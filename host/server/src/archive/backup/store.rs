//! How far restores have come.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;

/// The backup that is restored in part, and how many of its parts are here. Crosses networks: a restore is of all.
pub(super) async fn unfinished(db: &Db) -> Result<Option<(String, i64)>, Error> {
    db.query("SELECT backup_id, members FROM restores WHERE finished_at IS NULL LIMIT 1").optional().await
}

/// Whether no hub has used the database yet. Crosses networks: a restore is of all.
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

/// Notes that a restore begins, and deletes what migrations write into an empty database. Crosses networks: a restore is
/// of all.
pub(super) async fn begin(db: &Db, backup: &str) -> Result<(), Error> {
    db.transaction(async |mut tx| {
        tx.query("INSERT INTO restores (backup_id, members) VALUES ($1, 0)").bind(backup).execute().await?;
        // Crosses networks: it is the hub's.
        tx.query("DELETE FROM usage_progress").execute().await?;
        Ok(())
    })
    .await
}

/// Notes that the parts up to this one are here. Crosses networks: a restore is of all.
pub(super) async fn advance(tx: &mut Tx, backup: &str, part: i64) -> Result<(), Error> {
    tx.query("UPDATE restores SET members = $2 WHERE backup_id = $1").bind(backup).bind(part).execute().await?;
    Ok(())
}

/// Notes that a restore is complete. Crosses networks: a restore is of all.
pub(super) async fn finish(tx: &mut Tx, backup: &str, now: Millis) -> Result<(), Error> {
    tx.query("UPDATE restores SET finished_at = $2 WHERE backup_id = $1").bind(backup).bind(now).execute().await?;
    Ok(())
}

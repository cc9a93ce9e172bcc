//! All SQL of the identity. It belongs to no network. Times are by the database's clock, as those of leases.

use hub_db::{Db, Error};

use crate::clock::Millis;

/// The hub's id; `new` where it has none yet.
pub(super) async fn id(db: &Db, new: &str) -> Result<String, Error> {
    let put = "INSERT INTO hub_identity (one, cluster_id, has_blob_mark, sole_until) VALUES (1, $1, FALSE, 0)
               ON CONFLICT (one) DO NOTHING";
    db.write(put).bind(new).execute().await?;
    let (id,): (String,) = db.query("SELECT cluster_id FROM hub_identity WHERE one = 1").one().await?;
    Ok(id)
}

/// The hub's id; none before its first start.
pub async fn find_id(db: &Db) -> Result<Option<String>, Error> {
    let sql = "SELECT cluster_id FROM hub_identity WHERE one = 1";
    let row: Option<(String,)> = db.reserved().query(sql).optional().await?;
    Ok(row.map(|(id,)| id))
}

/// Gives the hub another id: a copy becomes a hub of its own.
pub(super) async fn set_id(db: &Db, new: &str) -> Result<(), Error> {
    let sql = "INSERT INTO hub_identity (one, cluster_id, has_blob_mark, sole_until) VALUES (1, $1, FALSE, 0)
               ON CONFLICT (one) DO UPDATE
               SET cluster_id = excluded.cluster_id, has_blob_mark = FALSE, sole_node = NULL, sole_until = 0";
    db.write(sql).bind(new).execute().await?;
    Ok(())
}

/// Claims or renews the lease of the only node; false if another one has it, or nodes of a cluster are alive. No lease
/// lasts for twice `ttl`, and no node was seen in the future: where it seems so, the database's clock was set back.
pub(super) async fn claim(db: &Db, node: &str, ttl: Millis) -> Result<bool, Error> {
    let rows = db
        .time_critical()
        .write(
            "UPDATE hub_identity
             SET sole_node = $1, sole_until = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + $2
             WHERE one = 1
               AND (sole_node IS NULL OR sole_node = $1
                    OR sole_until <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
                    OR sole_until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + 2 * $2)
               AND NOT EXISTS (
                   SELECT 1 FROM hub_nodes
                   WHERE seen_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $2
                     AND seen_at < CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + $2)",
        )
        .bind(node)
        .bind(ttl)
        .execute()
        .await?;
    Ok(rows == 1)
}

/// True if no node serves the database alone. A lease that lasts for too long was made before the database's clock was
/// set back, as in [`claim`].
pub(super) async fn is_free(db: &Db, ttl: Millis) -> Result<bool, Error> {
    let sql = "SELECT sole_until <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
                   OR sole_until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + 2 * $1
               FROM hub_identity WHERE one = 1";
    let (is_free,): (bool,) = db.time_critical().query(sql).bind(ttl).one().await?;
    Ok(is_free)
}

/// Ends the lease of the only node.
pub(super) async fn release(db: &Db, node: &str) -> Result<(), Error> {
    let sql = "UPDATE hub_identity SET sole_node = NULL, sole_until = 0 WHERE one = 1 AND sole_node = $1";
    db.time_critical().write(sql).bind(node).execute().await?;
    Ok(())
}

/// True if the hub has marked its blob store.
pub async fn has_blob_mark(db: &Db) -> Result<bool, Error> {
    let (has_mark,): (bool,) = db.query("SELECT has_blob_mark FROM hub_identity WHERE one = 1").one().await?;
    Ok(has_mark)
}

/// Records that the hub has marked its blob store.
pub async fn set_blob_mark(db: &Db) -> Result<(), Error> {
    db.write("UPDATE hub_identity SET has_blob_mark = TRUE WHERE one = 1").execute().await?;
    Ok(())
}

/// Changes something, to see that SQLite's file can be written: it does not write what stays the same. There the column
/// has no meaning.
pub async fn probe_write(db: &Db) -> Result<(), Error> {
    db.write("UPDATE hub_identity SET sole_until = 1 - sole_until WHERE one = 1").execute().await?;
    Ok(())
}

//! Chains of the points.

use hub_db::{Db, Error, Executor, Tx, next_number};

use crate::clock::Millis;
use crate::modules::model::PointRow;
use crate::values::NetworkId;

pub(in crate::modules) async fn list(on: impl Into<Executor<'_>>, network: NetworkId) -> Result<Vec<PointRow>, Error> {
    on.into()
        .query("SELECT point, revision, chain, previous, paused FROM extension_points WHERE network_id = $1")
        .bind(network)
        .all()
        .await
}

pub(in crate::modules) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    point: &str,
) -> Result<Option<PointRow>, Error> {
    on.into()
        .query("SELECT point, revision, chain, previous, paused FROM extension_points WHERE network_id = $1 AND point = $2")
        .bind(network)
        .bind(point)
        .optional()
        .await
}

/// Pauses the modules that act by themselves. Crosses networks: all of them were restored.
pub(in crate::modules) async fn pause(db: &Db) -> Result<(), Error> {
    db.write("UPDATE extension_points SET paused = TRUE WHERE point IN ('events', 'schedules') AND chain <> '[]'")
        .execute()
        .await?;
    Ok(())
}

/// Replaces a chain, which becomes the previous one if it was another. Returns the new revision.
pub(in crate::modules) async fn put(
    tx: &mut Tx,
    network: NetworkId,
    point: &str,
    chain: &str,
    now: Millis,
) -> Result<i64, Error> {
    let (revision,) = tx
        .query(concat!(
            "INSERT INTO extension_points (network_id, point, revision, chain, previous, updated_at)
             VALUES ($1, $2, ",
            next_number!("0"),
            ", $3, '[]', $4)
             ON CONFLICT (network_id, point) DO UPDATE
             SET revision = ",
            next_number!("extension_points.revision"),
            ", previous = CASE WHEN extension_points.chain = excluded.chain
                     THEN extension_points.previous ELSE extension_points.chain END,
                 chain = excluded.chain, paused = FALSE, updated_at = excluded.updated_at
             RETURNING revision"
        ))
        .bind(network)
        .bind(point)
        .bind(chain)
        .bind(now)
        .one()
        .await?;
    Ok(revision)
}

//! Chains of the points by their revisions.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::Millis;
use crate::modules::model::RevisionRow;
use crate::values::NetworkId;

/// Maximum number of kept revisions of a point.
pub(in crate::modules) const MAX_REVISIONS: i64 = 50;
/// Maximum size of a point's kept chains together; the newest is kept in any case.
const MAX_BYTES: i64 = 4 << 20;

/// A chain that is kept.
#[derive(Clone, Copy, Debug)]
pub(in crate::modules) struct NewRevision<'a> {
    pub(in crate::modules) revision: i64,
    pub(in crate::modules) chain: &'a str,
    /// JSON of the key or person that changed it.
    pub(in crate::modules) actor: &'a str,
    pub(in crate::modules) created_at: Millis,
}

/// Keeps a revision, and deletes the oldest ones above the limits.
pub(in crate::modules) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    point: &str,
    new: &NewRevision<'_>,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO extension_point_revisions (network_id, point, revision, chain, size_bytes, actor, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(network)
    .bind(point)
    .bind(new.revision)
    .bind(new.chain)
    .bind(new.chain.len() as i64)
    .bind(new.actor)
    .bind(new.created_at)
    .execute()
    .await?;
    let sizes: Vec<(i64, i64)> = tx
        .query(
            "SELECT revision, size_bytes FROM extension_point_revisions WHERE network_id = $1 AND point = $2
             ORDER BY revision DESC LIMIT $3",
        )
        .bind(network)
        .bind(point)
        .bind(MAX_REVISIONS)
        .all()
        .await?;
    tx.query("DELETE FROM extension_point_revisions WHERE network_id = $1 AND point = $2 AND revision < $3")
        .bind(network)
        .bind(point)
        .bind(oldest_kept(&sizes).unwrap_or(new.revision))
        .execute()
        .await?;
    Ok(())
}

/// Oldest revision that is kept, of revisions and sizes, newest first.
fn oldest_kept(sizes: &[(i64, i64)]) -> Option<i64> {
    let mut bytes = 0_i64;
    let fits = |(at, (_, size)): &(usize, &(i64, i64))| {
        bytes = bytes.saturating_add(*size);
        *at == 0 || bytes <= MAX_BYTES
    };
    sizes.iter().enumerate().take_while(fits).last().map(|(_, (revision, _))| *revision)
}

/// The kept revisions of a point, newest first, and their number.
pub(in crate::modules) async fn list(
    db: &Db,
    network: NetworkId,
    point: &str,
    (limit, offset): (i64, i64),
) -> Result<(Vec<RevisionRow>, i64), Error> {
    let rows = db
        .query(
            "SELECT revision, chain, actor, created_at FROM extension_point_revisions
             WHERE network_id = $1 AND point = $2 ORDER BY revision DESC LIMIT $3 OFFSET $4",
        )
        .bind(network)
        .bind(point)
        .bind(limit)
        .bind(offset)
        .all()
        .await?;
    let (total,) = db
        .query("SELECT COUNT(*) FROM extension_point_revisions WHERE network_id = $1 AND point = $2")
        .bind(network)
        .bind(point)
        .one()
        .await?;
    Ok((rows, total))
}

pub(in crate::modules) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    point: &str,
    revision: i64,
) -> Result<Option<RevisionRow>, Error> {
    on.into()
        .query(
            "SELECT revision, chain, actor, created_at FROM extension_point_revisions
             WHERE network_id = $1 AND point = $2 AND revision = $3",
        )
        .bind(network)
        .bind(point)
        .bind(revision)
        .optional()
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_fit_are_kept() {
        assert_eq!(oldest_kept(&[]), None);
        assert_eq!(oldest_kept(&[(9, 10), (8, 10), (4, 10)]), Some(4));
        assert_eq!(oldest_kept(&[(9, 10), (8, MAX_BYTES), (4, 10)]), Some(9));
        assert_eq!(oldest_kept(&[(9, MAX_BYTES + 1), (8, 1)]), Some(9));
        assert_eq!(oldest_kept(&[(9, MAX_BYTES - 1), (8, 1), (7, 1)]), Some(8));
    }
}

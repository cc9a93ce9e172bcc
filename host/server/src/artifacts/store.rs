//! All SQL of the room.

use hub_db::{Db, Error};

use crate::artifacts::model::{Artifact, Label};
use crate::values::NetworkId;

/// Adds an artifact; false, and nothing is added, where the network has that version already.
pub(super) async fn insert(db: &Db, network: NetworkId, artifact: &Artifact) -> Result<bool, Error> {
    let rows = db
        .write(
            "INSERT INTO artifacts (network_id, artifact_id, name, version, sha256, size_bytes, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (network_id, name, version) DO NOTHING",
        )
        .bind(network)
        .bind(artifact.artifact_id.clone())
        .bind(artifact.name.clone())
        .bind(artifact.version.clone())
        .bind(artifact.sha256.clone())
        .bind(artifact.size_bytes)
        .bind(artifact.created_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

pub(super) async fn find(db: &Db, network: NetworkId, id: &str) -> Result<Option<Artifact>, Error> {
    db.query("SELECT * FROM artifacts WHERE network_id = $1 AND artifact_id = $2")
        .bind(network)
        .bind(id.to_owned())
        .optional()
        .await
}

pub(super) async fn find_version(
    db: &Db,
    network: NetworkId,
    name: &Label,
    version: &Label,
) -> Result<Option<Artifact>, Error> {
    db.query("SELECT * FROM artifacts WHERE network_id = $1 AND name = $2 AND version = $3")
        .bind(network)
        .bind(name.clone())
        .bind(version.clone())
        .optional()
        .await
}

/// The network's artifacts, newest first, and how many there are.
pub(super) async fn list(db: &Db, network: NetworkId, limit: i64, offset: i64) -> Result<(Vec<Artifact>, i64), Error> {
    let (total,): (i64,) = db.query("SELECT COUNT(*) FROM artifacts WHERE network_id = $1").bind(network).one().await?;
    let rows = db
        .query(
            "SELECT * FROM artifacts WHERE network_id = $1
             ORDER BY created_at DESC, artifact_id DESC LIMIT $2 OFFSET $3",
        )
        .bind(network)
        .bind(limit)
        .bind(offset)
        .all()
        .await?;
    Ok((rows, total))
}

/// False where there is none.
pub(super) async fn delete(db: &Db, network: NetworkId, id: &str) -> Result<bool, Error> {
    let rows = db
        .write("DELETE FROM artifacts WHERE network_id = $1 AND artifact_id = $2")
        .bind(network)
        .bind(id.to_owned())
        .execute()
        .await?;
    Ok(rows > 0)
}

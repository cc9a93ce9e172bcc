//! All SQL of artifacts.

use hub_db::{Db, Error, Tx};

use crate::artifacts::model::{Artifact, ArtifactLabel};
use crate::limits::{Limit, Rows};
use crate::values::NetworkId;

/// All artifacts of a network.
pub(super) const ARTIFACTS: Rows = Rows::few(Limit::Artifacts, "SELECT COUNT(*) FROM artifacts WHERE network_id = $1");

/// Adds an artifact. False, without a change, if the network has that version already.
pub(super) async fn insert(tx: &mut Tx, network: NetworkId, artifact: &Artifact) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO artifacts (network_id, artifact_id, name, version, sha256, size_bytes, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (network_id, name, version) DO NOTHING",
        )
        .bind(network)
        .bind(&artifact.artifact_id)
        .bind(&artifact.name)
        .bind(&artifact.version)
        .bind(&artifact.sha256)
        .bind(artifact.size_bytes)
        .bind(artifact.created_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

pub(super) async fn find(db: &Db, network: NetworkId, id: &str) -> Result<Option<Artifact>, Error> {
    db.query(
        "SELECT artifact_id, name, version, sha256, size_bytes, created_at FROM artifacts
         WHERE network_id = $1 AND artifact_id = $2",
    )
    .bind(network)
    .bind(id)
    .optional()
    .await
}

pub(super) async fn find_version(
    db: &Db,
    network: NetworkId,
    name: &ArtifactLabel,
    version: &ArtifactLabel,
) -> Result<Option<Artifact>, Error> {
    db.query(
        "SELECT artifact_id, name, version, sha256, size_bytes, created_at FROM artifacts
         WHERE network_id = $1 AND name = $2 AND version = $3",
    )
    .bind(network)
    .bind(name)
    .bind(version)
    .optional()
    .await
}

/// Artifacts of the network, newest first, and their number.
pub(super) async fn list(db: &Db, network: NetworkId, limit: i64, offset: i64) -> Result<(Vec<Artifact>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM artifacts WHERE network_id = $1",
        "SELECT artifact_id, name, version, sha256, size_bytes, created_at FROM artifacts WHERE network_id = $1
         ORDER BY created_at DESC, artifact_id DESC LIMIT $2 OFFSET $3",
        |statement| statement.bind(network),
        limit,
        offset,
    )
    .await
}

/// Deletes and returns an artifact, if it exists.
pub(super) async fn delete(tx: &mut Tx, network: NetworkId, id: &str) -> Result<Option<Artifact>, Error> {
    tx.query(
        "DELETE FROM artifacts WHERE network_id = $1 AND artifact_id = $2
         RETURNING artifact_id, name, version, sha256, size_bytes, created_at",
    )
    .bind(network)
    .bind(id)
    .optional()
    .await
}

//! All SQL of the room.

use hub_db::{Db, Error};

use crate::clock::Millis;
use crate::values::{Identifier, NetworkId};

/// What machines of one server type fetch.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Bundle {
    pub(super) server_type: Identifier,
    pub(super) file_id: String,
    pub(super) sha256: String,
    pub(super) size_bytes: i64,
    pub(super) updated_at: Millis,
}

pub(super) async fn find(db: &Db, network: NetworkId, server_type: &Identifier) -> Result<Option<Bundle>, Error> {
    db.query("SELECT * FROM provisioning_bundles WHERE network_id = $1 AND server_type = $2")
        .bind(network)
        .bind(server_type.clone())
        .optional()
        .await
}

/// Adds the first bundle of its type; false where there is one.
pub(super) async fn insert(db: &Db, network: NetworkId, bundle: &Bundle) -> Result<bool, Error> {
    let rows = db
        .write(
            "INSERT INTO provisioning_bundles (network_id, server_type, file_id, sha256, size_bytes, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (network_id, server_type) DO NOTHING",
        )
        .bind(network)
        .bind(bundle.server_type.clone())
        .bind(bundle.file_id.clone())
        .bind(bundle.sha256.clone())
        .bind(bundle.size_bytes)
        .bind(bundle.updated_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Puts the bundle in the place of the one whose file is `before`; false where that is no longer the one.
pub(super) async fn replace(db: &Db, network: NetworkId, before: &str, bundle: &Bundle) -> Result<bool, Error> {
    let rows = db
        .write(
            "UPDATE provisioning_bundles SET file_id = $4, sha256 = $5, size_bytes = $6, updated_at = $7
             WHERE network_id = $1 AND server_type = $2 AND file_id = $3",
        )
        .bind(network)
        .bind(bundle.server_type.clone())
        .bind(before.to_owned())
        .bind(bundle.file_id.clone())
        .bind(bundle.sha256.clone())
        .bind(bundle.size_bytes)
        .bind(bundle.updated_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Removes the bundle; the file it had.
pub(super) async fn delete(db: &Db, network: NetworkId, server_type: &Identifier) -> Result<Option<String>, Error> {
    let row: Option<(String,)> = db
        .write("DELETE FROM provisioning_bundles WHERE network_id = $1 AND server_type = $2 RETURNING file_id")
        .bind(network)
        .bind(server_type.clone())
        .optional()
        .await?;
    Ok(row.map(|(file,)| file))
}

/// By server type, and how many there are.
pub(super) async fn list(db: &Db, network: NetworkId, limit: i64, offset: i64) -> Result<(Vec<Bundle>, i64), Error> {
    let (total,): (i64,) =
        db.query("SELECT COUNT(*) FROM provisioning_bundles WHERE network_id = $1").bind(network).one().await?;
    let rows = db
        .query("SELECT * FROM provisioning_bundles WHERE network_id = $1 ORDER BY server_type LIMIT $2 OFFSET $3")
        .bind(network)
        .bind(limit)
        .bind(offset)
        .all()
        .await?;
    Ok((rows, total))
}

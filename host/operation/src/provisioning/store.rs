//! All SQL of provisioning.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::Millis;
use crate::limits::{Limit, Rows};
use crate::values::{Identifier, NetworkId};

/// Boot bundle of one server type.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Bundle {
    pub(super) server_type: Identifier,
    pub(super) file_id: String,
    pub(super) sha256: String,
    pub(super) size_bytes: i64,
    pub(super) updated_at: Millis,
}

/// All bundles of a network.
pub(super) const BUNDLES: Rows =
    Rows::few(Limit::Bundles, "SELECT COUNT(*) FROM provisioning_bundles WHERE network_id = $1");

pub(super) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    server_type: &Identifier,
) -> Result<Option<Bundle>, Error> {
    on.into()
        .query(
            "SELECT server_type, file_id, sha256, size_bytes, updated_at FROM provisioning_bundles
             WHERE network_id = $1 AND server_type = $2",
        )
        .bind(network)
        .bind(server_type)
        .optional()
        .await
}

/// Adds the first bundle of its type; false if there is one.
pub(super) async fn insert(tx: &mut Tx, network: NetworkId, bundle: &Bundle) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO provisioning_bundles (network_id, server_type, file_id, sha256, size_bytes, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (network_id, server_type) DO NOTHING",
        )
        .bind(network)
        .bind(&bundle.server_type)
        .bind(&bundle.file_id)
        .bind(&bundle.sha256)
        .bind(bundle.size_bytes)
        .bind(bundle.updated_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Replaces the bundle with the file `before`; false if that is no longer the current one.
pub(super) async fn replace(tx: &mut Tx, network: NetworkId, before: &str, bundle: &Bundle) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE provisioning_bundles SET file_id = $4, sha256 = $5, size_bytes = $6, updated_at = $7
             WHERE network_id = $1 AND server_type = $2 AND file_id = $3",
        )
        .bind(network)
        .bind(&bundle.server_type)
        .bind(before)
        .bind(&bundle.file_id)
        .bind(&bundle.sha256)
        .bind(bundle.size_bytes)
        .bind(bundle.updated_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Deletes a bundle and returns it.
pub(super) async fn delete(tx: &mut Tx, network: NetworkId, server_type: &Identifier) -> Result<Option<Bundle>, Error> {
    tx.query(
        "DELETE FROM provisioning_bundles WHERE network_id = $1 AND server_type = $2
         RETURNING server_type, file_id, sha256, size_bytes, updated_at",
    )
    .bind(network)
    .bind(server_type)
    .optional()
    .await
}

/// Bundles by server type, and their number.
pub(super) async fn list(db: &Db, network: NetworkId, limit: i64, offset: i64) -> Result<(Vec<Bundle>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM provisioning_bundles WHERE network_id = $1",
        "SELECT server_type, file_id, sha256, size_bytes, updated_at FROM provisioning_bundles
         WHERE network_id = $1 ORDER BY server_type LIMIT $2 OFFSET $3",
        |statement| statement.bind(network),
        limit,
        offset,
    )
    .await
}

//! Claims of imports on networks.

use hub_db::{Db, Error, Tx};

use crate::values::NetworkId;

/// Finds a network with this id or name.
pub(super) async fn find_network(
    db: &Db,
    network: NetworkId,
    name: &str,
) -> Result<Option<(NetworkId, String)>, Error> {
    db.query("SELECT network_id, name FROM networks WHERE network_id = $1 OR name = $2 ORDER BY name = $2 LIMIT 1")
        .bind(network)
        .bind(name)
        .optional()
        .await
}

/// Claims the network for the import with this token, replacing any other claim.
pub(super) async fn claim(db: &Db, network: NetworkId, token: &str) -> Result<(), Error> {
    // Otherwise imported data would be deleted as leftovers of an earlier deletion of the network.
    db.write("DELETE FROM network_deletions WHERE network_id = $1 AND deleted_at IS NOT NULL")
        .bind(network)
        .execute()
        .await?;
    db.write(
        "INSERT INTO network_imports (network_id, token) VALUES ($1, $2)
         ON CONFLICT (network_id) DO UPDATE SET token = excluded.token",
    )
    .bind(network)
    .bind(token)
    .execute()
    .await?;
    Ok(())
}

/// True if the import still holds the claim on its network, which does not exist yet. No other import can take the
/// claim until the transaction ends.
pub(super) async fn lock_claim(tx: &mut Tx, network: NetworkId, token: &str) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE network_imports SET token = token WHERE network_id = $1 AND token = $2
             AND NOT EXISTS (SELECT 1 FROM networks WHERE network_id = $1)",
        )
        .bind(network)
        .bind(token)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Moves the network to the plan `default` if its plan does not exist here.
pub(super) async fn ensure_plan(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    tx.query(
        "UPDATE networks SET plan = 'default'
         WHERE network_id = $1 AND NOT EXISTS (SELECT 1 FROM plans WHERE plans.name = networks.plan)",
    )
    .bind(network)
    .execute()
    .await?;
    Ok(())
}

/// Releases the claim.
pub(super) async fn release(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    tx.query("DELETE FROM network_imports WHERE network_id = $1").bind(network).execute().await?;
    Ok(())
}

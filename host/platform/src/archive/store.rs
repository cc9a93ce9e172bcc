//! Claims of imports on networks.

use hub_db::{Db, Error, Tx};

use crate::plans::service::DEFAULT_PLAN;
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

/// True if there is this plan. The hub itself adds `default` when it starts. Crosses networks: plans belong to the hub.
pub(super) async fn has_plan(db: &Db, plan: &str) -> Result<bool, Error> {
    let row: Option<(String,)> = db.query("SELECT name FROM plans WHERE name = $1").bind(plan).optional().await?;
    Ok(row.is_some() || plan == DEFAULT_PLAN)
}

/// Puts a network on a plan.
pub(super) async fn set_plan(tx: &mut Tx, network: NetworkId, plan: &str) -> Result<(), Error> {
    tx.query("UPDATE networks SET plan = $2 WHERE network_id = $1").bind(network).bind(plan).execute().await?;
    Ok(())
}

/// Releases the claim.
pub(super) async fn release(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    tx.query("DELETE FROM network_imports WHERE network_id = $1").bind(network).execute().await?;
    Ok(())
}

//! Who is importing which network.

use hub_db::{Db, Error, Tx};

use crate::values::NetworkId;

/// A network of this id or name, if there is one; it may have either.
pub(super) async fn find_network(
    db: &Db,
    network: NetworkId,
    name: &str,
) -> Result<Option<(NetworkId, String)>, Error> {
    db.query("SELECT network_id, name FROM networks WHERE network_id = $1 OR name = $2 ORDER BY name = $2 LIMIT 1")
        .bind(network)
        .bind(name.to_owned())
        .optional()
        .await
}

/// Makes the import with this token the one of its network; one that was under way is over.
pub(super) async fn claim(db: &Db, network: NetworkId, token: &str) -> Result<(), Error> {
    db.write(
        "INSERT INTO network_imports (network_id, token) VALUES ($1, $2)
         ON CONFLICT (network_id) DO UPDATE SET token = excluded.token",
    )
    .bind(network)
    .bind(token.to_owned())
    .execute()
    .await?;
    Ok(())
}

/// Whether the import is still the one of its network, which is not there yet. Until the transaction ends, no other takes
/// over.
pub(super) async fn holds(tx: &mut Tx, network: NetworkId, token: &str) -> Result<bool, Error> {
    let held = tx
        .query(
            "UPDATE network_imports SET token = token WHERE network_id = $1 AND token = $2
             AND NOT EXISTS (SELECT 1 FROM networks WHERE network_id = $1)",
        )
        .bind(network)
        .bind(token.to_owned())
        .execute()
        .await?;
    Ok(held > 0)
}

/// The import is done, or given up.
pub(super) async fn release(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    tx.query("DELETE FROM network_imports WHERE network_id = $1").bind(network).execute().await?;
    Ok(())
}

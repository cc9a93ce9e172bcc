//! Table `module_activations`.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;
use crate::values::NetworkId;

/// Links of a module before its last activation, as JSON; none if it never had one.
pub(in crate::modules) async fn previous(db: &Db, network: NetworkId, name: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT previous FROM module_activations WHERE network_id = $1 AND name = $2";
    let row: Option<(String,)> = db.query(sql).bind(network).bind(name).optional().await?;
    Ok(row.map(|(previous,)| previous))
}

/// Stores the links of a module before an activation.
pub(in crate::modules) async fn put(
    tx: &mut Tx,
    network: NetworkId,
    (name, previous): (&str, &str),
    now: Millis,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO module_activations (network_id, name, previous, updated_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (network_id, name) DO UPDATE SET previous = excluded.previous, updated_at = excluded.updated_at",
    )
    .bind(network)
    .bind(name)
    .bind(previous)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Forgets a module without versions.
pub(in crate::modules) async fn delete(tx: &mut Tx, network: NetworkId, name: &str) -> Result<(), Error> {
    tx.query("DELETE FROM module_activations WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name)
        .execute()
        .await?;
    Ok(())
}

//! Table `handler_cascades`.

use hub_db::{Db, Error, Tx};

use crate::clock::{Cutoff, Millis};
use crate::values::NetworkId;

/// Adds effects and events to those of a root. Returns both sums.
pub(in crate::modules::handlers) async fn add(
    tx: &mut Tx,
    network: NetworkId,
    root_id: &str,
    (effects, events): (i64, i64),
    now: Millis,
) -> Result<(i64, i64), Error> {
    tx.query(
        "INSERT INTO handler_cascades (network_id, root_id, effects, events, began_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network_id, root_id) DO UPDATE SET
             effects = handler_cascades.effects + excluded.effects, events = handler_cascades.events + excluded.events
         RETURNING effects, events",
    )
    .bind(network)
    .bind(root_id)
    .bind(effects)
    .bind(events)
    .bind(now)
    .one()
    .await
}

/// Deletes those that began long ago. Crosses networks: their age alone decides, by a `Cutoff`.
pub(in crate::modules::handlers) async fn delete_old(db: &Db, before: Cutoff) -> Result<(), Error> {
    db.write("DELETE FROM handler_cascades WHERE began_at < $1").bind(before.at()).execute().await?;
    Ok(())
}

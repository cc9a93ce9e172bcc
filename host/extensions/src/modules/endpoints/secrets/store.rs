//! Table `module_secrets`.

use hub_db::{Db, Error, Executor, Tx};

use super::SECRETS;
use crate::clock::Millis;
use crate::limits::Rows;
use crate::values::NetworkId;

/// All secrets of a network.
pub(super) const ROWS: Rows = Rows::few(SECRETS, "SELECT COUNT(*) FROM module_secrets WHERE network_id = $1");

/// A secret's row. Its values are sealed.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::modules::endpoints) struct SecretRow {
    pub(in crate::modules::endpoints) name: String,
    pub(in crate::modules::endpoints) value: String,
    pub(in crate::modules::endpoints) previous: Option<String>,
    pub(in crate::modules::endpoints) previous_until: Option<Millis>,
    pub(in crate::modules::endpoints) set_at: Millis,
}

pub(super) async fn list(db: &Db, network: NetworkId) -> Result<Vec<SecretRow>, Error> {
    db.query(
        "SELECT name, value, previous, previous_until, set_at FROM module_secrets WHERE network_id = $1 ORDER BY name
         LIMIT 1000",
    )
    .bind(network)
    .all()
    .await
}

pub(super) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    name: &str,
) -> Result<Option<SecretRow>, Error> {
    on.into()
        .query(
            "SELECT name, value, previous, previous_until, set_at FROM module_secrets WHERE network_id = $1 AND name = $2",
        )
        .bind(network)
        .bind(name)
        .optional()
        .await
}

/// Sets a value. The one before is good until a time.
pub(super) async fn put(
    tx: &mut Tx,
    network: NetworkId,
    (name, value): (&str, &str),
    previous_until: Option<Millis>,
    now: Millis,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO module_secrets (network_id, name, value, set_at) VALUES ($1, $2, $3, $5)
         ON CONFLICT (network_id, name) DO UPDATE
         SET previous = CASE WHEN CAST($4 AS BIGINT) IS NULL THEN NULL ELSE module_secrets.value END, previous_until = $4,
             value = excluded.value, set_at = excluded.set_at",
    )
    .bind(network)
    .bind(name)
    .bind(value)
    .bind(previous_until)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Deletes a secret; false if there is none.
pub(super) async fn delete(tx: &mut Tx, network: NetworkId, name: &str) -> Result<bool, Error> {
    let rows = tx
        .query("DELETE FROM module_secrets WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name)
        .execute()
        .await?;
    Ok(rows > 0)
}

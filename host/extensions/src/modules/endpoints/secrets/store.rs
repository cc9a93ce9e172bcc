//! Table `module_secrets`.

use hub_db::{Db, Error, Executor, Sql, Tx};

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
    pub(in crate::modules::endpoints) last_used_at: Option<Millis>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT name, value, previous, previous_until, set_at, last_used_at FROM module_secrets WHERE network_id = $1 ",
            $rest
        )
    };
}

pub(super) async fn list(db: &Db, network: NetworkId) -> Result<Vec<SecretRow>, Error> {
    db.query(select!("ORDER BY name LIMIT 1000")).bind(network).all().await
}

pub(super) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    name: &str,
) -> Result<Option<SecretRow>, Error> {
    on.into().query(select!("AND name = $2")).bind(network).bind(name).optional().await
}

const LOCK: Sql = Sql { sqlite: select!("AND name = $2"), postgres: select!("AND name = $2 FOR UPDATE") };

/// A secret, which nobody changes until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, network: NetworkId, name: &str) -> Result<Option<SecretRow>, Error> {
    tx.query(LOCK).bind(network).bind(name).optional().await
}

/// Stores when a secret was used last.
pub(super) async fn used(db: &Db, network: NetworkId, name: &str, at: Millis) -> Result<(), Error> {
    db.write(
        "UPDATE module_secrets SET last_used_at = $3
         WHERE network_id = $1 AND name = $2 AND (last_used_at IS NULL OR last_used_at < $3)",
    )
    .bind(network)
    .bind(name)
    .bind(at)
    .execute()
    .await?;
    Ok(())
}

/// Sets a value, and those before with the last time at which one of them is good.
pub(super) async fn put(
    tx: &mut Tx,
    network: NetworkId,
    (name, value): (&str, &str),
    (previous, previous_until): (Option<&str>, Option<Millis>),
    now: Millis,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO module_secrets (network_id, name, value, previous, previous_until, set_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (network_id, name) DO UPDATE
         SET previous = excluded.previous, previous_until = excluded.previous_until, value = excluded.value,
             set_at = excluded.set_at",
    )
    .bind(network)
    .bind(name)
    .bind(value)
    .bind(previous)
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

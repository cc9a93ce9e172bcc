//! Tables `module_state` and `module_state_usage`.

use hub_db::{Error, Executor, Sql, Tx};

use crate::clock::{Cutoff, Millis};
use crate::values::NetworkId;

/// Owner of a state.
#[derive(Clone, Copy, Debug)]
pub(in crate::modules::handlers) struct StateOwner<'a> {
    pub(in crate::modules::handlers) network: NetworkId,
    pub(in crate::modules::handlers) module: &'a str,
}

/// An entry's value and the end of its time, expired or not.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::modules::handlers) struct Entry {
    pub(in crate::modules::handlers) value: Vec<u8>,
    pub(in crate::modules::handlers) expires_at: Option<Millis>,
}

impl Entry {
    /// True if it has not expired.
    pub(in crate::modules::handlers) fn is_live(&self, now: Millis) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }
}

pub(in crate::modules::handlers) async fn entry(
    on: impl Into<Executor<'_>>,
    of: StateOwner<'_>,
    key: &str,
) -> Result<Option<Entry>, Error> {
    on.into()
        .query("SELECT value, expires_at FROM module_state WHERE network_id = $1 AND module = $2 AND key = $3")
        .bind(of.network)
        .bind(of.module)
        .bind(key.as_bytes())
        .optional()
        .await
}

/// Live entries of keys from `from` on, or after it, up to `before`.
pub(in crate::modules::handlers) async fn list(
    on: impl Into<Executor<'_>>,
    of: StateOwner<'_>,
    (from, is_exclusive): (&[u8], bool),
    before: Option<&[u8]>,
    limit: i64,
    now: Millis,
) -> Result<Vec<(Vec<u8>, Vec<u8>)>, Error> {
    macro_rules! select {
        ($end:literal) => {
            concat!(
                "SELECT key, value FROM module_state
                 WHERE network_id = $1 AND module = $2 AND (key > $3 OR (key = $3 AND $4)) AND key >= $3
                   AND (expires_at IS NULL OR expires_at > $5)",
                $end,
                " ORDER BY key LIMIT $6"
            )
        };
    }
    let mut on = on.into();
    let statement = on.query(if before.is_some() { select!(" AND key < $7") } else { select!("") });
    let statement = statement.bind(of.network).bind(of.module).bind(from).bind(!is_exclusive).bind(now).bind(limit);
    match before {
        Some(before) => statement.bind(before).all().await,
        None => statement.all().await,
    }
}

const LOCK: Sql = Sql {
    sqlite: "INSERT INTO module_state_usage (network_id, module, bytes) VALUES ($1, $2, 0)
             ON CONFLICT (network_id, module) DO UPDATE SET bytes = module_state_usage.bytes RETURNING bytes",
    postgres: "INSERT INTO module_state_usage (network_id, module, bytes) VALUES ($1, $2, 0)
               ON CONFLICT (network_id, module) DO UPDATE SET bytes = module_state_usage.bytes RETURNING bytes",
};

/// Locks a module's state until the transaction ends. Returns its size.
pub(in crate::modules::handlers) async fn lock(tx: &mut Tx, of: StateOwner<'_>) -> Result<i64, Error> {
    let (bytes,) = tx.query(LOCK).bind(of.network).bind(of.module).one().await?;
    Ok(bytes)
}

pub(in crate::modules::handlers) async fn set_size(tx: &mut Tx, of: StateOwner<'_>, bytes: i64) -> Result<(), Error> {
    tx.query("UPDATE module_state_usage SET bytes = $3 WHERE network_id = $1 AND module = $2")
        .bind(of.network)
        .bind(of.module)
        .bind(bytes)
        .execute()
        .await?;
    Ok(())
}

pub(in crate::modules::handlers) async fn put(
    tx: &mut Tx,
    of: StateOwner<'_>,
    key: &str,
    value: &[u8],
    expires_at: Option<Millis>,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO module_state (network_id, module, key, value, expires_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network_id, module, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at",
    )
    .bind(of.network)
    .bind(of.module)
    .bind(key.as_bytes())
    .bind(value)
    .bind(expires_at)
    .execute()
    .await?;
    Ok(())
}

pub(in crate::modules::handlers) async fn delete(tx: &mut Tx, of: StateOwner<'_>, key: &str) -> Result<(), Error> {
    tx.query("DELETE FROM module_state WHERE network_id = $1 AND module = $2 AND key = $3")
        .bind(of.network)
        .bind(of.module)
        .bind(key.as_bytes())
        .execute()
        .await?;
    Ok(())
}

/// Bytes of a module's keys and values, and their number.
pub(in crate::modules::handlers) async fn count(tx: &mut Tx, of: StateOwner<'_>) -> Result<(i64, i64), Error> {
    tx.query(
        "SELECT CAST(COALESCE(SUM(LENGTH(key) + LENGTH(value)), 0) AS BIGINT), COUNT(*) FROM module_state
         WHERE network_id = $1 AND module = $2",
    )
    .bind(of.network)
    .bind(of.module)
    .one()
    .await
}

/// Deletes expired entries of a module. Returns the bytes of their keys and values, and their number.
pub(in crate::modules::handlers) async fn purge(
    tx: &mut Tx,
    of: StateOwner<'_>,
    ended: Cutoff,
) -> Result<(i64, i64), Error> {
    let rows: Vec<(i64,)> = tx
        .query(
            "DELETE FROM module_state WHERE network_id = $1 AND module = $2 AND expires_at <= $3
             RETURNING CAST(LENGTH(key) + LENGTH(value) AS BIGINT)",
        )
        .bind(of.network)
        .bind(of.module)
        .bind(ended.at())
        .all()
        .await?;
    Ok((rows.iter().map(|(bytes,)| bytes).sum(), rows.len() as i64))
}

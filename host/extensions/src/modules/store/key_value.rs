//! Key-value stores of modules and their usage.

use hub_db::{Db, Error, Tx};

use crate::clock::{Cutoff, Millis};
use crate::values::NetworkId;

/// Owner of a store: a module, by its name.
#[derive(Clone, Copy)]
pub(in crate::modules) struct Owner<'a> {
    pub(in crate::modules) network: NetworkId,
    pub(in crate::modules) module: &'a str,
}

/// Value of a key: text or an integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::modules) enum Stored {
    Text(Vec<u8>),
    Number(i64),
}

impl Stored {
    fn parts(&self) -> (Option<&[u8]>, Option<i64>) {
        match *self {
            Self::Text(ref bytes) => (Some(bytes), None),
            Self::Number(number) => (None, Some(number)),
        }
    }

    fn from_parts(value: Option<Vec<u8>>, number: Option<i64>) -> Self {
        number.map_or_else(|| Self::Text(value.unwrap_or_default()), Self::Number)
    }
}

#[derive(sqlx::FromRow)]
struct EntryRow {
    value: Option<Vec<u8>>,
    number: Option<i64>,
    expires_at: Option<Millis>,
    size: i64,
}

pub(in crate::modules) struct Entry {
    pub(in crate::modules) stored: Stored,
    pub(in crate::modules) size: i64,
    pub(in crate::modules) live: bool,
}

pub(in crate::modules) async fn get(db: &Db, of: Owner<'_>, key: &[u8], now: Millis) -> Result<Option<Stored>, Error> {
    let row: Option<(Option<Vec<u8>>, Option<i64>)> = db
        .query(
            "SELECT value, number FROM module_store
             WHERE network_id = $1 AND module = $2 AND key = $3 AND (expires_at IS NULL OR expires_at > $4)",
        )
        .bind(of.network)
        .bind(of.module)
        .bind(key)
        .bind(now)
        .optional()
        .await?;
    Ok(row.map(|(value, number)| Stored::from_parts(value, number)))
}

/// Size of an entry, expired or not; 0 if there is none.
pub(in crate::modules) async fn entry_bytes(db: &Db, of: Owner<'_>, key: &[u8]) -> Result<i64, Error> {
    let row: Option<(i64,)> = db
        .query("SELECT size FROM module_store WHERE network_id = $1 AND module = $2 AND key = $3")
        .bind(of.network)
        .bind(of.module)
        .bind(key)
        .optional()
        .await?;
    Ok(row.map_or(0, |(size,)| size))
}

/// Adds to a number between `min` and `max`; none if there is no such number.
pub(in crate::modules) async fn add(
    db: &Db,
    of: Owner<'_>,
    key: &[u8],
    by: i64,
    (min, max): (i64, i64),
    now: Millis,
) -> Result<Option<i64>, Error> {
    let row: Option<(i64,)> = db
        .write(
            "UPDATE module_store SET number = number + $4
             WHERE network_id = $1 AND module = $2 AND key = $3 AND (expires_at IS NULL OR expires_at > $5)
               AND number BETWEEN $6 AND $7
             RETURNING number",
        )
        .bind(of.network)
        .bind(of.module)
        .bind(key)
        .bind(by)
        .bind(now)
        .bind(min)
        .bind(max)
        .optional()
        .await?;
    Ok(row.map(|(number,)| number))
}

/// Size of the store in bytes. Locks the store until the transaction ends.
pub(in crate::modules) async fn lock_usage(tx: &mut Tx, of: Owner<'_>) -> Result<i64, Error> {
    let (bytes,) = tx
        .query(
            "INSERT INTO module_store_usage (network_id, module, bytes) VALUES ($1, $2, 0)
             ON CONFLICT (network_id, module) DO UPDATE SET bytes = module_store_usage.bytes
             RETURNING bytes",
        )
        .bind(of.network)
        .bind(of.module)
        .one()
        .await?;
    Ok(bytes)
}

/// Size of its entries in bytes.
pub(in crate::modules) async fn count_bytes(tx: &mut Tx, of: Owner<'_>) -> Result<i64, Error> {
    let (bytes,) = tx
        .query("SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM module_store WHERE network_id = $1 AND module = $2")
        .bind(of.network)
        .bind(of.module)
        .one()
        .await?;
    Ok(bytes)
}

pub(in crate::modules) async fn set_usage(tx: &mut Tx, of: Owner<'_>, bytes: i64) -> Result<(), Error> {
    tx.query("UPDATE module_store_usage SET bytes = $3 WHERE network_id = $1 AND module = $2")
        .bind(of.network)
        .bind(of.module)
        .bind(bytes)
        .execute()
        .await?;
    Ok(())
}

pub(in crate::modules) async fn entry(
    tx: &mut Tx,
    of: Owner<'_>,
    key: &[u8],
    now: Millis,
) -> Result<Option<Entry>, Error> {
    let row: Option<EntryRow> = tx
        .query(
            "SELECT value, number, expires_at, size FROM module_store
             WHERE network_id = $1 AND module = $2 AND key = $3",
        )
        .bind(of.network)
        .bind(of.module)
        .bind(key)
        .optional()
        .await?;
    Ok(row.map(|row| Entry {
        stored: Stored::from_parts(row.value, row.number),
        size: row.size,
        live: row.expires_at.is_none_or(|at| at > now),
    }))
}

pub(in crate::modules) async fn put(
    tx: &mut Tx,
    of: Owner<'_>,
    key: &[u8],
    stored: &Stored,
    expires_at: Option<Millis>,
    size: i64,
) -> Result<(), Error> {
    let (value, number) = stored.parts();
    tx.query(
        "INSERT INTO module_store (network_id, module, key, value, number, expires_at, size)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (network_id, module, key) DO UPDATE
         SET value = excluded.value, number = excluded.number, expires_at = excluded.expires_at, size = excluded.size",
    )
    .bind(of.network)
    .bind(of.module)
    .bind(key)
    .bind(value)
    .bind(number)
    .bind(expires_at)
    .bind(size)
    .execute()
    .await?;
    Ok(())
}

/// Replaces a value and keeps its expiry.
pub(in crate::modules) async fn replace(
    tx: &mut Tx,
    of: Owner<'_>,
    key: &[u8],
    stored: &Stored,
    size: i64,
) -> Result<(), Error> {
    let (value, number) = stored.parts();
    tx.query(
        "UPDATE module_store SET value = $4, number = $5, size = $6
         WHERE network_id = $1 AND module = $2 AND key = $3",
    )
    .bind(of.network)
    .bind(of.module)
    .bind(key)
    .bind(value)
    .bind(number)
    .bind(size)
    .execute()
    .await?;
    Ok(())
}

pub(in crate::modules) async fn delete(tx: &mut Tx, of: Owner<'_>, key: &[u8]) -> Result<(), Error> {
    tx.query("DELETE FROM module_store WHERE network_id = $1 AND module = $2 AND key = $3")
        .bind(of.network)
        .bind(of.module)
        .bind(key)
        .execute()
        .await?;
    Ok(())
}

/// Deletes up to `limit` expired entries. Returns the bytes they took.
pub(in crate::modules) async fn purge(tx: &mut Tx, of: Owner<'_>, ended: Cutoff, limit: i64) -> Result<i64, Error> {
    let sizes: Vec<(i64,)> = tx
        .query(
            "DELETE FROM module_store WHERE network_id = $1 AND module = $2 AND key IN
             (SELECT key FROM module_store
              WHERE network_id = $1 AND module = $2 AND expires_at <= $3 ORDER BY expires_at LIMIT $4)
             RETURNING size",
        )
        .bind(of.network)
        .bind(of.module)
        .bind(ended.at())
        .bind(limit)
        .all()
        .await?;
    Ok(sizes.iter().map(|(size,)| size).sum())
}

//! Key-value stores of modules: expiry by the hub's clock, atomic increments, a quota.
//!
//! On SQLite they are in a file of their own, whose writes do not wait for the disk (`docs/develop/decisions/0012-module-stores.md`).
//!
//! Size of an entry: the bytes of its key and value (a number counts as 20) and 64 of overhead.

use hub_db::{Backend, Db};
use hub_sandbox::contract::HostError;

use crate::app::App;
use crate::clock::Millis;
use crate::config::Settings;
use crate::data_folder::MODULE_STORE;
use crate::limits::{QuotaExceeded, check_storage};
use crate::modules::store::key_value::{self as store, Owner, Stored};

/// Maximum size in bytes of one module's store in one network.
pub(in crate::modules) const QUOTA: i64 = 16 * 1024 * 1024;
const ENTRY_BYTES: i64 = 64;
const NUMBER_BYTES: i64 = 20;
/// Expired entries that a write deletes first, so that they do not pile up.
const PURGE_LIMIT: i64 = 16;

/// Opens the database of the modules' key-value stores: on SQLite a file of its own.
pub async fn open_store(settings: &Settings, db: &Db) -> Result<Db, hub_db::Error> {
    if db.backend() == Backend::Postgres {
        return Ok(db.clone());
    }
    Db::connect_relaxed(&settings.data.join(MODULE_STORE)).await
}

/// Reason for the failure of a store call.
#[derive(Debug, thiserror::Error)]
pub(in crate::modules) enum StoreError {
    #[error("{0}")]
    Invalid(&'static str),
    #[error("the store is full")]
    Full,
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<StoreError> for HostError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Invalid(why) => Self::Invalid(why.to_owned()),
            StoreError::Full | StoreError::Quota(_) => Self::QuotaExceeded,
            StoreError::Database(error) => {
                tracing::warn!(%error, "could not reach a module's store");
                Self::Unavailable
            }
        }
    }
}

/// A value in the database's form: an integer in canonical form is stored as a number.
fn stored(value: &str) -> Stored {
    match value.parse::<i64>() {
        Ok(number) if number.to_string() == value => Stored::Number(number),
        _ => Stored::Text(value.as_bytes().to_vec()),
    }
}

fn text(stored: Stored) -> String {
    match stored {
        Stored::Number(number) => number.to_string(),
        Stored::Text(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

fn size(key: &str, stored: &Stored) -> i64 {
    let value = match stored {
        Stored::Number(_) => NUMBER_BYTES,
        Stored::Text(bytes) => bytes.len() as i64,
    };
    ENTRY_BYTES + key.len() as i64 + value
}

/// Time at which an entry with this ttl expires.
pub(in crate::modules) fn expiry(now: Millis, ttl_ms: Option<u64>) -> Option<Millis> {
    ttl_ms.map(|ttl| now.saturating_add(i64::try_from(ttl).unwrap_or(i64::MAX)))
}

/// Value of a key.
pub(in crate::modules) async fn get(app: &App, of: Owner<'_>, key: &str) -> Result<Option<String>, StoreError> {
    Ok(store::get(&app.module_store, of, key.as_bytes(), app.clock.now()).await?.map(text))
}

/// Sets a key and its expiry.
pub(in crate::modules) async fn set(
    app: &App,
    of: Owner<'_>,
    key: &str,
    value: &str,
    ttl_ms: Option<u64>,
) -> Result<(), StoreError> {
    let now = app.clock.now();
    let stored = stored(value);
    let size = size(key, &stored);
    check_room(app, of, key, size).await?;
    app.module_store
        .transaction(async |mut tx| {
            let mut used = store::lock_usage(&mut tx, of).await?;
            used -= store::purge(&mut tx, of, now, PURGE_LIMIT).await?;
            let before = store::entry(&mut tx, of, key.as_bytes(), now).await?;
            used += size - before.map_or(0, |entry| entry.size);
            store::put(&mut tx, of, key.as_bytes(), &stored, expiry(now, ttl_ms), size).await?;
            write_usage(&mut tx, of, used, now).await
        })
        .await
}

/// Refuses an entry that exceeds the network's storage.
async fn check_room(app: &App, of: Owner<'_>, key: &str, size: i64) -> Result<(), StoreError> {
    check_storage(app, of.network, size, store::entry_bytes(&app.module_store, of, key.as_bytes())).await
}

/// Adds to the number under a key; a missing key counts as 0 and is created with the expiry.
pub(in crate::modules) async fn increment(
    app: &App,
    of: Owner<'_>,
    key: &str,
    by: i64,
    ttl_ms: Option<u64>,
) -> Result<i64, StoreError> {
    let now = app.clock.now();
    let in_range = if by < 0 { (i64::MIN - by, i64::MAX) } else { (i64::MIN, i64::MAX - by) };
    // One statement suffices if the key holds a number.
    if let Some(sum) = store::add(&app.module_store, of, key.as_bytes(), by, in_range, now).await? {
        return Ok(sum);
    }
    check_room(app, of, key, size(key, &Stored::Number(by))).await?;
    app.module_store
        .transaction(async |mut tx| {
            let mut used = store::lock_usage(&mut tx, of).await?;
            used -= store::purge(&mut tx, of, now, PURGE_LIMIT).await?;
            let before = store::entry(&mut tx, of, key.as_bytes(), now).await?;
            let live = before.as_ref().filter(|entry| entry.live);
            let value = live.map(|entry| text(entry.stored.clone()));
            let sum = sum(value.as_deref(), by)?;
            let size = size(key, &Stored::Number(sum));
            used += size - before.as_ref().map_or(0, |entry| entry.size);
            if live.is_some() {
                store::replace(&mut tx, of, key.as_bytes(), &Stored::Number(sum), size).await?;
            } else {
                store::put(&mut tx, of, key.as_bytes(), &Stored::Number(sum), expiry(now, ttl_ms), size).await?;
            }
            write_usage(&mut tx, of, used, now).await?;
            Ok(sum)
        })
        .await
}

/// Value of a key after an increment.
pub(in crate::modules) fn sum(value: Option<&str>, by: i64) -> Result<i64, StoreError> {
    let number = value.map_or(Ok(0), str::parse::<i64>);
    let number = number.map_err(|_| StoreError::Invalid("the value of this key is not an integer"))?;
    number.checked_add(by).ok_or(StoreError::Invalid("the sum is too large"))
}

/// Deletes a key; false if there was none.
pub(in crate::modules) async fn delete(app: &App, of: Owner<'_>, key: &str) -> Result<bool, StoreError> {
    let now = app.clock.now();
    app.module_store
        .transaction(async |mut tx| {
            let used = store::lock_usage(&mut tx, of).await?;
            let Some(entry) = store::entry(&mut tx, of, key.as_bytes(), now).await? else { return Ok(false) };
            store::delete(&mut tx, of, key.as_bytes()).await?;
            store::set_usage(&mut tx, of, used - entry.size).await?;
            Ok(entry.live)
        })
        .await
}

/// Counts the bytes of a module's store again after a deletion of entries.
pub async fn recount_store(
    tx: &mut hub_db::Tx,
    network: crate::values::NetworkId,
    module: &str,
) -> Result<(), hub_db::Error> {
    let of = Owner { network, module };
    store::lock_usage(tx, of).await?;
    let used = store::count_bytes(tx, of).await?;
    store::set_usage(tx, of, used).await
}

async fn write_usage(tx: &mut hub_db::Tx, of: Owner<'_>, mut used: i64, now: Millis) -> Result<(), StoreError> {
    if used > QUOTA {
        used -= store::purge(tx, of, now, i64::MAX).await?;
    }
    if used > QUOTA {
        return Err(StoreError::Full);
    }
    Ok(store::set_usage(tx, of, used).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_as_they_were_set() {
        for value in ["", "0", "-5", "007", "+5", "9223372036854775807", "9223372036854775808", "a\0b", "1 "] {
            assert_eq!(text(stored(value)), value);
        }
        assert_eq!(stored("-12"), Stored::Number(-12));
        assert_eq!(stored("012"), Stored::Text(b"012".to_vec()));
    }

    #[test]
    fn a_counters_size_does_not_change_as_it_counts() {
        assert_eq!(size("k", &Stored::Number(0)), size("k", &Stored::Number(i64::MIN)));
        assert_eq!(size("key", &Stored::Text(b"text".to_vec())), 64 + 3 + 4);
    }
}

//! Key-value stores of all networks' modules, as they move from one database to another.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;
use crate::values::NetworkId;

/// Usage of a store.
#[derive(sqlx::FromRow)]
pub(in crate::modules) struct UsageRow {
    network_id: NetworkId,
    module: String,
    bytes: i64,
}

/// Entry of one key.
#[derive(sqlx::FromRow)]
pub(in crate::modules) struct EntryRow {
    network_id: NetworkId,
    module: String,
    key: Vec<u8>,
    value: Option<Vec<u8>>,
    number: Option<i64>,
    expires_at: Option<Millis>,
    size: i64,
}

pub(in crate::modules) async fn usage(db: &Db) -> Result<Vec<UsageRow>, Error> {
    db.query("SELECT network_id, module, bytes FROM module_store_usage").all().await
}

pub(in crate::modules) async fn entries(db: &Db, limit: i64) -> Result<Vec<EntryRow>, Error> {
    db.query("SELECT network_id, module, key, value, number, expires_at, size FROM module_store LIMIT $1")
        .bind(limit)
        .all()
        .await
}

pub(in crate::modules) async fn insert_usage(tx: &mut Tx, rows: &[UsageRow]) -> Result<(), Error> {
    for row in rows {
        tx.query(
            "INSERT INTO module_store_usage (network_id, module, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        )
        .bind(row.network_id)
        .bind(&row.module)
        .bind(row.bytes)
        .execute()
        .await?;
    }
    Ok(())
}

pub(in crate::modules) async fn insert_entries(tx: &mut Tx, rows: &[EntryRow]) -> Result<(), Error> {
    for row in rows {
        tx.query(
            "INSERT INTO module_store (network_id, module, key, value, number, expires_at, size)
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
        )
        .bind(row.network_id)
        .bind(&row.module)
        .bind(&row.key)
        .bind(&row.value)
        .bind(row.number)
        .bind(row.expires_at)
        .bind(row.size)
        .execute()
        .await?;
    }
    Ok(())
}

pub(in crate::modules) async fn delete_entries(tx: &mut Tx, rows: &[EntryRow]) -> Result<(), Error> {
    for row in rows {
        tx.query("DELETE FROM module_store WHERE network_id = $1 AND module = $2 AND key = $3")
            .bind(row.network_id)
            .bind(&row.module)
            .bind(&row.key)
            .execute()
            .await?;
    }
    Ok(())
}

pub(in crate::modules) async fn delete_usage(tx: &mut Tx) -> Result<(), Error> {
    // Crosses networks: all of them have moved.
    tx.query("DELETE FROM module_store_usage").execute().await.map(drop)
}

//! Seals everything again after the key got a new generation, in small transactions while the hub serves.

use hub_db::{Backend, Cell, Db, Error, Tx};
use uuid::Uuid;

use crate::component::{NetworkTable, Tables, reseal_row};
use crate::secrets::sealing_key::SealingKey;
use crate::secrets::{CHECK, seal_all, store};
use crate::values::NetworkId;

/// Rows read at once, and changed in one transaction.
const BATCH: usize = 100;

/// Tells all nodes of a key with a new generation: one that lacks it looks for it.
pub async fn set_key(tx: &mut Tx, key: &SealingKey) -> Result<(), Error> {
    store::replace(tx, CHECK, &seal_all(key, CHECK, &[])?).await
}

/// Seals networks' secrets with the newest generation; returns the number of rows. What nodes seal meanwhile with the
/// generation before stays as it is until the next time.
pub async fn reseal_networks(db: &Db, tables: &Tables, key: &SealingKey) -> Result<u64, Error> {
    let mut count = 0;
    for network in store::networks(db).await? {
        for table in tables.of_networks().iter().filter(|table| !table.rule.sealed.is_empty()) {
            // In turn: a command works on one network at a time, so that it leaves the database to others.
            count += reseal_table(db, table, key, network).await?;
        }
    }
    Ok(count)
}

async fn reseal_table(db: &Db, table: &NetworkTable, key: &SealingKey, network: NetworkId) -> Result<u64, Error> {
    debug_assert!(!table.rule.is_in_module_store || db.backend() == Backend::Postgres, "it is in another file");
    let (mut count, mut after): (u64, Option<Vec<Cell>>) = (0, None);
    loop {
        let rows = db.rows_after(table, network.0, after.as_deref(), BATCH).await?;
        let Some(last) = rows.last() else { return Ok(count) };
        after = Some(table.key_of(last).to_vec());
        let mut old = vec![];
        for row in &rows {
            if reseal_row(key, table, network, row)?.is_some() {
                old.push(table.key_of(row).to_vec());
            }
        }
        if !old.is_empty() {
            let changed = db.transaction(async |mut tx| reseal_rows(&mut tx, table, key, network.0, &old).await);
            count += changed.await?;
        }
    }
}

async fn reseal_rows(
    tx: &mut Tx,
    table: &NetworkTable,
    key: &SealingKey,
    network: Uuid,
    keys: &[Vec<Cell>],
) -> Result<u64, Error> {
    let mut count = 0;
    for row_key in keys {
        // It may have changed since it was read.
        let Some(before) = tx.lock_row(table, network, row_key).await? else { continue };
        if let Some(after) = reseal_row(key, table, NetworkId(network), &before)? {
            count += tx.update_row(table, network, &before, &after).await?;
        }
    }
    Ok(count)
}

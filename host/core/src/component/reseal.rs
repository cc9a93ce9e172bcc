//! Seals networks' secrets again after the key got a new generation, in small transactions while the hub serves.

use hub_db::{Cell, Db, Error, Tx};

use crate::component::sealed::reseal_row;
use crate::component::{NetworkTable, Tables};
use crate::secrets::{self, SealingKey};
use crate::values::NetworkId;

/// Rows read at once, and changed in one transaction.
const BATCH: usize = 100;

/// Seals all rows of networks with the newest generation; returns the number of those that changed. What nodes seal meanwhile
/// with the generation before stays as it is until the next time.
pub async fn reseal_networks(db: &Db, tables: &Tables, key: &SealingKey) -> Result<u64, Error> {
    let mut count = 0;
    // In turn: a command leaves the database to the hub.
    for network in secrets::networks(db).await? {
        for table in tables.of_networks().iter().filter(|table| !table.rule.sealed.is_empty()) {
            count += reseal_table(db, table, key, network).await?;
        }
    }
    Ok(count)
}

async fn reseal_table(db: &Db, table: &NetworkTable, key: &SealingKey, network: NetworkId) -> Result<u64, Error> {
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
            let changed = db.transaction(async |mut tx| reseal_rows(&mut tx, table, key, network, &old).await);
            count += changed.await?;
        }
    }
}

async fn reseal_rows(
    tx: &mut Tx,
    table: &NetworkTable,
    key: &SealingKey,
    network: NetworkId,
    keys: &[Vec<Cell>],
) -> Result<u64, Error> {
    let mut count = 0;
    for row_key in keys {
        // It may have changed since it was read.
        let Some(before) = tx.lock_row(table, network.0, row_key).await? else { continue };
        if let Some(after) = reseal_row(key, table, network, &before)? {
            count += tx.update_row(table, network.0, &before, &after).await?;
        }
    }
    Ok(count)
}

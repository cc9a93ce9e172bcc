//! Secrets of a network: sealed in the database, and plain in the network's file, because the key stays at its hub.

use anyhow::bail;
use hub_db::Cell;

use crate::archive::row::Row;
use crate::component::NetworkTable;
use crate::secrets::{SealingKey, context_of_table};

/// Positions of the sealed columns.
fn columns(table: &NetworkTable) -> impl Iterator<Item = usize> {
    let columns = table.columns.iter().enumerate();
    columns.filter(|(_, column)| table.rule.sealed.contains(&column.name)).map(|(at, _)| at)
}

/// Opens a row's secrets for a file.
pub(super) fn open(key: Option<&SealingKey>, table: &NetworkTable, row: &mut Row) -> anyhow::Result<()> {
    for at in columns(table) {
        let Some(Cell::Text(stored)) = row.get_mut(at) else { continue };
        let opened = match key {
            Some(key) => key.unseal_text(&context_of_table(table.name), stored),
            None => SealingKey::plain(stored),
        };
        match opened {
            Some(text) => *stored = text,
            // The replaced secret, which verifies nothing for long.
            None if table.columns[at].nullable => row[at] = Cell::Null,
            None => bail!(
                "the secrets key does not open it; put the key of this database into the data folder, or give it by \
                 --secrets-key (HUB_SECRETS_KEY); if it is lost, let a hub serve a transfer and replace the webhooks' \
                 secrets first"
            ),
        }
    }
    Ok(())
}

/// Seals the secrets of a file's row. Without a key they stay plain.
pub(super) fn seal(key: Option<&SealingKey>, table: &NetworkTable, row: &mut Row) -> Result<(), hub_db::Error> {
    let Some(key) = key else { return Ok(()) };
    for at in columns(table) {
        if let Some(Cell::Text(text)) = row.get_mut(at)
            && !text.is_empty()
        {
            *text = key.seal_text(&context_of_table(table.name), text)?;
        }
    }
    Ok(())
}

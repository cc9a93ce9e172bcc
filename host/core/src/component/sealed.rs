//! Secrets in rows: sealed in the database, and plain in a network's file, because the other hub has another key.

use hub_db::{Cell, Error};

use crate::component::NetworkTable;
use crate::secrets::{SealingKey, context_of_table};
use crate::values::NetworkId;

/// A column with secrets.
#[derive(Clone, Copy, Debug)]
pub enum Sealed {
    /// Texts that are sealed as a whole.
    Text(&'static str),
    /// The same; a row is found by its text's fingerprint in the second column.
    Found(&'static str, &'static str),
    /// JSON whose secret fields are sealed.
    Fields(&'static str),
}

impl Sealed {
    /// Name of the column.
    pub const fn column(&self) -> &'static str {
        match self {
            Self::Text(column) | Self::Found(column, _) | Self::Fields(column) => column,
        }
    }
}

/// The sealed columns and their places.
fn columns(table: &NetworkTable) -> impl Iterator<Item = (usize, &'static Sealed)> {
    let place = |name: &str| table.columns.iter().position(|column| column.name == name);
    table.rule.sealed.iter().filter_map(move |sealed| Some((place(sealed.column())?, sealed)))
}

fn place(table: &NetworkTable, name: &str) -> Option<usize> {
    table.columns.iter().position(|column| column.name == name)
}

/// Makes a cell of a text.
type ToCell = fn(String) -> Cell;

/// Text of a cell, and what puts another text in its place.
fn text(cell: &Cell) -> Option<(&str, ToCell)> {
    match cell {
        Cell::Text(text) => Some((text, Cell::Text)),
        Cell::Bytes(bytes) => Some((std::str::from_utf8(bytes).ok()?, |text| Cell::Bytes(text.into_bytes()))),
        _ => None,
    }
}

/// Opens a row's secrets for a file. An older one that no key opens is left out; one that must be there fails.
pub fn open_row(
    key: Option<&SealingKey>,
    table: &NetworkTable,
    network: NetworkId,
    row: &mut [Cell],
) -> anyhow::Result<()> {
    let context = context_of_table(table.name);
    for (at, sealed) in columns(table) {
        let Some((stored, cell)) = row.get(at).and_then(text) else { continue };
        if let Sealed::Fields(_) = sealed {
            let opened = key.map_or_else(|| stored.to_owned(), |key| key.open_fields(network, stored));
            row[at] = cell(opened);
            continue;
        }
        if stored.is_empty() {
            continue;
        }
        row[at] = match key.and_then(|key| key.unseal_text(&context, stored)) {
            Some(text) => cell(text),
            None if table.columns[at].nullable => Cell::Null,
            None => anyhow::bail!(
                "the secrets key does not open {}.{}; put the key of this database into the data folder, or give it by \
                 --secrets-key (HUB_SECRETS_KEY); if it is lost, let a hub serve a server of this network, and delete its \
                 webhooks or set their URLs and secrets again first",
                table.name,
                sealed.column()
            ),
        };
        if let Sealed::Found(_, mac) = sealed
            && let Some(at) = place(table, mac)
        {
            row[at] = Cell::Null;
        }
    }
    Ok(())
}

/// Seals the secrets of a file's row.
pub fn seal_row(key: &SealingKey, table: &NetworkTable, network: NetworkId, row: &mut [Cell]) -> Result<(), Error> {
    let context = context_of_table(table.name);
    for (at, sealed) in columns(table) {
        let Some((plain, cell)) = row.get(at).and_then(text) else { continue };
        if let Sealed::Fields(_) = sealed {
            row[at] = cell(key.seal_fields(network, plain)?);
            continue;
        }
        let mac = key.macs(&context, plain).into_iter().next();
        let is_empty = plain.is_empty();
        if !is_empty {
            row[at] = cell(key.seal_text(&context, plain)?);
        }
        if let Sealed::Found(_, column) = sealed
            && let Some(at) = place(table, column)
        {
            row[at] = mac.filter(|_| !is_empty).map_or(Cell::Null, Cell::Bytes);
        }
    }
    Ok(())
}

/// The row with secrets that the newest generation sealed; none if it has them already.
pub(super) fn reseal_row(
    key: &SealingKey,
    table: &NetworkTable,
    network: NetworkId,
    row: &[Cell],
) -> Result<Option<Vec<Cell>>, Error> {
    let (context, mut after) = (context_of_table(table.name), None::<Vec<Cell>>);
    for (at, sealed) in columns(table) {
        let Some((stored, cell)) = row.get(at).and_then(text) else { continue };
        let resealed = match sealed {
            Sealed::Fields(_) => Some(key.reseal_fields(network, stored)?).filter(|resealed| resealed != stored),
            _ => key.reseal_text(&context, stored)?,
        };
        let Some(resealed) = resealed else { continue };
        let after = after.get_or_insert_with(|| row.to_vec());
        if let Sealed::Found(_, column) = sealed
            && let (Some(at), Some(plain)) = (place(table, column), key.unseal_text(&context, stored))
        {
            after[at] = key.macs(&context, &plain).into_iter().next().map_or(Cell::Null, Cell::Bytes);
        }
        after[at] = cell(resealed);
    }
    Ok(after)
}

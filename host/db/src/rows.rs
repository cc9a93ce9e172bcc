//! Single rows of a network in any of its tables: read in batches, in the order of their keys, and changed one by one.
//!
//! The SQL is built here, from names that are part of the program.

use futures_util::future::BoxFuture;
use sqlx::{AssertSqlSafe, error::BoxDynError};
use uuid::Uuid;

use crate::{
    Backend, Cell, Column, Db, Error, Table, Tx,
    bulk::{bind_cell, names, postgres_cells, sqlite_cells},
    query::{Fetch, Fetched, Query},
};

impl Table {
    /// The columns of the primary key after `network_id`.
    pub fn key(&self) -> &'static [Column] {
        &self.columns[..self.key_columns]
    }

    /// The part of a row that is its key.
    pub fn key_of<'r>(&self, row: &'r [Cell]) -> &'r [Cell] {
        &row[..self.key_columns.min(row.len())]
    }

    /// Rows of a network behind a key, in the order of the database's own index.
    fn select_after(&self, limit: usize, is_first: bool) -> String {
        let (table, columns, key) = (self.name, names(self.columns).join(", "), names(self.key()));
        if key.is_empty() {
            return format!("SELECT {columns} FROM {table} WHERE network_id = $1");
        }
        let placeholders: Vec<_> = (2..key.len() + 2).map(|number| format!("${number}")).collect();
        let key = key.join(", ");
        let behind = if is_first { String::new() } else { format!(" AND ({key}) > ({})", placeholders.join(", ")) };
        format!("SELECT {columns} FROM {table} WHERE network_id = $1{behind} ORDER BY {key} LIMIT {limit}")
    }

    /// Condition for the one row with this key.
    fn with_key(&self) -> String {
        let key = self.key().iter().enumerate().map(|(index, column)| format!(" AND {} = ${}", column.name, index + 2));
        format!("network_id = $1{}", key.collect::<String>())
    }
}

/// A statement about rows with this key, or behind it.
fn query(backend: Backend, text: String, table: &Table, network: Uuid, key: &[Cell]) -> Result<Query, BoxDynError> {
    let mut query = Query::new(backend, AssertSqlSafe(text));
    // There are many texts, each of which is seldom run.
    query.persistent = false;
    query.bind(network)?;
    for (column, cell) in table.key().iter().zip(key) {
        bind_cell(&mut query, table.name, column, cell)?;
    }
    Ok(query)
}

fn cells(fetched: &Fetched, table: &Table) -> Result<Vec<Vec<Cell>>, Error> {
    let read = match fetched {
        Fetched::Count(_) => Ok(vec![]),
        Fetched::Sqlite(rows) => rows.iter().map(|row| sqlite_cells(row, table.columns)).collect(),
        Fetched::Postgres(rows) => rows.iter().map(|row| postgres_cells(row, table.columns)).collect(),
    };
    Ok(read?)
}

impl Db {
    /// The first `limit` rows of a network behind a key, or of all, in the order of the table's index.
    pub fn rows_after<'d>(
        &'d self,
        table: &'d Table,
        network: Uuid,
        after: Option<&'d [Cell]>,
        limit: usize,
    ) -> BoxFuture<'d, Result<Vec<Vec<Cell>>, Error>> {
        Box::pin(async move {
            if after.is_some() && table.key_columns == 0 {
                return Ok(vec![]);
            }
            let text = table.select_after(limit, after.is_none());
            let query = query(self.backend(), text, table, network, after.unwrap_or_default());
            let mut query = query.map_err(sqlx::Error::Encode)?;
            query.fetch = Fetch::All;
            cells(&self.read(query).await?, table)
        })
    }
}

impl Tx {
    /// The row of a network with this key, unchanged by others until the transaction ends.
    pub fn lock_row<'t>(
        &'t mut self,
        table: &'t Table,
        network: Uuid,
        key: &'t [Cell],
    ) -> BoxFuture<'t, Result<Option<Vec<Cell>>, Error>> {
        Box::pin(async move {
            // SQLite has one writer and needs no lock.
            let lock = if self.backend() == Backend::Postgres { " FOR UPDATE" } else { "" };
            let (columns, condition) = (names(table.columns).join(", "), table.with_key());
            let text = format!("SELECT {columns} FROM {} WHERE {condition}{lock}", table.name);
            let mut query = query(self.backend(), text, table, network, key).map_err(sqlx::Error::Encode)?;
            query.fetch = Fetch::First;
            Ok(cells(&self.run_observed(query).await?, table)?.into_iter().next())
        })
    }

    /// Updates the columns of a row that differ.
    pub fn update_row<'t>(
        &'t mut self,
        table: &'t Table,
        network: Uuid,
        before: &'t [Cell],
        after: &'t [Cell],
    ) -> BoxFuture<'t, Result<u64, Error>> {
        Box::pin(async move {
            let pairs = before.iter().zip(after);
            let changed: Vec<_> =
                table.columns.iter().zip(pairs).filter(|(_, (before, after))| before != after).collect();
            if changed.is_empty() {
                return Ok(0);
            }
            let first = table.key_columns + 2;
            let set =
                changed.iter().enumerate().map(|(index, (column, _))| format!("{} = ${}", column.name, first + index));
            let set = set.collect::<Vec<_>>().join(", ");
            let text = format!("UPDATE {} SET {set} WHERE {}", table.name, table.with_key());
            let query = query(self.backend(), text, table, network, table.key_of(before));
            let mut query = query.map_err(sqlx::Error::Encode)?;
            for (column, (_, after)) in changed {
                bind_cell(&mut query, table.name, column, after).map_err(sqlx::Error::Encode)?;
            }
            Ok(self.run_observed(query).await?.count())
        })
    }

    /// Deletes the row of a network with this key.
    pub fn delete_row<'t>(
        &'t mut self,
        table: &'t Table,
        network: Uuid,
        key: &'t [Cell],
    ) -> BoxFuture<'t, Result<u64, Error>> {
        Box::pin(async move {
            let text = format!("DELETE FROM {} WHERE {}", table.name, table.with_key());
            let query = query(self.backend(), text, table, network, key).map_err(sqlx::Error::Encode)?;
            Ok(self.run_observed(query).await?.count())
        })
    }
}

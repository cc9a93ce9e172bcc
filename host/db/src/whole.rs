//! Whole tables of all networks, for backup and restore.
//!
//! The SQL is built here, from names that are part of the program.

use futures_util::future::BoxFuture;
use sqlx::{AssertSqlSafe, error::BoxDynError};

use crate::{
    Backend, Cell, Column, ColumnType, Error, Snapshot, Table, Tx,
    bulk::{MAX_PLACEHOLDERS, MAX_ROWS, bind_cell, names, order_by},
    query::Query,
};

/// A table with all its columns, those of its primary key first.
#[derive(Clone, Debug)]
pub struct WholeTable {
    /// Its name.
    pub name: &'static str,
    /// Number of leading `columns` that form the primary key.
    pub key_columns: usize,
    /// All columns.
    pub columns: Vec<Column>,
}

impl From<&Table> for WholeTable {
    /// The table with its networks' column, which comes first.
    fn from(table: &Table) -> Self {
        let network = Column { name: "network_id", column_type: ColumnType::Uuid, nullable: false };
        let columns = std::iter::once(network).chain(table.columns.iter().copied()).collect();
        Self { name: table.name, key_columns: table.key_columns + 1, columns }
    }
}

impl WholeTable {
    fn select(&self, backend: Backend) -> String {
        let (columns, order) = (names(&self.columns).join(", "), order_by(backend, &self.columns[..self.key_columns]));
        format!("SELECT {columns} FROM {} ORDER BY {order}", self.name)
    }

    /// SQLite's placeholders have no numbers here, because it would search all of them for each.
    fn insert(&self, backend: Backend, rows: usize) -> String {
        let width = self.columns.len();
        let row = |row: usize| {
            let placeholders = (1..=width).map(|column| match backend {
                Backend::Sqlite => "?".to_owned(),
                Backend::Postgres => format!("${}", row * width + column),
            });
            format!("({})", placeholders.collect::<Vec<_>>().join(", "))
        };
        let rows = (0..rows).map(row).collect::<Vec<_>>().join(", ");
        let columns = names(&self.columns).join(", ");
        format!("INSERT INTO {} ({columns}) VALUES {rows} ON CONFLICT DO NOTHING", self.name)
    }
}

fn bind(query: &mut Query, table: &WholeTable, rows: &[Vec<Cell>]) -> Result<(), BoxDynError> {
    for row in rows {
        if row.len() != table.columns.len() {
            return Err(format!("{} has {} columns", table.name, table.columns.len()).into());
        }
        for (column, cell) in table.columns.iter().zip(row) {
            bind_cell(query, table.name, column, cell)?;
        }
    }
    Ok(())
}

impl Snapshot {
    /// Hands over all rows of a table, one by one, in the order of their keys, until `receive` fails.
    pub async fn for_each_row_of_all<E: From<Error> + Send>(
        &mut self,
        table: &WholeTable,
        mut receive: impl FnMut(Vec<Cell>) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let mut failure = None;
        let mut receive = |row| receive(row).map_err(|error| failure = Some(error)).is_ok();
        let text = table.select(self.backend());
        self.read(text, None, &table.columns, &mut receive).await?;
        failure.map_or(Ok(()), Err)
    }
}

impl Tx {
    /// Inserts the rows that are missing.
    pub fn insert_missing_rows<'t>(
        &'t mut self,
        table: &'t WholeTable,
        rows: &'t [Vec<Cell>],
    ) -> BoxFuture<'t, Result<(), Error>> {
        Box::pin(async move {
            let max_rows = (MAX_PLACEHOLDERS / table.columns.len()).min(MAX_ROWS);
            for rows in rows.chunks(max_rows) {
                let mut query = Query::new(self.backend(), AssertSqlSafe(table.insert(self.backend(), rows.len())));
                // The text of a full statement is worth keeping prepared.
                query.persistent = rows.len() == max_rows;
                bind(&mut query, table, rows).map_err(sqlx::Error::Encode)?;
                self.run_observed(query).await?;
            }
            Ok(())
        })
    }
}

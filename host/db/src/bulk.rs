//! All rows of one network at a time, to move a network from one database to another.
//!
//! The SQL is built here, from names that are part of the program.

use futures_util::future::BoxFuture;
use sqlx::{AssertSqlSafe, Row, error::BoxDynError, postgres::PgRow, sqlite::SqliteRow};
use uuid::Uuid;

use crate::{Backend, Error, Tx, query::Query};

/// Placeholders in one statement. SQLite takes 32,766.
pub(crate) const MAX_PLACEHOLDERS: usize = 32_000;
/// Rows in one statement.
pub(crate) const MAX_ROWS: usize = 500;

/// A column's type, one for each line of the table at the top of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ColumnType {
    Bool,
    Integer,
    Float,
    Text,
    Bytes,
    Uuid,
}

/// A row's value in one column.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Cell {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Uuid(Uuid),
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub column_type: ColumnType,
    /// True if it may be null.
    pub nullable: bool,
}

/// A table whose rows belong to networks: its primary key leads with `network_id`.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Number of leading `columns` that form the primary key, after `network_id`.
    pub key_columns: usize,
    /// All columns but `network_id`, those of the key first.
    pub columns: &'static [Column],
}

impl Table {
    /// All rows of a network in the order of their keys, which is the same on both databases.
    pub(crate) fn select(&self, backend: Backend) -> String {
        let columns = if self.columns.is_empty() { "1".to_owned() } else { names(self.columns).join(", ") };
        let key = order_by(backend, &self.columns[..self.key_columns]);
        let order = if key.is_empty() { "network_id".to_owned() } else { format!("network_id, {key}") };
        format!("SELECT {columns} FROM {} WHERE network_id = $1 ORDER BY {order}", self.name)
    }

    /// SQLite's placeholders have no numbers here, because it would search all of them for each.
    fn insert(&self, backend: Backend, rows: usize) -> String {
        let width = self.columns.len() + 1;
        let row = |row: usize| {
            let placeholders = (1..=width).map(|column| match backend {
                Backend::Sqlite => "?".to_owned(),
                Backend::Postgres => format!("${}", row * width + column),
            });
            format!("({})", placeholders.collect::<Vec<_>>().join(", "))
        };
        let rows = (0..rows).map(row).collect::<Vec<_>>().join(", ");
        let columns = std::iter::once("network_id").chain(names(self.columns)).collect::<Vec<_>>().join(", ");
        format!("INSERT INTO {} ({columns}) VALUES {rows}", self.name)
    }

    fn delete(&self, limit: usize) -> String {
        let table = self.name;
        if self.key_columns == 0 {
            return format!("DELETE FROM {table} WHERE network_id = $1");
        }
        let key = names(&self.columns[..self.key_columns]).join(", ");
        format!(
            "DELETE FROM {table} WHERE network_id = $1 AND ({key}) IN
             (SELECT {key} FROM {table} WHERE network_id = $1 LIMIT {limit})"
        )
    }
}

/// `ORDER BY` that sorts rows alike on both databases.
pub(crate) fn order_by(backend: Backend, key: &[Column]) -> String {
    let order = key.iter().map(|column| match (backend, column.column_type) {
        (Backend::Postgres, ColumnType::Text) => format!("{} COLLATE \"C\"", column.name),
        _ => column.name.to_owned(),
    });
    order.collect::<Vec<_>>().join(", ")
}

pub(crate) fn names(columns: &[Column]) -> Vec<&'static str> {
    columns.iter().map(|column| column.name).collect()
}

macro_rules! read_cells {
    ($name:ident, $row:ty) => {
        pub(crate) fn $name(row: &$row, columns: &[Column]) -> sqlx::Result<Vec<Cell>> {
            let cell = |(index, column): (usize, &Column)| {
                Ok(match column.column_type {
                    ColumnType::Bool => row.try_get::<Option<bool>, _>(index)?.map(Cell::Bool),
                    ColumnType::Integer => row.try_get::<Option<i64>, _>(index)?.map(Cell::Integer),
                    ColumnType::Float => row.try_get::<Option<f64>, _>(index)?.map(Cell::Float),
                    ColumnType::Text => row.try_get::<Option<String>, _>(index)?.map(Cell::Text),
                    ColumnType::Bytes => row.try_get::<Option<Vec<u8>>, _>(index)?.map(Cell::Bytes),
                    ColumnType::Uuid => row.try_get::<Option<Uuid>, _>(index)?.map(Cell::Uuid),
                }
                .unwrap_or(Cell::Null))
            };
            columns.iter().enumerate().map(cell).collect()
        }
    };
}

read_cells!(sqlite_cells, SqliteRow);
read_cells!(postgres_cells, PgRow);

/// Binds the network and the cells of each row; without rows the network alone.
fn bind(query: &mut Query, table: &Table, network: Uuid, rows: &[Vec<Cell>]) -> Result<(), BoxDynError> {
    if rows.is_empty() {
        query.bind(network)?;
    }
    for row in rows {
        if row.len() != table.columns.len() {
            return Err(format!("{} has {} columns", table.name, table.columns.len()).into());
        }
        query.bind(network)?;
        for (column, cell) in table.columns.iter().zip(row) {
            bind_cell(query, table.name, column, cell)?;
        }
    }
    Ok(())
}

/// Binds a value of a column.
pub(crate) fn bind_cell(query: &mut Query, table: &str, column: &Column, cell: &Cell) -> Result<(), BoxDynError> {
    match (column.column_type, cell) {
        (ColumnType::Bool, Cell::Null) => query.bind(None::<bool>),
        (ColumnType::Integer, Cell::Null) => query.bind(None::<i64>),
        (ColumnType::Float, Cell::Null) => query.bind(None::<f64>),
        (ColumnType::Text, Cell::Null) => query.bind(None::<&str>),
        (ColumnType::Bytes, Cell::Null) => query.bind(None::<&[u8]>),
        (ColumnType::Uuid, Cell::Null) => query.bind(None::<Uuid>),
        (ColumnType::Bool, Cell::Bool(value)) => query.bind(value),
        (ColumnType::Integer, Cell::Integer(value)) => query.bind(value),
        (ColumnType::Float, Cell::Float(value)) => query.bind(value),
        (ColumnType::Text, Cell::Text(value)) => query.bind(value),
        (ColumnType::Bytes, Cell::Bytes(value)) => query.bind(value),
        (ColumnType::Uuid, Cell::Uuid(value)) => query.bind(value),
        (column_type, _) => Err(format!("{table}.{} is {column_type:?}", column.name).into()),
    }
}

impl Tx {
    /// Inserts rows of a network.
    pub fn insert_rows<'t>(
        &'t mut self,
        table: &'t Table,
        network: Uuid,
        rows: &'t [Vec<Cell>],
    ) -> BoxFuture<'t, Result<(), Error>> {
        Box::pin(async move {
            let max_rows = (MAX_PLACEHOLDERS / (table.columns.len() + 1)).min(MAX_ROWS);
            for rows in rows.chunks(max_rows) {
                let mut query = Query::new(self.backend(), AssertSqlSafe(table.insert(self.backend(), rows.len())));
                // The text of a full statement is worth keeping prepared.
                query.persistent = rows.len() == max_rows;
                bind(&mut query, table, network, rows).map_err(sqlx::Error::Encode)?;
                self.run_observed(query).await?;
            }
            Ok(())
        })
    }

    /// Deletes up to `limit` rows of a network; returns the number deleted.
    pub fn delete_rows<'t>(
        &'t mut self,
        table: &'t Table,
        network: Uuid,
        limit: usize,
    ) -> BoxFuture<'t, Result<u64, Error>> {
        Box::pin(async move {
            let mut query = Query::new(self.backend(), AssertSqlSafe(table.delete(limit)));
            bind(&mut query, table, network, &[]).map_err(sqlx::Error::Encode)?;
            Ok(self.run_observed(query).await?.count())
        })
    }
}

//! Whole tables of one network at a time: what moves a network from one database to another.
//!
//! The texts are put together here, from names that are part of the program.

use sqlx::{
    Arguments, Row,
    error::BoxDynError,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};
use uuid::Uuid;

use crate::{Backend, Error, Tx, Value};

/// Placeholders in one statement at most: SQLite takes 32,766.
const PLACEHOLDERS: usize = 32_000;
/// Rows in one statement at most.
const ROWS: usize = 500;

/// A column's type, one for each line of the table at the top of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Bool,
    Integer,
    Float,
    Text,
    Bytes,
    Uuid,
}

/// What is in a row's column.
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
    pub kind: Kind,
}

/// A table whose rows belong to networks: its primary key leads with `network_id`.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// How many of `columns` are, behind `network_id`, the primary key.
    pub key: usize,
    /// All columns but `network_id`, those of the key first.
    pub columns: &'static [Column],
}

impl Table {
    /// All rows of a network in the order of their keys, which is the same on both databases.
    pub(crate) fn select(&self, backend: Backend) -> String {
        let columns = if self.columns.is_empty() { "1".to_owned() } else { names(self.columns).join(", ") };
        let order = self.columns[..self.key].iter().map(|column| match (backend, column.kind) {
            (Backend::Postgres, Kind::Text) => format!("{} COLLATE \"C\"", column.name),
            _ => column.name.to_owned(),
        });
        let order = std::iter::once("network_id".to_owned()).chain(order).collect::<Vec<_>>().join(", ");
        format!("SELECT {columns} FROM {} WHERE network_id = $1 ORDER BY {order}", self.name)
    }

    /// SQLite's placeholders have no names: it would look all of them through for each.
    fn insert(&self, backend: Backend, rows: usize) -> String {
        let width = self.columns.len() + 1;
        let row = |row: usize| {
            let places = (1..=width).map(|column| match backend {
                Backend::Sqlite => "?".to_owned(),
                Backend::Postgres => format!("${}", row * width + column),
            });
            format!("({})", places.collect::<Vec<_>>().join(", "))
        };
        let rows = (0..rows).map(row).collect::<Vec<_>>().join(", ");
        let columns = std::iter::once("network_id").chain(names(self.columns)).collect::<Vec<_>>().join(", ");
        format!("INSERT INTO {} ({columns}) VALUES {rows}", self.name)
    }

    fn delete(&self, most: usize) -> String {
        let table = self.name;
        if self.key == 0 {
            return format!("DELETE FROM {table} WHERE network_id = $1");
        }
        let key = names(&self.columns[..self.key]).join(", ");
        format!(
            "DELETE FROM {table} WHERE network_id = $1 AND ({key}) IN
             (SELECT {key} FROM {table} WHERE network_id = $1 LIMIT {most})"
        )
    }
}

fn names(columns: &[Column]) -> Vec<&'static str> {
    columns.iter().map(|column| column.name).collect()
}

/// For either database's rows.
macro_rules! read_cells {
    ($name:ident, $row:ty) => {
        pub(crate) fn $name(row: &$row, columns: &[Column]) -> sqlx::Result<Vec<Cell>> {
            let cell = |(at, column): (usize, &Column)| {
                Ok(match column.kind {
                    Kind::Bool => row.try_get::<Option<bool>, _>(at)?.map(Cell::Bool),
                    Kind::Integer => row.try_get::<Option<i64>, _>(at)?.map(Cell::Integer),
                    Kind::Float => row.try_get::<Option<f64>, _>(at)?.map(Cell::Float),
                    Kind::Text => row.try_get::<Option<String>, _>(at)?.map(Cell::Text),
                    Kind::Bytes => row.try_get::<Option<Vec<u8>>, _>(at)?.map(Cell::Bytes),
                    Kind::Uuid => row.try_get::<Option<Uuid>, _>(at)?.map(Cell::Uuid),
                }
                .unwrap_or(Cell::Null))
            };
            columns.iter().enumerate().map(cell).collect()
        }
    };
}

read_cells!(sqlite_cells, SqliteRow);
read_cells!(postgres_cells, PgRow);

/// What either driver is given a statement's values in.
pub(crate) trait Values: Default {
    fn put<'v, T: Value<'v>>(&mut self, value: T) -> Result<(), BoxDynError>;
}

impl Values for SqliteArguments {
    fn put<'v, T: Value<'v>>(&mut self, value: T) -> Result<(), BoxDynError> {
        self.add(value)
    }
}

impl Values for PgArguments {
    fn put<'v, T: Value<'v>>(&mut self, value: T) -> Result<(), BoxDynError> {
        self.add(value)
    }
}

/// The network and the cells of each row; of no row the network alone.
pub(crate) fn values<V: Values>(table: &Table, network: Uuid, rows: &[Vec<Cell>]) -> Result<V, Error> {
    let mut values = V::default();
    let put = |values: &mut V, column: &Column, cell: &Cell| match (column.kind, cell) {
        (Kind::Bool, Cell::Null) => values.put(None::<bool>),
        (Kind::Integer, Cell::Null) => values.put(None::<i64>),
        (Kind::Float, Cell::Null) => values.put(None::<f64>),
        (Kind::Text, Cell::Null) => values.put(None::<&str>),
        (Kind::Bytes, Cell::Null) => values.put(None::<&[u8]>),
        (Kind::Uuid, Cell::Null) => values.put(None::<Uuid>),
        (Kind::Bool, Cell::Bool(value)) => values.put(*value),
        (Kind::Integer, Cell::Integer(value)) => values.put(*value),
        (Kind::Float, Cell::Float(value)) => values.put(*value),
        (Kind::Text, Cell::Text(value)) => values.put(value.as_str()),
        (Kind::Bytes, Cell::Bytes(value)) => values.put(value.as_slice()),
        (Kind::Uuid, Cell::Uuid(value)) => values.put(*value),
        (kind, _) => Err(format!("{}.{} is {kind:?}", table.name, column.name).into()),
    };
    let put_all = |values: &mut V| {
        if rows.is_empty() {
            values.put(network)?;
        }
        for row in rows {
            if row.len() != table.columns.len() {
                return Err(format!("{} has {} columns", table.name, table.columns.len()).into());
            }
            values.put(network)?;
            for (column, cell) in table.columns.iter().zip(row) {
                put(values, column, cell)?;
            }
        }
        Ok(())
    };
    put_all(&mut values).map_err(sqlx::Error::Encode)?;
    Ok(values)
}

impl Tx {
    /// Inserts rows of a network.
    pub async fn insert_rows(&mut self, table: &Table, network: Uuid, rows: &[Vec<Cell>]) -> Result<(), Error> {
        let at_once = (PLACEHOLDERS / (table.columns.len() + 1)).min(ROWS);
        for rows in rows.chunks(at_once) {
            // The text of a full statement is worth keeping prepared.
            let keep = rows.len() == at_once;
            self.run_built(table.insert(self.backend(), rows.len()), keep, table, network, rows).await?;
        }
        Ok(())
    }

    /// Deletes rows of a network, up to `most`; answers how many.
    pub async fn delete_rows(&mut self, table: &Table, network: Uuid, most: usize) -> Result<u64, Error> {
        self.run_built(table.delete(most), true, table, network, &[]).await
    }
}

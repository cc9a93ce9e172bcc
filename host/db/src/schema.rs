//! Columns and keys of the tables, read from the text of PostgreSQL's migrations: it is the one that tells `UUID` and bytes
//! apart. SQLite's tables have the same columns.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::bulk::{Column, ColumnType, Table};
use crate::migrate;
use crate::whole::WholeTable;

static TABLES: LazyLock<HashMap<&'static str, TableSchema>> = LazyLock::new(|| read(migrate::postgres_texts()));

/// A table's columns in their order, and the names of those in its primary key.
#[derive(Debug, Default)]
struct TableSchema {
    columns: Vec<Column>,
    key: Vec<&'static str>,
}

impl TableSchema {
    /// The columns with those of the key first, in the key's order, and the number of these.
    fn key_first(&self) -> (Vec<Column>, usize) {
        let is_key = |column: &&Column| self.key.contains(&column.name);
        let key = self.key.iter().filter_map(|name| self.columns.iter().find(|column| column.name == *name));
        let columns: Vec<Column> = key.chain(self.columns.iter().filter(|column| !is_key(column))).copied().collect();
        (columns, self.key.len())
    }
}

impl Table {
    /// The table of this name, whose primary key leads with `network_id`.
    ///
    /// # Panics
    ///
    /// If the schema has no such table.
    pub fn of_schema(name: &'static str) -> Self {
        let WholeTable { columns, key_columns, .. } = WholeTable::of_schema(name);
        assert_eq!(columns.first().map(|column| column.name), Some("network_id"), "{name} is of no network");
        // Once for each table of the program.
        Self { name, key_columns: key_columns - 1, columns: columns.leak().split_at(1).1 }
    }
}

impl WholeTable {
    /// The table of this name.
    ///
    /// # Panics
    ///
    /// If the schema has no such table.
    pub fn of_schema(name: &'static str) -> Self {
        let table = TABLES.get(name).unwrap_or_else(|| panic!("the schema has no table {name}"));
        let (columns, key_columns) = table.key_first();
        Self { name, key_columns, columns }
    }
}

/// Reads statements that are written as in the migrations: one column or constraint on a line.
fn read(texts: impl IntoIterator<Item = &'static str>) -> HashMap<&'static str, TableSchema> {
    let mut tables: HashMap<&'static str, TableSchema> = HashMap::new();
    let mut current = None;
    for line in texts.into_iter().flat_map(str::lines) {
        let statement = line.split("--").next().unwrap_or_default();
        let words: Vec<&'static str> = statement.split_whitespace().collect();
        match (&words[..], current) {
            (["CREATE", "TABLE", name, ..], _) => current = Some(*name),
            ([")" | ");", ..], _) => current = None,
            (["ALTER", "TABLE", table, "ADD", "COLUMN", column @ ..], _) => {
                add(tables.entry(table).or_default(), column);
            }
            (["ALTER", "TABLE", table, "DROP", "COLUMN", name], _) => {
                let dropped = name.trim_end_matches(';');
                tables.entry(table).or_default().columns.retain(|column| column.name != dropped);
            }
            (["PRIMARY", "KEY", ..], Some(table)) => {
                let names = line.split(['(', ')']).nth(1).unwrap_or_default();
                tables.entry(table).or_default().key = names.split(", ").collect();
            }
            (column, Some(table)) => add(tables.entry(table).or_default(), column),
            _ => {}
        }
    }
    tables
}

/// Adds a column, unless the words are a constraint.
fn add(table: &mut TableSchema, words: &[&'static str]) {
    let [name, kind, rest @ ..] = words else { return };
    let column_type = match kind.trim_end_matches([',', ';']) {
        "BOOLEAN" => ColumnType::Bool,
        "INTEGER" | "BIGINT" => ColumnType::Integer,
        "DOUBLE" => ColumnType::Float,
        "TEXT" => ColumnType::Text,
        "BYTEA" => ColumnType::Bytes,
        "UUID" => ColumnType::Uuid,
        _ => return,
    };
    let has = |first: &str, second: &str| rest.windows(2).any(|pair| pair[0] == first && pair[1].starts_with(second));
    if has("PRIMARY", "KEY") {
        table.key.push(name);
    }
    table.columns.push(Column { name, column_type, nullable: !has("NOT", "NULL") });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(table: &TableSchema) -> Vec<(&str, ColumnType)> {
        table.key_first().0.iter().map(|column| (column.name, column.column_type)).collect()
    }

    #[test]
    fn tables_are_read_with_their_later_changes() {
        let first = "-- Things.\nCREATE TABLE a (\n    network_id UUID NOT NULL,\n    -- TEXT of it.\n    b TEXT COLLATE \"C\",\n    \
                     c DOUBLE PRECISION CHECK (c > 1),\n    d BYTEA,\n    PRIMARY KEY (network_id, d)\n) WITH (fillfactor = 50);\n\
                     CREATE INDEX i ON a (b);\nCREATE TABLE e (\n    f BIGINT NOT NULL PRIMARY KEY,\n    g BOOLEAN\n);";
        let second = "ALTER TABLE a ADD COLUMN h BIGINT;\nALTER TABLE a DROP COLUMN b;";
        let tables = read([first, second]);
        let (of_a, of_e) = (&tables["a"], &tables["e"]);
        let network = ("network_id", ColumnType::Uuid);
        let rest = [("d", ColumnType::Bytes), ("c", ColumnType::Float), ("h", ColumnType::Integer)];
        assert_eq!((columns(of_a), of_a.key.len()), ([network].into_iter().chain(rest).collect(), 2));
        assert_eq!((columns(of_e), of_e.key.len()), (vec![("f", ColumnType::Integer), ("g", ColumnType::Bool)], 1));
        assert_eq!(tables.len(), 2);
        let nullable = |table: &TableSchema| table.columns.iter().map(|column| column.nullable).collect::<Vec<_>>();
        assert_eq!((nullable(of_a), nullable(of_e)), (vec![false, true, true, true], vec![false, true]));
    }
}

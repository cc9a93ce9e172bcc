//! All tables of all components. Their order in a file is the order of the components and, in each, of its declaration, but
//! for those that come last.

use std::collections::HashSet;
use std::ops::Deref;

use hub_db::{Cell, ColumnType, Table, WholeTable};

use crate::component::column::Reader;
use crate::component::{Component, TableKind, TableRule};

/// Table of networks.
const NETWORKS: &str = "networks";

/// All tables, with their columns from the schema.
#[derive(Debug)]
pub struct Tables {
    of_networks: Vec<NetworkTable>,
    moved: Vec<NetworkTable>,
    rules: Vec<&'static TableRule>,
}

/// Table of networks' rows.
#[derive(Clone, Copy, Debug)]
pub struct NetworkTable {
    table: Table,
    pub rule: &'static TableRule,
    /// Readers of the table's columns, in their order.
    readers: &'static [Reader],
}

/// A row, whose values are found by their columns.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a> {
    table: &'a Table,
    cells: &'a [Cell],
}

/// Reads a row, or returns the reason against it.
pub type RowReader = fn(&RowView<'_>) -> Result<(), String>;

impl RowView<'_> {
    /// Value in a column, if there is one.
    pub fn get(&self, column: &str) -> Option<&Cell> {
        let at = self.table.columns.iter().position(|it| it.name == column)?;
        self.cells.get(at).filter(|cell| **cell != Cell::Null)
    }

    /// Text in a column, if there is one.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.get(column) {
            Some(Cell::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Number in a column, if there is one.
    pub fn number(&self, column: &str) -> Option<i64> {
        match self.get(column) {
            Some(Cell::Integer(number)) => Some(*number),
            _ => None,
        }
    }
}

impl Deref for NetworkTable {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}

impl Tables {
    /// # Panics
    /// If two components declare the same table, or one that the schema lacks.
    pub fn new(components: &[&'static Component]) -> Self {
        let mut rules: Vec<_> = components.iter().flat_map(|component| component.tables).collect();
        let names: HashSet<_> = rules.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), rules.len(), "two components declare the same table");
        rules.sort_by_key(|rule| rule.is_last);
        let of_networks = rules.iter().filter(|rule| rule.kind != TableKind::Hub);
        let of_networks: Vec<_> = of_networks.map(|rule| NetworkTable::new(rule)).collect();
        let moved = of_networks.iter().filter(|table| table.rule.kind == TableKind::Moved).copied().collect();
        Self { of_networks, moved, rules }
    }

    /// Tables that move with a network, in the order of its file.
    pub fn moved(&self) -> &[NetworkTable] {
        &self.moved
    }

    /// Tables whose rows are deleted with their network.
    pub fn of_networks(&self) -> &[NetworkTable] {
        &self.of_networks
    }

    /// Table of networks' rows with this name.
    pub fn find(&self, name: &str) -> Option<&NetworkTable> {
        self.of_networks.iter().find(|table| table.name == name)
    }

    /// The table `networks`.
    ///
    /// # Panics
    /// If no component declares it.
    pub fn networks(&self) -> &NetworkTable {
        self.find(NETWORKS).unwrap_or_else(|| panic!("no component declares {NETWORKS}"))
    }

    /// Tables of a backup in the order of its file, those of the hub itself first.
    pub fn backed_up(&self) -> Vec<(WholeTable, &'static TableRule)> {
        let is_kept = |rule: &TableRule| rule.skipped_by_backup.is_none();
        let of_hub = self.rules.iter().filter(|rule| rule.kind == TableKind::Hub && is_kept(rule));
        let of_networks = self.of_networks.iter().filter(|table| is_kept(table.rule));
        let of_hub = of_hub.map(|rule| (WholeTable::of_schema(rule.name), *rule));
        of_hub.chain(of_networks.map(|table| (WholeTable::from(&table.table), table.rule))).collect()
    }

    /// Rules of all tables.
    pub fn rules(&self) -> &[&'static TableRule] {
        &self.rules
    }
}

impl NetworkTable {
    fn new(rule: &'static TableRule) -> Self {
        let table = Table::of_schema(rule.name);
        let is_known = |name: &str| table.columns.iter().any(|column| column.name == name);
        for column in rule.columns {
            assert!(is_known(column.name), "{} has no column {}", rule.name, column.name);
        }
        let readers = table.columns.iter().map(|column| {
            let declared = rule.columns.iter().find(|it| it.name == column.name).map(|it| it.reader);
            let reader = declared.unwrap_or_else(|| Reader::of_column(column));
            assert!(reader.fits(column.column_type), "the reader of {}.{} is for another type", rule.name, column.name);
            reader
        });
        // Once for each table of the program.
        let readers = readers.collect::<Vec<_>>().leak();
        Self { table, rule, readers }
    }

    /// Columns with texts that no reader is declared for.
    pub fn unread_texts(&self) -> impl Iterator<Item = &'static str> {
        let is_declared = |name: &str| self.rule.columns.iter().any(|column| column.name == name);
        let texts = self.table.columns.iter().filter(|column| column.column_type == ColumnType::Text);
        texts.map(|column| column.name).filter(move |name| !is_declared(name))
    }

    /// Reads a row as the hub will read it, or returns the column that cannot be read and why.
    pub fn read(&self, cells: &[Cell]) -> Result<(), String> {
        for ((column, reader), cell) in self.table.columns.iter().zip(self.readers).zip(cells) {
            reader.read(column, cell).map_err(|reason| format!("the column {}: {reason}", column.name))?;
        }
        self.rule.row.map_or(Ok(()), |read| read(&RowView { table: &self.table, cells }))
    }
}

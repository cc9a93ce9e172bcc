//! All tables of all components. Their order in a file is the order of the components and, in each, of its declaration.

use std::collections::HashSet;
use std::ops::Deref;

use hub_db::{Table, WholeTable};

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
        let rules: Vec<_> = components.iter().flat_map(|component| component.tables).collect();
        let names: HashSet<_> = rules.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), rules.len(), "two components declare the same table");
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
        Self { table: Table::of_schema(rule.name), rule }
    }
}

//! Tables that are wanted, and found.

use super::row::Row;
use crate::imports::record::{Category, ParseError};

/// A table of a tool.
#[derive(Clone, Copy, Debug)]
pub(in crate::imports) struct TableSpec {
    /// Name in lower case without its prefix.
    pub(in crate::imports) name: &'static str,
    /// Columns without which a row has no meaning.
    pub(in crate::imports) required: &'static [&'static str],
    /// Other columns that are read.
    pub(in crate::imports) optional: &'static [&'static str],
    /// Category of its records.
    pub(in crate::imports) category: Category,
}

/// Tables to read.
#[derive(Clone, Copy, Debug)]
pub(in crate::imports) struct Wanted<'w> {
    /// Tool, for messages.
    pub(in crate::imports) tool: &'static str,
    /// Prefix of the names.
    pub(in crate::imports) prefix: &'w str,
    pub(in crate::imports) tables: &'static [TableSpec],
}

impl Wanted<'_> {
    /// Table by its full name in lower case.
    pub(in crate::imports) fn find(&self, table: &str) -> Option<&'static TableSpec> {
        let name = table.strip_prefix(&self.prefix.to_lowercase())?;
        self.tables.iter().find(|spec| spec.name == name)
    }

    pub(in crate::imports) fn has(&self, table: &str) -> bool {
        self.find(table).is_some()
    }

    pub(super) fn full_name(&self, spec: &TableSpec) -> String {
        format!("{}{}", self.prefix.to_lowercase(), spec.name)
    }
}

/// Fate of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::imports) enum Taken {
    /// Understood: imported, or skipped for what it says.
    Read,
    /// Skipped because a value cannot be read.
    Unreadable(String),
}

/// A wanted table of the file.
#[derive(Clone, Debug, Default)]
pub(in crate::imports) struct FoundTable {
    pub(in crate::imports) columns: Vec<String>,
    pub(super) read: u64,
    pub(super) unreadable: u64,
    pub(super) first_reason: Option<String>,
}

impl FoundTable {
    pub(in crate::imports) fn new(columns: Vec<String>) -> Self {
        Self { columns, ..Self::default() }
    }

    pub(in crate::imports) fn has_rows(&self) -> bool {
        self.read + self.unreadable > 0
    }

    pub(in crate::imports) fn count(&mut self, taken: Taken) {
        match taken {
            Taken::Read => self.read += 1,
            Taken::Unreadable(reason) => {
                self.unreadable += 1;
                self.first_reason.get_or_insert(reason);
            }
        }
    }
}

/// Receives the rows one by one.
pub(in crate::imports) type RowSink<'a> = dyn FnMut(&Row<'_>) -> Result<Taken, ParseError> + 'a;

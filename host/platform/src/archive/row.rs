//! Rows, and their values by column.

use hub_db::{Cell, Table};

/// A row: its cells in the order of the table's columns.
pub(super) type Row = Vec<Cell>;

/// Value of a row in a column.
fn cell<'r>(table: &Table, row: &'r Row, column: &str) -> Option<&'r Cell> {
    row.get(table.columns.iter().position(|it| it.name == column)?)
}

/// Text in a row, if any.
pub(super) fn text<'r>(table: &Table, row: &'r Row, column: &str) -> Option<&'r str> {
    match cell(table, row, column) {
        Some(Cell::Text(text)) => Some(text),
        _ => None,
    }
}

/// Number in a row, if any.
pub(super) fn integer(table: &Table, row: &Row, column: &str) -> Option<i64> {
    match cell(table, row, column) {
        Some(Cell::Integer(number)) => Some(*number),
        _ => None,
    }
}

/// Bytes in a row, if any.
pub(super) fn bytes<'r>(table: &Table, row: &'r Row, column: &str) -> Option<&'r [u8]> {
    match cell(table, row, column) {
        Some(Cell::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

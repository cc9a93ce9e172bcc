//! Tables of another tool's database: of a SQL dump or of a SQLite file.
//!
//! A table that is wanted is never passed over in silence: one that is missing or without rows is noted, one of which
//! no row can be read too, and a file of which nothing can be read fails.

pub(super) mod row;
pub(super) mod spec;
mod store;

use std::collections::HashMap;

use crate::budget::Exhausted;
use crate::imports::forms::Expected;
use crate::imports::input::Input;
use crate::imports::record::{Category, Item, ParseError, Record, Remark, Sink};
use crate::imports::source::{Form, SourceFile};
use crate::imports::sql::{FoundTables, read_dump};
pub(super) use row::{EARLIEST, LATEST, Row, wrong};
use spec::{FoundTable, Taken};
pub(super) use spec::{TableSpec, Wanted};
pub(super) use store::Database;

/// Result for a row: its record, or the reason for skipping it.
pub(super) type Read = Result<(Record, Vec<Remark>), Skip>;

/// Reason for skipping a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Skip {
    /// It says something that the hub has no word for.
    Unsupported(String),
    /// A value cannot be read.
    Unreadable(String),
    /// It is no record of its own, and needs no note.
    Silent,
    /// The file cannot be read on.
    Failed(ParseError),
}

impl From<Exhausted> for Skip {
    fn from(exhausted: Exhausted) -> Self {
        Self::Failed(ParseError::exhausted(exhausted))
    }
}

impl From<String> for Skip {
    fn from(reason: String) -> Self {
        Self::Unreadable(reason)
    }
}

/// Reads the tables of a file. `read` makes a record of each row.
pub(super) fn read_tables(
    file: &SourceFile,
    wanted: &Wanted<'_>,
    sink: &mut Sink<'_>,
    mut read: impl FnMut(&TableSpec, &Row<'_>) -> Read,
) -> Result<(), ParseError> {
    let budget = sink.budget();
    let mut take = |row: &Row<'_>| -> Result<Taken, ParseError> {
        budget.steps(1).map_err(ParseError::exhausted)?;
        let Some(spec) = wanted.find(row.table) else { return Ok(Taken::Read) };
        if let Some(missing) = spec.required.iter().find(|column| !row.has(column)) {
            let message =
                format!("The table `{}` has no column `{missing}`, so it is not of {}.", row.table, wanted.tool);
            return Err(ParseError::Wrong { line: row.line, message });
        }
        let subject = || format!("{} {}", row.table, row.label());
        let (record, mut notes, taken) = match read(spec, row) {
            Ok((record, notes)) => (record, notes, Taken::Read),
            Err(Skip::Silent) => return Ok(Taken::Read),
            Err(Skip::Failed(error)) => return Err(error),
            Err(Skip::Unsupported(reason)) => {
                (Record::Skipped(spec.category), vec![Remark::new(subject(), reason)], Taken::Read)
            }
            Err(Skip::Unreadable(reason)) => {
                let taken = Taken::Unreadable(reason.clone());
                (Record::Skipped(spec.category), vec![Remark::new(subject(), reason)], taken)
            }
        };
        if row.is_guessed() {
            notes.push(Remark::new(subject(), "A text is not UTF-8; it was read as Windows-1252."));
        }
        sink.send(Item { line: row.line, record, notes })?;
        Ok(taken)
    };
    let FoundTables { tables: found, missing_end } = match file.form {
        Form::Sqlite => FoundTables { tables: file.database()?.read(wanted, budget, &mut take)?, missing_end: None },
        Form::Plain | Form::Gzip => {
            read_dump(Input::text(file.unpacked()?, budget, Expected::Dump)?, wanted, &mut take)?
        }
        Form::Zip => return Err(ParseError::whole("This is a ZIP archive; import the dump in it.")),
    };
    report(wanted, &found, sink)?;
    let Some(end) = missing_end else { return Ok(()) };
    let reason = format!("The file does not end with `{end}`, as its tool writes it: the rest may be missing.");
    let category = wanted.tables.first().map_or(Category::Punishments, |spec| spec.category);
    sink.send(Item { line: None, record: Record::Table(category), notes: vec![Remark::new("end of the file", reason)] })
}

/// Notes tables of which nothing was read; fails if that is so of all.
fn report(wanted: &Wanted<'_>, found: &HashMap<String, FoundTable>, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    if found.is_empty() {
        let names: Vec<_> = wanted.tables.iter().map(|spec| format!("`{}`", wanted.full_name(spec))).collect();
        return Err(ParseError::whole(format!(
            "There are none of the tables of {}: {}. If their names differ, set `prefix`.",
            wanted.tool,
            names.join(", ")
        )));
    }
    let unreadable: u64 = found.values().map(|table| table.unreadable).sum();
    if found.values().all(|table| table.read == 0) {
        let reason = found.values().find_map(|table| table.first_reason.as_ref());
        return Err(ParseError::whole(match reason {
            Some(reason) => format!("None of its {unreadable} rows can be read. The first: {reason}"),
            None => format!("Its tables have no rows: {}.", names_of(found)),
        }));
    }
    for spec in wanted.tables {
        let name = wanted.full_name(spec);
        let reason = match found.get(&name) {
            None => "The file does not have this table.".to_owned(),
            Some(table) if table.read > 0 => continue,
            Some(FoundTable { unreadable: 0, .. }) => "The table has no rows in this file.".to_owned(),
            Some(table) => format!("None of its {} rows can be read.", table.unreadable),
        };
        let notes = vec![Remark::new(name, reason)];
        sink.send(Item { line: None, record: Record::Table(spec.category), notes })?;
    }
    Ok(())
}

fn names_of(found: &HashMap<String, FoundTable>) -> String {
    let mut names: Vec<_> = found.keys().map(|name| format!("`{name}`")).collect();
    names.sort();
    names.join(", ")
}

//! Rules for rows that concern a player, and their changes on erasure.

use hub_db::{Cell, Column, ColumnType};
use uuid::Uuid;

use crate::clock::Millis;
use crate::component::NetworkTable;
use crate::erasure::subject::Subject;
use crate::idempotency;

const REMOVED_LINE: &str = "(removed: about an erased player)";

/// Change of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    Delete,
    Update(Vec<Cell>),
}

/// Relation of a row to a player.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Finding {
    Unrelated,
    /// The row is about the player.
    Own(Change),
    /// The row is about something else and mentions the player.
    Mention(Change),
}

/// A row of a table.
struct RowRef<'r> {
    table: &'r NetworkTable,
    cells: &'r [Cell],
}

impl<'r> RowRef<'r> {
    fn columns(&self) -> impl Iterator<Item = (&'r Column, &'r Cell)> + use<'r> {
        self.table.columns.iter().zip(self.cells)
    }

    fn index(&self, column: &str) -> Option<usize> {
        self.table.columns.iter().position(|it| it.name == column)
    }

    fn cell(&self, column: &str) -> Option<&'r Cell> {
        self.cells.get(self.index(column)?)
    }

    fn text(&self, column: &str) -> &'r str {
        match self.cell(column) {
            Some(Cell::Text(text)) => text,
            _ => "",
        }
    }
}

fn names_player(cell: &Cell, subject: &Subject) -> bool {
    match cell {
        Cell::Uuid(id) => *id == subject.player.0,
        Cell::Text(text) => subject.is_named_by_id(text),
        Cell::Bytes(bytes) => subject.is_named_by_id_in(bytes),
        Cell::Null | Cell::Bool(_) | Cell::Integer(_) | Cell::Float(_) => false,
    }
}

/// Decides the change of a row. `replacement` replaces the player's UUID in rows that stay.
pub(super) fn examine(
    table: &NetworkTable,
    cells: &[Cell],
    subject: &Subject,
    replacement: Uuid,
    now: Millis,
) -> Finding {
    let row = RowRef { table, cells };
    match table.name {
        "currency_ledger" => ledger(&row, subject, replacement),
        "server_log_lines" => log_line(&row, subject, replacement),
        "punishments" | "deliveries" | "appeals" if is_of_name(&row, subject) => Finding::Own(Change::Delete),
        "delivery_references" => reference(&row, subject, replacement, now),
        // Proof of the erasure; contains only the UUID.
        "audit_log" if row.text("action").starts_with("player.") => Finding::Unrelated,
        "audit_log" if row.text("action") == "plugin.called" => person_change(&row, subject, replacement),
        "worlds" if cells.iter().any(|cell| names_player(cell, subject)) => Finding::Own(Change::Delete),
        "idempotency_keys" => kept_answer(&row, subject, replacement),
        _ => any_row(&row, subject, replacement, now),
    }
}

fn any_row(row: &RowRef<'_>, subject: &Subject, replacement: Uuid, now: Millis) -> Finding {
    if row.table.key_of(row.cells).iter().any(|cell| names_player(cell, subject)) {
        return Finding::Own(Change::Delete);
    }
    let is_staff = |column: &Column| row.table.rule.staff.iter().any(|(uuid, _)| *uuid == column.name);
    let is_own = |(column, cell): (&Column, &Cell)| {
        column.column_type == ColumnType::Uuid && !is_staff(column) && names_player(cell, subject)
    };
    if row.columns().any(is_own) {
        return Finding::Own(Change::Delete);
    }
    let mut after = redacted(row, subject, replacement);
    for (uuid, name) in row.table.rule.staff {
        if row.cell(uuid).is_some_and(|cell| names_player(cell, subject)) {
            for index in [row.index(uuid), row.index(name)].into_iter().flatten() {
                after[index] = Cell::Null;
            }
        }
    }
    if after == row.cells {
        return Finding::Unrelated;
    }
    match row.table.name {
        // A client that read the data before must not write the UUID back.
        "player_data" => {
            raise(row, &mut after, "version");
            set(row, &mut after, "updated_at", Cell::Integer(now));
        }
        "extension_points" => raise(row, &mut after, "revision"),
        _ => {}
    }
    Finding::Mention(Change::Update(after))
}

/// Replaces the player's UUID in the row and removes names from its texts.
fn redacted(row: &RowRef<'_>, subject: &Subject, replacement: Uuid) -> Vec<Cell> {
    let cell = |(column, cell): (&Column, &Cell)| match cell {
        Cell::Text(text) if row.table.rule.prose.contains(&column.name) => {
            Cell::Text(subject.redact(text, replacement).unwrap_or_else(|| text.clone()))
        }
        Cell::Text(text) if subject.is_named_by_id(text) => {
            let replaced = subject.replace_id(text.as_bytes(), replacement);
            let replaced = replaced.and_then(|bytes| String::from_utf8(bytes).ok());
            Cell::Text(replaced.unwrap_or_else(|| text.clone()))
        }
        Cell::Bytes(bytes) => Cell::Bytes(subject.replace_id(bytes, replacement).unwrap_or_else(|| bytes.clone())),
        Cell::Uuid(id) if *id == subject.player.0 => Cell::Uuid(replacement),
        other => other.clone(),
    };
    row.columns().map(cell).collect()
}

/// Ledger entries stay, with another owner.
fn ledger(row: &RowRef<'_>, subject: &Subject, replacement: Uuid) -> Finding {
    let after = redacted(row, subject, replacement);
    if after == row.cells {
        return Finding::Unrelated;
    }
    let is_own = row.cell("owner_key").is_some_and(|cell| names_player(cell, subject));
    if is_own { Finding::Own(Change::Update(after)) } else { Finding::Mention(Change::Update(after)) }
}

/// Removes data that a person sent about the player; the entry itself stays.
fn person_change(row: &RowRef<'_>, subject: &Subject, replacement: Uuid) -> Finding {
    let mut after = redacted(row, subject, replacement);
    if after == row.cells {
        return Finding::Unrelated;
    }
    set(row, &mut after, "value_after", Cell::Null);
    Finding::Mention(Change::Update(after))
}

/// Lines are numbered without gaps, so a removed line leaves an empty one.
fn log_line(row: &RowRef<'_>, subject: &Subject, replacement: Uuid) -> Finding {
    if names_player(&row.cells[0], subject) {
        return Finding::Own(Change::Delete);
    }
    let mut after = redacted(row, subject, replacement);
    if subject.is_mentioned(row.text("text")) {
        set(row, &mut after, "text", Cell::Text(REMOVED_LINE.to_owned()));
    }
    if after == row.cells { Finding::Unrelated } else { Finding::Own(Change::Update(after)) }
}

/// A reference is kept as a hash, so that the caller who sends it again gets no second delivery.
fn reference(row: &RowRef<'_>, subject: &Subject, replacement: Uuid, now: Millis) -> Finding {
    let is_theirs = row.cell("player_uuid").is_some_and(|cell| names_player(cell, subject)) || is_of_name(row, subject);
    if !is_theirs || names_player(&row.cells[0], subject) {
        return any_row(row, subject, replacement, now);
    }
    let mut after = row.cells.to_vec();
    for column in ["values_sha256", "player_uuid", "name_folded", "state"] {
        set(row, &mut after, column, Cell::Null);
    }
    set(row, &mut after, "attempts", Cell::Integer(0));
    set(row, &mut after, "settled_at", Cell::Integer(now));
    Finding::Own(Change::Update(after))
}

/// True for a punishment, its appeal or a delivery, by one of the player's names without a UUID.
fn is_of_name(row: &RowRef<'_>, subject: &Subject) -> bool {
    row.cell("player_uuid") == Some(&Cell::Null) && subject.has_name(row.text("name_folded"))
}

/// A retry must still have no second effect: the row stays, without its response.
fn kept_answer(row: &RowRef<'_>, subject: &Subject, replacement: Uuid) -> Finding {
    if names_player(&row.cells[0], subject) {
        return Finding::Own(Change::Delete);
    }
    let mut after = redacted(row, subject, replacement);
    if let Some(Cell::Bytes(body)) = row.cell("body")
        && subject.is_mentioned(&String::from_utf8_lossy(body))
    {
        let (status, code, body) = idempotency::forgotten_answer();
        set(row, &mut after, "status", Cell::Integer(status));
        set(row, &mut after, "content_type", Cell::Null);
        set(row, &mut after, "error_code", Cell::Text(code));
        set(row, &mut after, "body", Cell::Bytes(body));
    }
    if after == row.cells { Finding::Unrelated } else { Finding::Mention(Change::Update(after)) }
}

fn set(row: &RowRef<'_>, cells: &mut [Cell], column: &str, value: Cell) {
    if let Some(index) = row.index(column) {
        cells[index] = value;
    }
}

fn raise(row: &RowRef<'_>, cells: &mut [Cell], column: &str) {
    if let Some(Cell::Integer(number)) = row.cell(column) {
        set(row, cells, column, Cell::Integer(number.saturating_add(1)));
    }
}

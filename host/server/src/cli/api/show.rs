//! Answers for people: lists as tables, objects as lines.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::cli::format::timestamp;

/// Width of a table: columns that would stand beyond it are left to `--json`.
const WIDTH: usize = 160;
/// Maximum width of a cell.
const CELL: usize = 40;
/// Times lie beyond this: 2001, in milliseconds.
const FIRST_TIME: i64 = 1_000_000_000_000;

/// An answer, which ends with a line break.
pub(super) fn answer(answer: &Value) -> String {
    match answer {
        Value::Array(rows) => table(rows),
        Value::Object(fields) => match list(fields) {
            Some((name, rows)) => format!("{}{}", table(rows), rest(fields, name)),
            None => record(fields),
        },
        other => format!("{}\n", cell("", other)),
    }
}

/// An object in a line.
pub(super) fn line(object: &Value) -> String {
    let Value::Object(fields) = object else { return object.to_string() };
    let shown = fields.iter().map(|(name, value)| format!("{name}={}", cell(name, value)));
    shown.collect::<Vec<_>>().join(" ")
}

/// The list that an answer is about: its only field of objects, unless it is about something with an id of its own.
fn list(fields: &Map<String, Value>) -> Option<(&str, &[Value])> {
    if fields.contains_key("id") && !fields.contains_key("items") {
        return None;
    }
    let mut lists = fields.iter().filter_map(|(name, value)| {
        let rows = value.as_array()?;
        (name == "items" || rows.first().is_some_and(Value::is_object)).then_some((name.as_str(), rows.as_slice()))
    });
    let first = lists.next()?;
    lists.next().is_none().then_some(first)
}

/// Fields beside the list, in a line.
fn rest(fields: &Map<String, Value>, list: &str) -> String {
    let others = fields.iter().filter(|(name, value)| *name != list && !value.is_null());
    let shown: Vec<_> = others.map(|(name, value)| format!("{name}: {}", cell(name, value))).collect();
    if shown.is_empty() { String::new() } else { format!("\n{}\n", shown.join(", ")) }
}

fn record(fields: &Map<String, Value>) -> String {
    let width = fields.keys().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut shown = String::new();
    for (name, value) in sorted(fields) {
        let text = match value {
            Value::Object(_) | Value::Array(_) => {
                let text = serde_json::to_string_pretty(value).unwrap_or_default();
                text.replace('\n', &format!("\n{}", " ".repeat(width + 2)))
            }
            _ => whole(name, value),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "{name:<width$}  {text}");
    }
    shown
}

fn table(rows: &[Value]) -> String {
    if rows.is_empty() {
        return "Nothing found.\n".to_owned();
    }
    let Some(columns) = columns(rows) else {
        return lines(rows.iter().map(|row| cell("", row)));
    };
    let cells = |name: &str| -> Vec<_> { rows.iter().map(|row| cell(name, &row[name])).collect() };
    let mut shown = vec![String::new(); rows.len() + 1];
    let mut used = 0;
    for name in columns {
        let cells = cells(&name);
        let width = cells.iter().map(|it| it.chars().count()).max().unwrap_or(0).max(name.chars().count());
        if used > 0 && used + width > WIDTH {
            continue;
        }
        used += width + 2;
        for (line, cell) in shown.iter_mut().zip(std::iter::once(&name).chain(&cells)) {
            let _ = write!(line, "{cell:<width$}  ");
        }
    }
    lines(shown.iter().map(|line| line.trim_end().to_owned()))
}

/// Texts with a line break after each.
fn lines(texts: impl Iterator<Item = String>) -> String {
    texts.fold(String::new(), |all, text| all + &text + "\n")
}

/// Columns of a table: the fields that any row has, ids and names first; none if rows are no objects.
fn columns(rows: &[Value]) -> Option<Vec<String>> {
    let mut all = Map::new();
    for row in rows {
        for (name, value) in row.as_object()? {
            if !value.is_null() {
                all.entry(name).or_insert_with(|| value.clone());
            }
        }
    }
    Some(sorted(&all).map(|(name, _)| name.clone()).collect())
}

/// Fields in the order in which people look for them: ids, names, other texts and numbers, times, and what is nested.
fn sorted(fields: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by_key(|(name, value)| rank(name, value));
    sorted.into_iter()
}

fn rank(name: &str, value: &Value) -> u8 {
    match name {
        "id" | "name" => 0,
        _ if value.is_object() || value.is_array() => 5,
        _ if is_time(value) => 4,
        _ if name.ends_with("Id") || name.ends_with("uuid") || name.ends_with("Uuid") => 1,
        _ if name.ends_with("Name") || name.ends_with("name") || matches!(name, "type" | "state" | "status") => 2,
        _ => 3,
    }
}

fn is_time(value: &Value) -> bool {
    value.as_i64().is_some_and(|value| value > FIRST_TIME)
}

fn whole(name: &str, value: &Value) -> String {
    let is_amount = name.ends_with("Ms") || name.ends_with("bytes") || name.ends_with("Bytes");
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        number if is_time(number) && !is_amount => timestamp(number),
        other => other.to_string(),
    }
}

/// Text of a cell: one line, cut where it is long.
fn cell(name: &str, value: &Value) -> String {
    let text = match value {
        Value::Array(values) if values.iter().all(|it| !it.is_object() && !it.is_array()) => {
            values.iter().map(|it| whole(name, it)).collect::<Vec<_>>().join(", ")
        }
        _ => whole(name, value),
    };
    let text = text.replace(['\n', '\t'], " ");
    if text.chars().count() <= CELL {
        return text;
    }
    text.chars().take(CELL - 1).chain(['…']).collect()
}

//! Formatting of numbers, tables and records.

use std::fmt::Write as _;

use hub_sandbox::HostCallRecord;
use hub_sandbox::test_case::one_line;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Formats a number with thousands separators.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Formats a number of things.
pub(super) fn count(many: usize, what: &str) -> String {
    if many == 1 { format!("1 {what}") } else { format!("{} {what}s", number(many as u64)) }
}

/// Formats microseconds as milliseconds.
pub(super) fn millis(micros: u64) -> String {
    format!("{}.{:02} ms", micros / 1000, micros % 1000 / 10)
}

/// Formats bytes in a suitable unit.
pub(super) fn bytes(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// Formats milliseconds since the Unix epoch as UTC; other values are a dash.
pub(super) fn timestamp(millis: &Value) -> String {
    let timestamp = millis.as_i64().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    timestamp.map_or_else(|| millis.to_string(), |timestamp| format!("{timestamp:.3}"))
}

/// Returns a text field of a JSON object, or a dash.
pub(super) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object[field].as_str().unwrap_or("-")
}

/// Formats a table with columns as wide as their widest cells.
pub(super) fn table<const N: usize>(headers: [&str; N], rows: &[[String; N]]) -> String {
    let header = headers.map(str::to_owned);
    let all = || std::iter::once(&header).chain(rows);
    let widths: Vec<_> = (0..N).map(|at| all().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let mut shown = String::new();
    for row in all() {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "{}", line.trim_end());
    }
    shown
}

/// Formats a host call and its answer.
pub(super) fn host_call(record: &HostCallRecord) -> String {
    let mut call = json!(record.call);
    let name = call["call"].as_str().unwrap_or_default().to_owned();
    if let Value::Object(fields) = &mut call {
        fields.remove("call");
    }
    let answer = match &record.answer {
        Ok(answer) => json!(answer),
        Err(error) => json!({"error": error}),
    };
    format!("{name} {} → {}", one_line(&call), one_line(&answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 9, 80, 12_345].map(millis), ["0.00 ms", "0.00 ms", "0.08 ms", "12.34 ms"]);
        assert_eq!([5, 1024, 1025, 1 << 20].map(bytes), ["5 bytes", "1 KiB", "2 KiB", "1.0 MiB"]);
        assert_eq!(timestamp(&json!(1_700_000_000_123_i64)), "2023-11-14T22:13:20.123Z");
        assert_eq!(timestamp(&json!(null)), "null");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a".to_owned(), "b".to_owned()], ["long".to_owned(), "ä".to_owned()]];
        assert_eq!(table(["x", "head"], &rows), "x     head\na     b\nlong  ä\n");
    }
}

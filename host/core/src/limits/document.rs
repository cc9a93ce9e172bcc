//! The table in `docs/reference/limits.md`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::limits::Limit;

/// A Markdown table of configurable bounds.
pub fn document(limits: impl Iterator<Item = Limit>) -> String {
    let mut table = String::from("| limit | bound | what is counted | over it |\n|---|---:|---|---|\n");
    for limit in limits {
        let (effect, description, bound) = (effect(limit), description(limit), grouped(limit.bound()));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{limit}` | {bound} | {description} | {effect} |");
    }
    table
}

/// Configurable bounds, with their names.
pub fn to_json(limits: impl Iterator<Item = Limit>) -> Value {
    let bounds = limits.map(|limit| {
        json!({
            "name": limit.to_string(), "bound": limit.bound(), "counted": description(limit), "over": effect(limit),
        })
    });
    bounds.collect()
}

fn effect(limit: Limit) -> &'static str {
    limit.effect().unwrap_or("403 `quota_exceeded`")
}

fn description(limit: Limit) -> String {
    limit.description().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats a number with thousands separators.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([7, 999, 1_000, 1_234_567].map(grouped), ["7", "999", "1,000", "1,234,567"]);
    }
}

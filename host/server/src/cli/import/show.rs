//! Human-readable output for imports.

use std::fmt::Write as _;

use serde_json::Value;

const BAR: usize = 30;

/// Formats an import's progress as one line.
pub(super) fn progress(import: &Value) -> String {
    let state = import["state"].as_str().unwrap_or_default();
    let (done, total) = (import["done"].as_u64().unwrap_or(0), import["total"].as_u64());
    let Some(total) = total else { return format!("{state:<9} reading the file") };
    let filled =
        (done * BAR as u64).checked_div(total).and_then(|filled| usize::try_from(filled).ok()).unwrap_or(BAR).min(BAR);
    format!("{state:<9} [{}{}] {done} of {total}", "#".repeat(filled), " ".repeat(BAR - filled))
}

/// Formats the reason for an import's failure.
pub(super) fn failure(import: &Value) -> String {
    let message = import["error"]["message"].as_str().unwrap_or("no reason given");
    match import["error"]["line"].as_i64() {
        Some(line) => format!("line {line}: {message}"),
        None => message.to_owned(),
    }
}

/// Formats an import with its report.
pub(super) fn import(import: &Value) -> String {
    let mut text = String::new();
    let text_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let dry = if import["dryRun"] == true { " (dry run: nothing was written)" } else { "" };
    let _ = writeln!(
        text,
        "import {} of {}: {}{dry}",
        text_of(&import["importId"]),
        text_of(&import["kind"]),
        text_of(&import["state"])
    );
    let _ = writeln!(text, "{:<12} {:>9} {:>9} {:>9} {:>9}", "", "created", "changed", "unchanged", "skipped");
    for counts in import["report"]["counts"].as_array().into_iter().flatten() {
        let count = |name: &str| counts[name].as_i64().unwrap_or(0);
        let category = text_of(&counts["category"]).to_lowercase();
        let [created, changed, unchanged, skipped] = ["created", "changed", "unchanged", "skipped"].map(count);
        let _ = writeln!(text, "{category:<12} {created:>9} {changed:>9} {unchanged:>9} {skipped:>9}");
    }
    for note in import["report"]["notes"].as_array().into_iter().flatten() {
        let line = note["line"].as_i64().map(|line| format!("line {line}, ")).unwrap_or_default();
        let _ = writeln!(text, "  {line}{}: {}", text_of(&note["subject"]), text_of(&note["reason"]));
    }
    match import["report"]["moreNotes"].as_i64() {
        Some(0) | None => {}
        Some(more) => {
            let _ = writeln!(text, "  … and {more} more");
        }
    }
    text
}

/// Formats a list of imports.
pub(super) fn list(imports: &Value) -> String {
    let mut text = String::new();
    for import in imports["items"].as_array().into_iter().flatten() {
        let dry = if import["dryRun"] == true { " dry run" } else { "" };
        let (id, kind) = (import["importId"].as_str().unwrap_or_default(), import["kind"].as_str().unwrap_or_default());
        let _ = writeln!(text, "{id} {kind:<12}{dry} {}", progress(import));
    }
    text
}

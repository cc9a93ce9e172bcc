//! Commands that are made from the document of the API.

use std::fmt::Write as _;

use super::cell;
use crate::cli::api;

/// A table of commands for each noun.
pub(super) fn tables() -> String {
    let mut text = String::new();
    let mut current = "";
    for command in api::made() {
        if command.noun != current {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n## hub {}\n\n| command | operation | answer |\n|---|---|---|\n", command.noun);
            current = command.noun;
        }
        let (usage, call, summary) = (cell(&command.usage), cell(&command.call), cell(&command.summary));
        let _ = writeln!(text, "| `{usage}` | `{call}` | {summary} |");
    }
    text
}

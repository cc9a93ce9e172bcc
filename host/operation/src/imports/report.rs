//! Results of an import's records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::import_outcome::ImportOutcome;
use crate::imports::record::{Category, Item, Record, Remark};

/// Maximum number of notes in a report, and maximum length of their parts, in characters.
const MOST_NOTES: usize = 200;
const LONGEST: usize = 300;
/// Notes on whole tables, which come last, beyond the others.
const MOST_TABLE_NOTES: usize = 50;

/// Results of a file's records; forecast for a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) counts: BTreeMap<Category, Counts>,
    pub(super) notes: Vec<Note>,
    /// Number of further notes.
    pub(super) more_notes: i64,
}

/// Number of records of a category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ImportCounts)]
pub(super) struct Counts {
    /// New records.
    #[schema(example = 120)]
    pub(super) created: i64,
    /// Changed records.
    #[schema(example = 3)]
    pub(super) changed: i64,
    /// Unchanged records.
    #[schema(example = 0)]
    pub(super) unchanged: i64,
    /// Skipped records.
    #[schema(example = 2)]
    pub(super) skipped: i64,
}

/// Part of a record that is not imported, or differs, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ImportNote)]
pub(super) struct Note {
    /// Null in files without lines.
    #[schema(example = 12)]
    pub(super) line: Option<u64>,
    #[schema(example = "group vip: r=kit\\.*")]
    pub(super) subject: String,
    #[schema(example = "The hub does not support regular expressions as nodes.")]
    pub(super) reason: String,
}

/// Result of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Imported(ImportOutcome),
    /// Skipped for this reason; a record skipped while reading has a note already.
    Skipped(Option<Remark>),
}

impl Report {
    /// Counts the result of a record.
    pub(super) fn add(&mut self, item: &Item, outcome: &Outcome) {
        let is_table = matches!(item.record, Record::Table(_));
        let mut nothing = Counts::default();
        let counts = if is_table { &mut nothing } else { self.counts.entry(item.record.category()).or_default() };
        match outcome {
            Outcome::Imported(ImportOutcome::Created) => counts.created += 1,
            Outcome::Imported(ImportOutcome::Changed) => counts.changed += 1,
            Outcome::Imported(ImportOutcome::Unchanged) => counts.unchanged += 1,
            Outcome::Skipped(_) => counts.skipped += 1,
        }
        let reason = match outcome {
            Outcome::Skipped(reason) => reason.as_ref(),
            Outcome::Imported(_) => None,
        };
        for Remark { subject, reason } in item.notes.iter().chain(reason) {
            if self.notes.len() >= MOST_NOTES + if is_table { MOST_TABLE_NOTES } else { 0 } {
                self.more_notes += 1;
                continue;
            }
            let cut = |text: &str| text.chars().take(LONGEST).collect();
            self.notes.push(Note { line: item.line, subject: cut(subject), reason: cut(reason) });
        }
    }
}

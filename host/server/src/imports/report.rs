//! What became of the records of a file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::import_outcome::ImportOutcome;
use crate::imports::record::{Category, Item, Remark};

/// The most notes of a report, and the longest part of one, in characters.
const MOST_NOTES: usize = 200;
const LONGEST: usize = 300;

/// What became of the records of a file; of a dry run, what would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) counts: BTreeMap<Category, Counts>,
    pub(super) notes: Vec<Note>,
    /// How many there are beyond `notes`.
    pub(super) more_notes: i64,
}

/// How many there were of a category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ImportCounts)]
pub(super) struct Counts {
    /// That are new.
    #[schema(example = 120)]
    pub(super) created: i64,
    /// That were there and are different now.
    #[schema(example = 3)]
    pub(super) changed: i64,
    /// That were there as they are.
    #[schema(example = 0)]
    pub(super) unchanged: i64,
    /// That are not carried over.
    #[schema(example = 2)]
    pub(super) skipped: i64,
}

/// What of a record is not carried over, or differs, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ImportNote)]
pub(super) struct Note {
    /// Null in files without lines.
    #[schema(example = 12)]
    pub(super) line: Option<u64>,
    #[schema(example = "group vip: r=kit\\.*")]
    pub(super) subject: String,
    #[schema(example = "The hub has no nodes that are regular expressions.")]
    pub(super) reason: String,
}

/// What became of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Imported(ImportOutcome),
    /// For this reason; a record that was skipped while it was read has a note already.
    Skipped(Option<Remark>),
}

impl Report {
    /// Counts what became of a record.
    pub(super) fn add(&mut self, item: &Item, outcome: &Outcome) {
        let counts = self.counts.entry(item.record.category()).or_default();
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
            if self.notes.len() >= MOST_NOTES {
                self.more_notes += 1;
                continue;
            }
            let cut = |text: &str| text.chars().take(LONGEST).collect();
            self.notes.push(Note { line: item.line, subject: cut(subject), reason: cut(reason) });
        }
    }
}

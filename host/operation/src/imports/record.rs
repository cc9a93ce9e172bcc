//! Records of a file, in order.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::budget::{Budget, Exhausted};
use crate::clock::Millis;
use crate::config_documents::DocumentImport;
use crate::economy::Amount;
use crate::permissions::{GroupImport, Node};
use crate::punishments::{ImportedPunishment, IpAddress};
use crate::values::PlayerId;

/// Record of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Record {
    /// A permission group.
    Group(GroupImport),
    /// A player's own permission nodes.
    Player { player: PlayerId, nodes: Vec<Node> },
    /// A punishment, with the key in its table.
    Punishment { key: SourceKey, punishment: Box<ImportedPunishment> },
    /// A name and an address with which a player was seen.
    Sighting { player: PlayerId, name: Option<String>, address: Option<IpAddress>, at: Millis },
    /// A player's balance.
    Balance { player: PlayerId, amount: Amount },
    /// A document, such as a track of groups.
    Track(DocumentImport),
    /// A record that is not imported, explained by a note.
    Skipped(Category),
    /// No record: a note on a whole table.
    Table(Category),
}

impl Record {
    /// Maximum number of rows.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Group(group) => group.nodes.len().max(1),
            Self::Player { nodes, .. } => nodes.len().max(1),
            _ => 1,
        }
    }

    /// True for a record of the file, which counts in the progress of its import.
    pub(super) fn is_of_file(&self) -> bool {
        !matches!(self, Self::Table(_))
    }

    pub(super) fn category(&self) -> Category {
        match self {
            Self::Group(_) => Category::Groups,
            Self::Player { .. } => Category::Players,
            Self::Punishment { .. } => Category::Punishments,
            Self::Sighting { .. } => Category::Sightings,
            Self::Balance { .. } => Category::Balances,
            Self::Track(_) => Category::Tracks,
            Self::Skipped(category) | Self::Table(category) => *category,
        }
    }
}

/// Category of records in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = ImportCategory)]
pub(super) enum Category {
    /// Permission groups.
    Groups,
    /// Tracks of groups.
    Tracks,
    /// Players with their own permission nodes.
    Players,
    /// Bans, mutes, warnings and kicks.
    Punishments,
    /// Names and addresses with which players were seen.
    Sightings,
    /// Balances.
    Balances,
}

/// Stable id of a record in its source database.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct SourceKey {
    /// For example `litebans_bans`.
    pub(super) source: String,
    /// For example `17`.
    pub(super) key: String,
}

/// A record and its position in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Item {
    /// None in files without lines.
    pub(super) line: Option<u64>,
    pub(super) record: Record,
    /// Parts that are not imported, or differ.
    pub(super) notes: Vec<Remark>,
}

/// Note for the owner about a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Remark {
    /// Subject, for example `group vip: r=kit.*`.
    pub(super) subject: String,
    pub(super) reason: String,
}

impl Remark {
    pub(super) fn new(subject: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self { subject: subject.to_string(), reason: reason.into() }
    }
}

/// Reason for stopping to read a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParseError {
    /// Invalid file, refused as a whole.
    Wrong { line: Option<u64>, message: String },
    /// The hub no longer receives the records.
    Stopped,
}

impl ParseError {
    pub(super) fn at(line: u64, message: impl Into<String>) -> Self {
        Self::Wrong { line: Some(line), message: message.into() }
    }

    /// Error at the end of the budget.
    pub(super) fn exhausted(exhausted: Exhausted) -> Self {
        Self::whole(format!("The file is too large: {exhausted}."))
    }

    pub(super) fn whole(message: impl Into<String>) -> Self {
        Self::Wrong { line: None, message: message.into() }
    }
}

/// Receives the records one by one, each drawn from the budget.
pub(super) struct Sink<'s> {
    budget: &'s Budget,
    receive: &'s mut dyn FnMut(Item) -> Result<(), ParseError>,
}

impl<'s> Sink<'s> {
    pub(super) fn new(budget: &'s Budget, receive: &'s mut dyn FnMut(Item) -> Result<(), ParseError>) -> Self {
        Self { budget, receive }
    }

    pub(super) fn budget(&self) -> &'s Budget {
        self.budget
    }

    pub(super) fn send(&mut self, item: Item) -> Result<(), ParseError> {
        self.budget.steps(1).map_err(ParseError::exhausted)?;
        (self.receive)(item)
    }
}

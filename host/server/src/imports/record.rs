//! The records of a file, in its order.

use std::fmt;

use crate::clock::Millis;
use crate::economy::Amount;
use crate::permissions::{GroupImport, Node};
use crate::punishments::{ImportedPunishment, IpAddress};
use crate::values::PlayerId;

/// A record of a file.
#[derive(Clone, Debug)]
pub(super) enum Record {
    /// A permission group.
    Group(GroupImport),
    /// A player's own permission nodes.
    Player { player: PlayerId, nodes: Vec<Node> },
    /// A punishment, by the key it has in its table.
    Punishment { key: SourceKey, punishment: Box<ImportedPunishment> },
    /// A player was seen with a name and an address.
    Sighting { player: PlayerId, name: Option<String>, address: Option<IpAddress>, at: Millis },
    /// What a player owns.
    Balance { player: PlayerId, amount: Amount },
    /// Something that is not carried over, with a note that says why.
    Skipped(Category),
}

impl Record {
    /// How many rows it is, at most.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Group(group) => group.nodes.len().max(1),
            Self::Player { nodes, .. } => nodes.len().max(1),
            _ => 1,
        }
    }

    pub(super) fn category(&self) -> Category {
        match self {
            Self::Group(_) => Category::Groups,
            Self::Player { .. } => Category::Players,
            Self::Punishment { .. } => Category::Punishments,
            Self::Sighting { .. } => Category::Sightings,
            Self::Balance { .. } => Category::Balances,
            Self::Skipped(category) => *category,
        }
    }
}

/// What the report counts separately.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = ImportCategory)]
pub(super) enum Category {
    /// Permission groups.
    Groups,
    /// Tracks of groups.
    Tracks,
    /// Players with permission nodes of their own.
    Players,
    /// Bans, mutes, warnings and kicks.
    Punishments,
    /// Names and addresses that players were seen with.
    Sightings,
    /// Balances.
    Balances,
}

/// The stable id of a record in the database that it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SourceKey {
    /// Such as `litebans_bans`.
    pub(super) source: String,
    /// Such as `17`.
    pub(super) key: String,
}

/// A record, and where it stands in the file.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// None in files without lines.
    pub(super) line: Option<u64>,
    pub(super) record: Record,
    /// What of it is not carried over, or differs.
    pub(super) notes: Vec<Remark>,
}

/// Something an owner should know about a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remark {
    /// What it is about, such as `group vip: r=kit.*`.
    pub(super) subject: String,
    pub(super) reason: String,
}

impl Remark {
    pub(super) fn new(subject: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self { subject: subject.to_string(), reason: reason.into() }
    }
}

/// Why the reading of a file ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParseError {
    /// It is not such a file; all of it is refused.
    Wrong { line: Option<u64>, message: String },
    /// The receiver has stopped, as after a cancellation.
    Stopped,
}

impl ParseError {
    pub(super) fn at(line: u64, message: impl Into<String>) -> Self {
        Self::Wrong { line: Some(line), message: message.into() }
    }

    pub(super) fn whole(message: impl Into<String>) -> Self {
        Self::Wrong { line: None, message: message.into() }
    }
}

/// Receives the records, one after the other.
pub(super) type Sink<'a> = dyn FnMut(Item) -> Result<(), ParseError> + 'a;

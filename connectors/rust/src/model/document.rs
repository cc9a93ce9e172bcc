//! Config documents and collections.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A config document.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ConfigDocument {
    /// Its group.
    pub group: String,
    /// Its name in the group.
    pub namespace: String,
    /// The document.
    pub doc: Value,
}

/// A collection with its indexes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CollectionDefinition {
    /// The collection.
    pub name: String,
    /// The field that holds a document's id.
    pub key: Option<String>,
    /// What documents are found by.
    pub indexes: Vec<CollectionIndex>,
}

/// A field that documents are found by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CollectionIndex {
    /// The field, with dots for nested ones.
    pub field: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub kind: IndexType,
}

/// What an indexed field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IndexType {
    /// Text.
    String,
    /// A number.
    Number,
    /// True or false.
    Bool,
}

/// A collection as the hub has it.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct RegisteredCollection {
    /// The collection.
    pub name: String,
    /// The field that holds a document's id.
    pub key: Option<String>,
    /// All its indexes.
    pub indexes: Vec<IndexStatus>,
}

/// An index of a collection.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct IndexStatus {
    /// The field.
    pub field: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub kind: IndexType,
    /// `READY`, or `BUILDING` while it does not have all documents.
    pub state: String,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least first.
    Ascending,
    /// The greatest first.
    Descending,
}

impl Order {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ascending => "asc",
            Self::Descending => "desc",
        }
    }
}

/// A document with its id.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct StoredDocument {
    /// The id.
    pub id: String,
    /// The document.
    pub doc: Value,
}

/// Documents in an order.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DocumentPage {
    /// The documents.
    pub items: Vec<StoredDocument>,
    /// Where the next page begins; none at the end.
    pub next_cursor: Option<String>,
}

/// Documents that were asked for by id.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct DocumentBatch {
    /// Those that exist.
    pub items: Vec<StoredDocument>,
    /// Ids whose documents did not fit; ask for them again.
    #[serde(default)]
    pub rest: Vec<String>,
}

// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether documents can be found by an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum IndexState {
    Building,
    Ready,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// What an index holds: the documents whose field is of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IndexType {
    String,
    Number,
    Bool,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionDefinition {
    /// The fields to find documents by, at most 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexes: Option<Vec<CollectionIndex>>,
    /// The field of a document that, where it is there, must hold the document's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionDefinitions {
    /// At most 100.
    pub collections: Vec<CollectionDefinition>,
}

/// The documents asked for, each once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionDocuments {
    pub items: Vec<CollectionItem>,
    /// The ids of those that did not fit into this answer, to be asked for again; absent where all did.
    pub rest: Option<Vec<String>>,
}

/// A field by which documents are found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionIndex {
    /// Names with dots between for a field in nested objects, such as `owner.name`.
    pub field: String,
    /// What the index holds.
    #[serde(rename = "type")]
    pub kind: IndexType,
}

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionItem {
    /// As it was put.
    pub doc: Value,
    pub id: String,
}

/// Documents, in the order asked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionItems {
    pub items: Vec<CollectionItem>,
    /// Where there are more: to be sent as `cursor` for the next ones. Absent at the end.
    pub next_cursor: Option<String>,
}

/// A page of documents.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionPage {
    pub items: Vec<CollectionItem>,
    /// To be sent as `cursor` for the page after this one; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DocumentDeletion {
    /// Whether there was one.
    pub deleted: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentsRequest {
    /// At most 200, as they are sent.
    pub ids: Vec<String>,
}

/// What a collection is now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredCollection {
    pub indexes: Vec<RegisteredIndex>,
    /// The field of a document that, where it is there, must hold the document's id.
    pub key: Option<String>,
    pub name: String,
}

/// What the collections are now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredCollections {
    pub collections: Vec<RegisteredCollection>,
}

/// An index of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredIndex {
    /// Names with dots between for a field in nested objects, such as `owner.name`.
    pub field: String,
    /// What the index holds.
    #[serde(rename = "type")]
    pub kind: IndexType,
    pub state: IndexState,
}

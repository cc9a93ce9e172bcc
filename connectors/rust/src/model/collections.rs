// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// State of an index.
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

/// Type of an index, which contains the documents whose field has this type.
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
    /// Fields for finding documents, at most 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexes: Option<Vec<CollectionIndex>>,
    /// Field that must contain the document's id, if the document has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionDefinitions {
    /// At most 100 collections.
    pub collections: Vec<CollectionDefinition>,
}

/// The requested documents, each once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionDocuments {
    pub items: Vec<CollectionItem>,
    /// Ids of documents that did not fit into this response, to be requested again; absent if all did.
    pub rest: Option<Vec<String>>,
}

/// Field for finding documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionIndex {
    /// Field name; names separated by dots for nested objects, for example `owner.name`.
    pub field: String,
    /// Type of the index.
    #[serde(rename = "type")]
    pub kind: IndexType,
}

/// Document in a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionItem {
    /// Document as stored.
    pub doc: Value,
    pub id: String,
}

/// Documents in the requested order.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionItems {
    pub items: Vec<CollectionItem>,
    /// `cursor` for the next documents; absent at the end.
    pub next_cursor: Option<String>,
}

/// Page of documents.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionPage {
    pub items: Vec<CollectionItem>,
    /// `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DocumentDeletion {
    /// True if the document existed.
    pub deleted: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentsRequest {
    /// At most 200 ids.
    pub ids: Vec<String>,
}

/// Current state of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredCollection {
    pub indexes: Vec<RegisteredIndex>,
    /// Field that must contain the document's id, if the document has it.
    pub key: Option<String>,
    pub name: String,
}

/// Current state of the collections.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredCollections {
    pub collections: Vec<RegisteredCollection>,
}

/// Index of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredIndex {
    /// Field name; names separated by dots for nested objects, for example `owner.name`.
    pub field: String,
    /// Type of the index.
    #[serde(rename = "type")]
    pub kind: IndexType,
    pub state: IndexState,
}

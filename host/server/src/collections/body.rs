//! Documents on the wire.

use serde::Serialize;
use utoipa::ToSchema;

use crate::collections::model::DocumentId;
use crate::collections::service::{FoundDocument, FoundPage};
use crate::http::document::Document;

/// A document in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CollectionItem {
    id: DocumentId,
    /// As it was put.
    #[schema(value_type = serde_json::Value, example = json!({"id": "red-dragons", "level": 7}))]
    doc: Document,
}

impl From<FoundDocument> for CollectionItem {
    fn from((id, doc): FoundDocument) -> Self {
        Self { id, doc }
    }
}

/// The documents asked for, each once.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CollectionDocuments {
    pub(super) items: Vec<CollectionItem>,
    /// The ids of those that did not fit into this answer, to be asked for again; absent where all did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Option<Vec<DocumentId>>, nullable = false, example = json!(["blue-dragons"]))]
    pub(super) rest: Vec<DocumentId>,
}

/// Documents, in the order asked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CollectionItems {
    items: Vec<CollectionItem>,
    /// Where there are more: to be sent as `cursor` for the next ones. Absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "WyJndWlsZHMiLCJsZXZlbCIsImFzYyIsImMwMWMiLCJyZWQiXQ")]
    next_cursor: Option<String>,
}

impl From<FoundPage> for CollectionItems {
    fn from((found, next_cursor): FoundPage) -> Self {
        Self { items: found.into_iter().map(CollectionItem::from).collect(), next_cursor }
    }
}

/// A page of documents.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CollectionPage {
    pub(super) items: Vec<CollectionItem>,
    /// To be sent as `cursor` for the page after this one; null at the end.
    #[schema(example = "WyJndWlsZHMiLCJsZXZlbCIsImFzYyIsImMwMWMiLCJyZWQiXQ")]
    pub(super) next_cursor: Option<String>,
}

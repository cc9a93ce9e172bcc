//! Documents in requests and responses.

use serde::Serialize;
use utoipa::ToSchema;

use crate::collections::model::DocumentId;
use crate::collections::service::{FoundDocument, FoundPage};
use crate::http::document::Document;

/// Document in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CollectionItem {
    id: DocumentId,
    /// Document as stored.
    #[schema(value_type = serde_json::Value, example = json!({"id": "red-dragons", "level": 7}))]
    doc: Document,
}

impl From<FoundDocument> for CollectionItem {
    fn from((id, doc): FoundDocument) -> Self {
        Self { id, doc }
    }
}

/// The requested documents, each once.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CollectionDocuments {
    pub(super) items: Vec<CollectionItem>,
    /// Ids of documents that did not fit into this response, to be requested again; absent if all did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Option<Vec<DocumentId>>, nullable = false, example = json!(["blue-dragons"]))]
    pub(super) rest: Vec<DocumentId>,
}

/// Documents in the requested order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CollectionItems {
    items: Vec<CollectionItem>,
    /// `cursor` for the next documents; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "WyJndWlsZHMiLCJsZXZlbCIsImFzYyIsImMwMWMiLCJyZWQiXQ")]
    next_cursor: Option<String>,
}

impl From<FoundPage> for CollectionItems {
    fn from((found, next_cursor): FoundPage) -> Self {
        Self { items: found.into_iter().map(CollectionItem::from).collect(), next_cursor }
    }
}

/// Page of documents.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CollectionPage {
    pub(super) items: Vec<CollectionItem>,
    /// `cursor` for the next page; null at the end.
    #[schema(example = "WyJndWlsZHMiLCJsZXZlbCIsImFzYyIsImMwMWMiLCJyZWQiXQ")]
    pub(super) next_cursor: Option<String>,
}

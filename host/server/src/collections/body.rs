//! Documents on the wire.

use serde::Serialize;
use utoipa::ToSchema;

use crate::collections::model::DocumentId;
use crate::collections::service::FoundDocument;
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

/// Documents, in the order asked.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CollectionItems {
    items: Vec<CollectionItem>,
}

impl From<Vec<FoundDocument>> for CollectionItems {
    fn from(found: Vec<FoundDocument>) -> Self {
        Self { items: found.into_iter().map(CollectionItem::from).collect() }
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

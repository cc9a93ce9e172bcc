//! Documents on the wire.

use serde::Serialize;
use utoipa::ToSchema;

use crate::collections::model::DocumentId;
use crate::collections::service::Found;
use crate::http::document::Document;

/// A document in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CollectionItem)]
pub(super) struct Item {
    id: DocumentId,
    /// As it was put.
    #[schema(value_type = serde_json::Value, example = json!({"id": "red-dragons", "level": 7}))]
    doc: Document,
}

impl From<Found> for Item {
    fn from((id, doc): Found) -> Self {
        Self { id, doc }
    }
}

/// Documents, in the order asked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CollectionItems)]
pub(super) struct Items {
    items: Vec<Item>,
}

impl From<Vec<Found>> for Items {
    fn from(found: Vec<Found>) -> Self {
        Self { items: found.into_iter().map(Item::from).collect() }
    }
}

/// A page of documents.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CollectionPage)]
pub(super) struct ItemPage {
    pub(super) items: Vec<Item>,
    /// To be sent as `cursor` for the page after this one; null at the end.
    #[schema(example = "WyJndWlsZHMiLCJsZXZlbCIsImFzYyIsImMwMWMiLCJyZWQiXQ")]
    pub(super) next_cursor: Option<String>,
}

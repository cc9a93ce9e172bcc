//! Documents by id.

use axum::extract::State;
use axum::http::HeaderName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Plugin;
use crate::collections::body::{CollectionDocuments, CollectionItem};
use crate::collections::model::{CollectionName, DocumentId};
use crate::collections::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::document::Document;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch, entity_tag};

/// Documents that one request asks for.
const MAX_IDS: usize = 200;

pub(super) fn router() -> Endpoints {
    endpoints![get_document, put_document, delete_document, get_documents: read_only ends_with_caller large_answer]
}

/// A document, with its revision as `ETag`.
type Tagged = ([(HeaderName, String); 1], Json<Document>);

async fn tagged(doc: Document) -> Tagged {
    (entity_tag(service::revision(&doc).await), Json(doc))
}

/// Get a document
///
/// Returns the document as stored. The header `ETag` has its revision, for `If-Match` of a change.
#[utoipa::path(get, path = "/api/plugin/collections/{collection}/{id}", tag = "Collections",
    security(("apiKey" = ["plugin"])), params(("collection" = CollectionName, Path), ("id" = DocumentId, Path)),
    responses((status = 200, body = serde_json::Value, headers(("ETag" = String, description = "The document's revision")),
            example = json!({"id": "red-dragons", "level": 7})),
        (status = 404, body = ErrorBody, description = "No such document or collection")))]
async fn get_document(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, id)): Path<(CollectionName, DocumentId)>,
) -> Result<Tagged, ApiError> {
    Ok(tagged(service::get(&app, caller.network, &collection, &id).await?).await)
}

/// Put a document
///
/// Stores any JSON value of at most 256 KiB, replacing any existing one, and returns it. A text in an indexed field
/// may have at most 1,024 bytes (400 `index_value_too_long`); the collection's key field, if present, must contain the
/// id (400 `key_mismatch`). The id `mget` is reserved by the route. A network's documents are limited (`documents`).
///
/// With `If-Match` only at that revision, the `ETag` of reading it, 0 if there is to be none: else it is 409
/// `revision_changed` with the document of now.
#[utoipa::path(put, path = "/api/plugin/collections/{collection}/{id}", tag = "Collections",
    security(("apiKey" = ["plugin"])), params(("collection" = CollectionName, Path), ("id" = DocumentId, Path),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    request_body(content = serde_json::Value, content_type = "application/json",
        example = json!({"id": "red-dragons", "level": 7})),
    responses((status = 200, body = serde_json::Value, headers(("ETag" = String, description = "The new revision")),
            example = json!({"id": "red-dragons", "level": 7})),
        (status = 404, body = ErrorBody, description = "No such collection"),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
async fn put_document(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, id)): Path<(CollectionName, DocumentId)>,
    expected: IfMatch,
    doc: Document,
) -> Result<Tagged, ApiError> {
    Ok(tagged(service::put(&app, caller.network, &collection, &id, (doc, expected)).await?).await)
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DocumentDeletion)]
struct DeletedDocument {
    /// True if the document existed.
    #[schema(example = true)]
    deleted: bool,
}

/// Delete a document
///
/// A missing document is not an error. With `If-Match` only at that revision: else it is 409 `revision_changed`.
#[utoipa::path(delete, path = "/api/plugin/collections/{collection}/{id}", tag = "Collections",
    security(("apiKey" = ["plugin"])), params(("collection" = CollectionName, Path), ("id" = DocumentId, Path),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = DeletedDocument), (status = 404, body = ErrorBody, description = "No such collection"),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
async fn delete_document(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, id)): Path<(CollectionName, DocumentId)>,
    expected: IfMatch,
) -> Result<Json<DeletedDocument>, ApiError> {
    Ok(Json(DeletedDocument { deleted: service::delete(&app, caller.network, &collection, &id, expected).await? }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = DocumentsRequest)]
struct GetDocuments {
    /// At most 200 ids.
    #[schema(max_items = 200)]
    ids: Vec<DocumentId>,
}

/// Get several documents
///
/// Each document once, at its first position in the request; missing ones are left out. A response has at most 4 MiB:
/// `rest` lists the documents that did not fit.
#[utoipa::path(post, path = "/api/plugin/collections/{collection}/mget", tag = "Collections",
    security(("apiKey" = ["plugin"])), params(("collection" = CollectionName, Path)),
    responses((status = 200, body = CollectionDocuments),
        (status = 404, body = ErrorBody, description = "No such collection")))]
async fn get_documents(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path(collection): Path<CollectionName>,
    Json(body): Json<GetDocuments>,
) -> Result<Json<CollectionDocuments>, ApiError> {
    if body.ids.len() > MAX_IDS {
        return Err(ApiError::invalid(format!("In the body, `ids`: must be at most {MAX_IDS}.")));
    }
    let (found, rest) = service::get_many(&app, caller.network, &collection, &body.ids).await?;
    Ok(Json(CollectionDocuments { items: found.into_iter().map(CollectionItem::from).collect(), rest }))
}

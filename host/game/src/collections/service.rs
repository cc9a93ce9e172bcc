//! The rules of collections.

use axum::http::StatusCode;
use hub_db::Tx;
use serde_json::Value;
use thiserror::Error;

use crate::app::App;
use crate::collections::answer;
use crate::collections::cursor::{IndexPosition, List};
use crate::collections::index::{self, IndexKey, MAX_TEXT_BYTES, TooLong};
use crate::collections::model::{CollectionName, DocumentId, FieldPath, IndexType, Order};
pub(super) use crate::collections::register::register;
pub(super) use crate::collections::store::StoredCollection;
use crate::collections::store::{self, IndexRange};
use crate::compute::{LARGE_JSON, compute_if};
use crate::http::document::Document;
use crate::http::error::ApiError;
use crate::http::if_match::{Changed, IfMatch, revision_of};
use crate::limits::{Limit, QuotaExceeded, Usage, check_rows, check_storage, row_bytes};
use crate::values::NetworkId;

/// Errors of requests about collections.
#[derive(Debug, Error)]
pub(super) enum CollectionsError {
    /// No such collection in the caller's network.
    #[error("This network has no collection `{0}`; register it first.")]
    UnknownCollection(CollectionName),
    /// No such document in the collection.
    #[error("The collection `{0}` has no document `{1}`.")]
    UnknownDocument(CollectionName, DocumentId),
    /// The field has no index.
    #[error("The collection `{0}` has no index of the field `{1}`; register one to search by it.")]
    NotIndexed(CollectionName, FieldPath),
    /// The index is not complete yet.
    #[error("The index of the field `{1}` of the collection `{0}` is being built; try again in a moment.")]
    Building(CollectionName, FieldPath),
    /// The route requires another index type.
    #[error("The field `{0}` is indexed as `{1}`; ranges require an index of type `number`.")]
    NoRange(FieldPath, IndexType),
    /// The value does not have the index's type.
    #[error("In the query, `value`: {0}.")]
    BadValue(&'static str),
    /// The cursor belongs to another list.
    #[error("In the query, `cursor`: must be the `nextCursor` of a page of the same field and order.")]
    BadCursor,
    /// The key field does not contain the id.
    #[error("The document's field `{0}` must contain its id, `{1}`.")]
    KeyMismatch(FieldPath, DocumentId),
    /// The text is too long for an index.
    #[error("The field `{0}` is indexed, so its text must be at most {MAX_TEXT_BYTES} bytes.")]
    ValueTooLong(FieldPath),
    /// The document contains a value that readers reject.
    #[error("The document cannot be read: {0}.")]
    Unreadable(String),
    /// The index exists with another type.
    #[error("The collection `{0}` already indexes the field `{1}` as `{2}`; the type cannot change.")]
    TypeChanged(CollectionName, FieldPath, IndexType),
    /// The collection has another key field.
    #[error("The collection `{0}` already has the key `{1}`, which cannot change.")]
    KeyChanged(CollectionName, FieldPath),
    /// Changed since its caller read it.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// Limit of the network reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<CollectionsError> for ApiError {
    fn from(error: CollectionsError) -> Self {
        use CollectionsError as E;
        let message = error.to_string();
        match error {
            E::UnknownCollection(_) => Self::not_found("unknown_collection", message),
            E::UnknownDocument(..) => Self::not_found("unknown_document", message),
            E::NotIndexed(..) => Self::bad_request("field_not_indexed", message),
            E::Building(..) => Self::new(StatusCode::SERVICE_UNAVAILABLE, "index_building", message).retry_after(1),
            E::NoRange(..) => Self::bad_request("wrong_index_type", message),
            E::BadValue(_) | E::Unreadable(_) => Self::invalid(message),
            E::BadCursor => Self::bad_request("invalid_cursor", message),
            E::KeyMismatch(..) => Self::bad_request("key_mismatch", message),
            E::ValueTooLong(_) => Self::bad_request("index_value_too_long", message),
            E::TypeChanged(..) => Self::bad_request("index_type_changed", message),
            E::KeyChanged(..) => Self::bad_request("key_changed", message),
            E::Changed(changed) => changed.into(),
            E::Quota(exceeded) => exceeded.into(),
            E::Database(error) => error.into(),
        }
    }
}

pub(super) type Result<T, E = CollectionsError> = std::result::Result<T, E>;

/// A document and its id.
pub(super) type FoundDocument = (DocumentId, Document);

async fn stored(app: &App, network: NetworkId, collection: &CollectionName) -> Result<StoredCollection> {
    let found = store::collection(&app.db, network, collection).await?;
    found.ok_or_else(|| CollectionsError::UnknownCollection(collection.clone()))
}

async fn index_type(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
) -> Result<IndexType> {
    let stored = stored(app, network, collection).await?;
    let index = stored.definition.index(field);
    let index = index.ok_or_else(|| CollectionsError::NotIndexed(collection.clone(), field.clone()))?;
    if stored.building.contains(field) {
        return Err(CollectionsError::Building(collection.clone(), field.clone()));
    }
    Ok(index.r#type)
}

/// Returns one document.
pub(super) async fn get(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<Document> {
    if let Some(doc) = store::document(&app.db, network, collection, id).await? {
        return Ok(doc);
    }
    stored(app, network, collection).await?;
    Err(CollectionsError::UnknownDocument(collection.clone(), id.clone()))
}

/// Returns the existing ones of these documents, each once in the order of the request, and the ids of those that do
/// not fit into the response.
pub(super) async fn get_many(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    ids: &[DocumentId],
) -> Result<(Vec<FoundDocument>, Vec<DocumentId>)> {
    stored(app, network, collection).await?;
    answer::by_id(app, network, collection, ids).await
}

/// Parses a document for indexing. It may be JSON that parsers refuse, such as a number out of range.
pub(super) fn parse(doc: &Document) -> Result<Value> {
    serde_json::from_str(doc.as_str()).map_err(|error| CollectionsError::Unreadable(error.to_string()))
}

/// Revision of a document.
pub(super) async fn revision(doc: &Document) -> i64 {
    compute_if(doc.as_str().len() > LARGE_JSON, || revision_of(doc)).await
}

/// Refuses the change of a document that is another one now; it then stays as it is until the transaction ends.
async fn check_revision(
    tx: &mut Tx,
    network: NetworkId,
    (collection, id): (&CollectionName, &DocumentId),
    expected: IfMatch,
) -> Result<()> {
    if expected.0.is_some() {
        // Before the definition is locked for reading: one that is not there yet cannot be locked itself.
        store::lock_definition(tx, network, collection).await?;
        expected.check(store::lock_document(tx, network, collection, id).await?.as_ref())?;
    }
    Ok(())
}

/// Stores a document under its id.
pub(super) async fn put(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
    (doc, expected): (Document, IfMatch),
) -> Result<Document> {
    let value = compute_if(doc.as_str().len() > LARGE_JSON, || parse(&doc)).await?;
    let is_there = store::exists(&app.db, network, collection, id);
    let _adding = check_rows::<CollectionsError>(app, network, store::DOCUMENTS, 1, is_there).await?;
    let bytes = row_bytes(&[collection.as_str(), id.as_str(), doc.as_str()]);
    let replaced = store::document_bytes(&app.db, network, collection, id);
    check_storage::<CollectionsError>(app, network, bytes, replaced).await?;
    app.db
        .transaction(async |mut tx| {
            check_revision(&mut tx, network, (collection, id), expected).await?;
            let definition = store::lock_definition_shared(&mut tx, network, collection).await?;
            let definition = definition.ok_or_else(|| CollectionsError::UnknownCollection(collection.clone()))?;
            if !index::id_matches(&value, definition.key.as_ref(), id) {
                let key = definition.key.map(|key| CollectionsError::KeyMismatch(key, id.clone()));
                return Err(key.unwrap_or(CollectionsError::Database(hub_db::Error::NotFound)));
            }
            let entries = index::entries(&value, &definition.indexes)
                .map_err(|TooLong(field)| CollectionsError::ValueTooLong(field))?;
            store::put_document(&mut tx, network, collection, id, &doc).await?;
            if !definition.indexes.is_empty() {
                store::delete_entries(&mut tx, network, collection, id).await?;
                store::add_entries(&mut tx, network, collection, entries.iter().map(|entry| (id, entry))).await?;
            }
            Ok(())
        })
        .await?;
    Ok(doc)
}

/// Deletes a document. True if it existed; only then its entries are deleted: otherwise they belong to a concurrent
/// write.
pub(super) async fn delete(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
    expected: IfMatch,
) -> Result<bool> {
    let deleted = app
        .db
        .transaction(async |mut tx| {
            check_revision(&mut tx, network, (collection, id), expected).await?;
            if store::lock_definition_shared(&mut tx, network, collection).await?.is_none() {
                return Err(CollectionsError::UnknownCollection(collection.clone()));
            }
            let deleted = store::delete_document(&mut tx, network, collection, id).await?;
            if deleted {
                store::delete_entries(&mut tx, network, collection, id).await?;
            }
            Ok(deleted)
        })
        .await?;
    if deleted {
        app.state::<Usage>().removed(network, Limit::Documents, 1);
    }
    Ok(deleted)
}

/// Documents of a list and the cursor of the next ones; none at the end.
pub(super) type FoundPage = (Vec<FoundDocument>, Option<String>);

/// Documents after the cursor in a range of an index, as many as fit into one response.
async fn find(
    app: &App,
    network: NetworkId,
    list: List<'_>,
    mut range: IndexRange,
    cursor: Option<&str>,
) -> Result<FoundPage> {
    if let Some(cursor) = cursor {
        let position = IndexPosition::from_cursor(cursor, list).ok_or(CollectionsError::BadCursor)?;
        range.continue_behind(position);
    }
    let limit = range.limit;
    // One extra document shows that there is another page.
    range.limit = limit.saturating_add(1);
    let mut found = store::find(&app.db, network, list.collection, list.field, range).await?;
    let has_more = found.len() as i64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    answer::page(app, network, list, found, has_more).await
}

/// Documents whose field has this value, ordered by id.
pub(super) async fn find_by_value(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
    value: &str,
    part: ListPart<'_>,
) -> Result<FoundPage> {
    let kind = index_type(app, network, collection, field).await?;
    let key = IndexKey::parse(value, kind).map_err(CollectionsError::BadValue)?;
    let before = (key.successor(), String::new());
    let range = IndexRange { after: (key, String::new()), before, order: Order::Asc, limit: part.limit };
    find(app, network, List { collection, field, order: Order::Asc }, range, part.cursor).await
}

/// Part of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListPart<'a> {
    /// End of the previous part.
    pub(super) cursor: Option<&'a str>,
    pub(super) limit: i64,
}

/// Range of numbers, both ends inclusive.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberRange {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
}

/// Documents whose field is in a range.
pub(super) async fn find_in_range(
    app: &App,
    network: NetworkId,
    list: List<'_>,
    range: NumberRange,
    part: ListPart<'_>,
) -> Result<FoundPage> {
    let List { collection, field, order } = list;
    let kind = index_type(app, network, collection, field).await?;
    if kind != IndexType::Number {
        return Err(CollectionsError::NoRange(field.clone(), kind));
    }
    let after = range.min.map_or(IndexKey::MIN, IndexKey::from_number);
    let before = range.max.map_or_else(IndexKey::upper_bound, |max| IndexKey::from_number(max).successor());
    let range = IndexRange { after: (after, String::new()), before: (before, String::new()), order, limit: part.limit };
    find(app, network, list, range, part.cursor).await
}

/// Documents of an index, from one end.
pub(super) async fn find_all(app: &App, network: NetworkId, list: List<'_>, part: ListPart<'_>) -> Result<FoundPage> {
    index_type(app, network, list.collection, list.field).await?;
    find(app, network, list, IndexRange::all(list.order, part.limit), part.cursor).await
}

//! The rules of collections.

use std::collections::HashMap;

use serde_json::Value;
use thiserror::Error;

use crate::app::App;
use crate::collections::cursor::{IndexPosition, List};
use crate::collections::index::{self, IndexKey, MAX_TEXT_BYTES, TooLong};
use crate::collections::model::{CollectionDefinition, CollectionName, DocumentId, FieldPath, IndexType, Order};
pub(super) use crate::collections::register::register;
use crate::collections::store::{self, FoundRow, IndexRange};
use crate::http::document::Document;
use crate::http::error::ApiError;
use crate::limits::{LimitError, check_storage, row_bytes};
use crate::values::NetworkId;

/// The most collections of a network.
pub(super) const MAX_COLLECTIONS: i64 = 1_000;
/// The most indexes of a collection.
pub(super) const MAX_INDEXES: usize = 16;

/// What can be wrong with a request about collections.
#[derive(Debug, Error)]
pub(super) enum CollectionsError {
    /// No such collection in the caller's network.
    #[error("This network has no collection `{0}`; register it first.")]
    UnknownCollection(CollectionName),
    /// No such document in the collection.
    #[error("The collection `{0}` has no document `{1}`.")]
    UnknownDocument(CollectionName, DocumentId),
    /// No index of the field.
    #[error("The collection `{0}` has no index of the field `{1}`; register one to search by it.")]
    NotIndexed(CollectionName, FieldPath),
    /// An index of another type than this route needs.
    #[error("The field `{0}` is indexed as `{1}`; only a field indexed as `number` has a range.")]
    NoRange(FieldPath, IndexType),
    /// What is asked for is not of the index's type.
    #[error("In the query, `value`: {0}.")]
    BadValue(&'static str),
    /// Not a cursor of this list.
    #[error("In the query, `cursor`: must be the `nextCursor` of a page of the same field and order.")]
    BadCursor,
    /// The key field holds something else than the id.
    #[error("The document's field `{0}` must hold its id, `{1}`.")]
    KeyMismatch(FieldPath, DocumentId),
    /// A text that an index cannot take.
    #[error("The field `{0}` is indexed, so its text must be at most {MAX_TEXT_BYTES} bytes.")]
    ValueTooLong(FieldPath),
    /// A stored text that a new index cannot take.
    #[error("The field `{0}` of the document `{1}` is too long to be indexed (more than {MAX_TEXT_BYTES} bytes).")]
    StoredTooLong(FieldPath, DocumentId),
    /// A document that holds something no reader takes.
    #[error("The document cannot be read: {0}.")]
    Unreadable(String),
    /// An index that is there with another type.
    #[error("The collection `{0}` has an index of the field `{1}` already, as `{2}`; its type cannot change.")]
    TypeChanged(CollectionName, FieldPath, IndexType),
    /// Another key field than the collection has.
    #[error("The key of the collection `{0}` is `{1}` already and cannot change.")]
    KeyChanged(CollectionName, FieldPath),
    /// One collection more than there may be.
    #[error("A network has at most {MAX_COLLECTIONS} collections.")]
    TooManyCollections,
    /// One index more than there may be.
    #[error("A collection has at most {MAX_INDEXES} indexes.")]
    TooManyIndexes,
    /// The network stores too much.
    #[error(transparent)]
    Limit(#[from] LimitError),
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
            E::NoRange(..) => Self::bad_request("wrong_index_type", message),
            E::BadValue(_) | E::Unreadable(_) => Self::invalid(message),
            E::BadCursor => Self::bad_request("invalid_cursor", message),
            E::KeyMismatch(..) => Self::bad_request("key_mismatch", message),
            E::ValueTooLong(_) | E::StoredTooLong(..) => Self::bad_request("index_value_too_long", message),
            E::TypeChanged(..) => Self::bad_request("index_type_changed", message),
            E::KeyChanged(..) => Self::bad_request("key_changed", message),
            E::TooManyCollections => Self::bad_request("too_many_collections", message),
            E::TooManyIndexes => Self::bad_request("too_many_indexes", message),
            E::Limit(error) => error.into(),
            E::Database(error) => error.into(),
        }
    }
}

pub(super) type Result<T, E = CollectionsError> = std::result::Result<T, E>;

/// A document and its id.
pub(super) type FoundDocument = (DocumentId, Document);

async fn definition(app: &App, network: NetworkId, collection: &CollectionName) -> Result<CollectionDefinition> {
    let found = store::definition(&app.db, network, collection).await?;
    found.ok_or_else(|| CollectionsError::UnknownCollection(collection.clone()))
}

async fn index_type(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
) -> Result<IndexType> {
    let definition = definition(app, network, collection).await?;
    let index = definition.index(field).map(|index| index.r#type);
    index.ok_or_else(|| CollectionsError::NotIndexed(collection.clone(), field.clone()))
}

/// One document.
pub(super) async fn get(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<Document> {
    if let Some(doc) = store::document(&app.db, network, collection, id).await? {
        return Ok(doc);
    }
    definition(app, network, collection).await?;
    Err(CollectionsError::UnknownDocument(collection.clone(), id.clone()))
}

/// Those of these documents that there are, in the order asked.
pub(super) async fn get_many(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    ids: &[DocumentId],
) -> Result<Vec<FoundDocument>> {
    definition(app, network, collection).await?;
    let rows = store::documents(&app.db, network, collection, ids).await?;
    let found: HashMap<_, _> = rows.into_iter().map(|row| (row.id, row.doc)).collect();
    Ok(ids.iter().filter_map(|id| Some((id.clone(), found.get(id)?.clone()))).collect())
}

/// Parses a document to index it. It may be JSON that parsers refuse, such as a number beyond all bounds.
pub(super) fn parse(doc: &Document) -> Result<Value> {
    serde_json::from_str(doc.as_str()).map_err(|error| CollectionsError::Unreadable(error.to_string()))
}

/// Stores a document under its id.
pub(super) async fn put(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
    doc: Document,
) -> Result<Document> {
    let value = parse(&doc)?;
    let bytes = row_bytes(&[collection.as_str(), id.as_str(), doc.as_str()]);
    check_storage(app, network, bytes, store::document_bytes(&app.db, network, collection, id)).await?;
    app.db
        .transaction(async |mut tx| {
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

/// Deletes a document; whether there was one. Only then its entries go: where there was none, they are those of a
/// concurrent write.
pub(super) async fn delete(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<bool> {
    app.db
        .transaction(async |mut tx| {
            if store::lock_definition_shared(&mut tx, network, collection).await?.is_none() {
                return Err(CollectionsError::UnknownCollection(collection.clone()));
            }
            let deleted = store::delete_document(&mut tx, network, collection, id).await?;
            if deleted {
                store::delete_entries(&mut tx, network, collection, id).await?;
            }
            Ok(deleted)
        })
        .await
}

async fn find(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
    range: IndexRange,
) -> Result<Vec<FoundDocument>> {
    let found = store::find(&app.db, network, collection, field, range).await?;
    Ok(found.into_iter().map(FoundRow::into_document).collect())
}

/// The documents whose field has this value, by id.
pub(super) async fn find_by_value(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
    value: &str,
    limit: i64,
) -> Result<Vec<FoundDocument>> {
    let kind = index_type(app, network, collection, field).await?;
    let key = IndexKey::parse(value, kind).map_err(CollectionsError::BadValue)?;
    let before = (key.successor(), String::new());
    let range = IndexRange { after: (key, String::new()), before, order: Order::Asc, limit };
    find(app, network, collection, field, range).await
}

/// Which numbers are wanted, both ends included.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberRange {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
}

/// The documents whose field lies in a range.
pub(super) async fn find_in_range(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
    range: NumberRange,
    order: Order,
    limit: i64,
) -> Result<Vec<FoundDocument>> {
    let kind = index_type(app, network, collection, field).await?;
    if kind != IndexType::Number {
        return Err(CollectionsError::NoRange(field.clone(), kind));
    }
    let after = range.min.map_or(IndexKey::MIN, IndexKey::from_number);
    let before = range.max.map_or_else(IndexKey::upper_bound, |max| IndexKey::from_number(max).successor());
    let range = IndexRange { after: (after, String::new()), before: (before, String::new()), order, limit };
    find(app, network, collection, field, range).await
}

/// The documents at one end of an index.
pub(super) async fn find_top(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
    order: Order,
    limit: i64,
) -> Result<Vec<FoundDocument>> {
    index_type(app, network, collection, field).await?;
    find(app, network, collection, field, IndexRange::all(order, limit)).await
}

/// A page of all documents of an index, and where the next one begins.
pub(super) async fn page(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
    cursor: Option<&str>,
    order: Order,
    limit: i64,
) -> Result<(Vec<FoundDocument>, Option<String>)> {
    index_type(app, network, collection, field).await?;
    let list = List { collection, field, order };
    // One more than wanted tells whether there is another page.
    let mut range = IndexRange::all(order, limit.saturating_add(1));
    if let Some(cursor) = cursor {
        let position = IndexPosition::from_cursor(cursor, list).ok_or(CollectionsError::BadCursor)?;
        let start = match order {
            Order::Asc => &mut range.after,
            Order::Desc => &mut range.before,
        };
        *start = (position.key, position.id.into_string());
    }
    let mut found = store::find(&app.db, network, collection, field, range).await?;
    let has_more = found.len() as i64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = found.last().filter(|_| has_more).map(|row| row.position.to_cursor(list));
    Ok((found.into_iter().map(FoundRow::into_document).collect(), next))
}

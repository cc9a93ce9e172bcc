//! All SQL of collections.

pub(super) mod builds;

use hub_db::{Db, Error, Sql, Tx};

use crate::collections::cursor::IndexPosition;
use crate::collections::index::{Entry, IndexKey};
use crate::collections::model::{CollectionDefinition, CollectionName, DocumentId, FieldPath, Order};
use crate::http::document::Document;
use crate::limits::{Limit, Rows};
use crate::values::NetworkId;

/// All documents of a network, counted by triggers.
pub(super) const DOCUMENTS: Rows = Rows::few(
    Limit::Documents,
    "SELECT CAST(COALESCE(SUM(documents), 0) AS BIGINT) FROM network_usage WHERE network_id = $1",
);

#[derive(sqlx::FromRow)]
struct DefinitionRow {
    name: CollectionName,
    key_field: Option<FieldPath>,
    indexes: String,
}

impl TryFrom<DefinitionRow> for CollectionDefinition {
    type Error = Error;

    fn try_from(row: DefinitionRow) -> Result<Self, Error> {
        let indexes = serde_json::from_str(&row.indexes).map_err(|error| sqlx::Error::Decode(error.into()))?;
        Ok(Self { name: row.name, key: row.key_field, indexes })
    }
}

/// SQLite has one writer and needs no lock.
const DEFINITION_FOR_SHARE: Sql = Sql {
    sqlite: "SELECT name, key_field, indexes FROM collections WHERE network_id = $1 AND name = $2",
    postgres: "SELECT name, key_field, indexes FROM collections WHERE network_id = $1 AND name = $2 FOR SHARE",
};

/// A collection and its incomplete indexes.
#[derive(Clone, Debug)]
pub(super) struct StoredCollection {
    pub(super) definition: CollectionDefinition,
    pub(super) building: Vec<FieldPath>,
}

#[derive(sqlx::FromRow)]
struct CollectionRow {
    #[sqlx(flatten)]
    definition: DefinitionRow,
    building: Option<String>,
}

pub(super) async fn collection(
    db: &Db,
    network: NetworkId,
    name: &CollectionName,
) -> Result<Option<StoredCollection>, Error> {
    let row: Option<CollectionRow> = db
        .query(
            "SELECT c.name, c.key_field, c.indexes, b.fields AS building
             FROM collections c
             LEFT JOIN collection_index_builds b ON b.network_id = c.network_id AND b.collection = c.name
             WHERE c.network_id = $1 AND c.name = $2",
        )
        .bind(network)
        .bind(name)
        .optional()
        .await?;
    let Some(CollectionRow { definition, building }) = row else { return Ok(None) };
    let building = building.map_or_else(|| Ok(vec![]), |fields| builds::parse_fields(&fields))?;
    Ok(Some(StoredCollection { definition: definition.try_into()?, building }))
}

/// Returns the definition and locks it against changes until the transaction ends.
pub(super) async fn lock_definition_shared(
    tx: &mut Tx,
    network: NetworkId,
    name: &CollectionName,
) -> Result<Option<CollectionDefinition>, Error> {
    let row: Option<DefinitionRow> = tx.query(DEFINITION_FOR_SHARE).bind(network).bind(name).optional().await?;
    row.map(CollectionDefinition::try_from).transpose()
}

const DEFINITION_FOR_UPDATE: Sql = Sql {
    sqlite: "SELECT name, key_field, indexes FROM collections WHERE network_id = $1 AND name = $2",
    postgres: "SELECT name, key_field, indexes FROM collections WHERE network_id = $1 AND name = $2 FOR UPDATE",
};

/// Locks the definition, if there is one, against [`lock_definition_shared`].
pub(super) async fn lock_definition(tx: &mut Tx, network: NetworkId, name: &CollectionName) -> Result<(), Error> {
    let _: Option<DefinitionRow> = tx.query(DEFINITION_FOR_UPDATE).bind(network).bind(name).optional().await?;
    Ok(())
}

/// Returns the definition, created if missing, and locks it against [`lock_definition_shared`].
pub(super) async fn lock_or_create_definition(
    tx: &mut Tx,
    network: NetworkId,
    name: &CollectionName,
) -> Result<CollectionDefinition, Error> {
    let row: DefinitionRow = tx
        .query(
            "INSERT INTO collections (network_id, name, indexes) VALUES ($1, $2, '[]')
             ON CONFLICT (network_id, name) DO UPDATE SET name = excluded.name
             RETURNING name, key_field, indexes",
        )
        .bind(network)
        .bind(name)
        .one()
        .await?;
    row.try_into()
}

pub(super) async fn update_definition(
    tx: &mut Tx,
    network: NetworkId,
    definition: &CollectionDefinition,
) -> Result<(), Error> {
    tx.query("UPDATE collections SET key_field = $3, indexes = $4 WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(&definition.name)
        .bind(&definition.key)
        .bind(to_json(&definition.indexes)?)
        .execute()
        .await?;
    Ok(())
}

fn to_json(value: &(impl serde::Serialize + ?Sized)) -> Result<String, Error> {
    Ok(serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))?)
}

pub(super) async fn count_collections(tx: &mut Tx, network: NetworkId) -> Result<i64, Error> {
    let (count,): (i64,) =
        tx.query("SELECT COUNT(*) FROM collections WHERE network_id = $1").bind(network).one().await?;
    Ok(count)
}

/// A document with its id.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct DocumentRow {
    pub(super) id: DocumentId,
    #[sqlx(try_from = "String")]
    pub(super) doc: Document,
}

pub(super) async fn exists(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<bool, Error> {
    let row: Option<(DocumentId,)> = db
        .query("SELECT id FROM collection_documents WHERE network_id = $1 AND collection = $2 AND id = $3")
        .bind(network)
        .bind(collection)
        .bind(id)
        .optional()
        .await?;
    Ok(row.is_some())
}

pub(super) async fn document(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<Option<Document>, Error> {
    let row: Option<DocumentRow> = db
        .query("SELECT id, doc FROM collection_documents WHERE network_id = $1 AND collection = $2 AND id = $3")
        .bind(network)
        .bind(collection)
        .bind(id)
        .optional()
        .await?;
    Ok(row.map(|row| row.doc))
}

const LOCK_DOCUMENT: Sql = Sql {
    sqlite: "SELECT id, doc FROM collection_documents WHERE network_id = $1 AND collection = $2 AND id = $3",
    postgres: "SELECT id, doc FROM collection_documents WHERE network_id = $1 AND collection = $2 AND id = $3 FOR UPDATE",
};

/// A document, which stays as it is until the transaction ends.
pub(super) async fn lock_document(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<Option<Document>, Error> {
    let row: Option<DocumentRow> = tx.query(LOCK_DOCUMENT).bind(network).bind(collection).bind(id).optional().await?;
    Ok(row.map(|row| row.doc))
}

/// Stored size of a document's row; 0 without one.
pub(super) async fn document_bytes(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<i64, Error> {
    let row: Option<(i64,)> = db
        .query(
            "SELECT CAST(64 + octet_length(collection) + octet_length(id) + octet_length(doc) AS BIGINT)
             FROM collection_documents WHERE network_id = $1 AND collection = $2 AND id = $3",
        )
        .bind(network)
        .bind(collection)
        .bind(id)
        .optional()
        .await?;
    Ok(row.map_or(0, |(bytes,)| bytes))
}

const DOCUMENTS_BY_ID: Sql = Sql {
    sqlite: "SELECT id, doc FROM collection_documents
             WHERE network_id = $1 AND collection = $2 AND id IN (SELECT value FROM json_each($3))",
    postgres: "SELECT id, doc FROM collection_documents WHERE network_id = $1 AND collection = $2
                 AND id IN (SELECT jsonb_array_elements_text(CAST($3 AS JSONB)))",
};

/// Existing ones of these documents, unordered.
pub(super) async fn documents(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
    ids: &[DocumentId],
) -> Result<Vec<DocumentRow>, Error> {
    db.query(DOCUMENTS_BY_ID).bind(network).bind(collection).bind(to_json(ids)?).all().await
}

/// Size of a document, and a small document itself: a list of large ones would not fit into memory.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct SizedDocument {
    bytes: i64,
    doc: Option<String>,
}

impl SizedDocument {
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// The document; none if it is large and must be read separately.
    pub(super) fn into_small(self) -> Result<Option<Document>, Error> {
        self.doc.map(Document::try_from).transpose().map_err(|error| sqlx::Error::Decode(error.into()).into())
    }
}

/// A [`SizedDocument`] with its id.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct SizedRow {
    pub(super) id: DocumentId,
    #[sqlx(flatten)]
    pub(super) sized: SizedDocument,
}

const SIZES_BY_ID: Sql = Sql {
    sqlite: "SELECT id, CAST(octet_length(doc) AS BIGINT) AS bytes,
                 CASE WHEN octet_length(doc) <= 16384 THEN doc END AS doc
             FROM collection_documents
             WHERE network_id = $1 AND collection = $2 AND id IN (SELECT value FROM json_each($3))",
    postgres: "SELECT id, CAST(octet_length(doc) AS BIGINT) AS bytes,
                   CASE WHEN octet_length(doc) <= 16384 THEN doc END AS doc
               FROM collection_documents WHERE network_id = $1 AND collection = $2
                 AND id IN (SELECT jsonb_array_elements_text(CAST($3 AS JSONB)))",
};

/// Sizes of the existing ones of these documents, unordered.
pub(super) async fn sizes(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
    ids: &[DocumentId],
) -> Result<Vec<SizedRow>, Error> {
    db.query(SIZES_BY_ID).bind(network).bind(collection).bind(to_json(ids)?).all().await
}

/// Stores a document and locks its row until the transaction ends, so that the entries of two concurrent writes do not
/// mix.
pub(super) async fn put_document(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
    doc: &Document,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO collection_documents (network_id, collection, id, doc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (network_id, collection, id) DO UPDATE SET doc = excluded.doc",
    )
    .bind(network)
    .bind(collection)
    .bind(id)
    .bind(doc.as_str())
    .execute()
    .await?;
    Ok(())
}

/// Deletes a document. True if it existed.
pub(super) async fn delete_document(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<bool, Error> {
    let deleted = tx
        .query("DELETE FROM collection_documents WHERE network_id = $1 AND collection = $2 AND id = $3")
        .bind(network)
        .bind(collection)
        .bind(id)
        .execute()
        .await?;
    Ok(deleted > 0)
}

pub(super) async fn delete_entries(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<(), Error> {
    tx.query("DELETE FROM collection_entries WHERE network_id = $1 AND collection = $2 AND id = $3")
        .bind(network)
        .bind(collection)
        .bind(id)
        .execute()
        .await?;
    Ok(())
}

const ADD_ENTRIES: Sql = Sql {
    sqlite: "INSERT INTO collection_entries (network_id, collection, id, field, value)
             SELECT $1, $2, e.value ->> 0, e.value ->> 1, unhex(e.value ->> 2) FROM json_each($3) AS e",
    postgres: "INSERT INTO collection_entries (network_id, collection, id, field, value)
               SELECT $1, $2, e.entry ->> 0, e.entry ->> 1, decode(e.entry ->> 2, 'hex')
               FROM jsonb_array_elements(CAST($3 AS JSONB)) AS e (entry)",
};

/// Adds entries of documents in one statement.
pub(super) async fn add_entries<'a>(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    entries: impl Iterator<Item = (&'a DocumentId, &'a Entry)>,
) -> Result<(), Error> {
    insert_entries(tx, ADD_ENTRIES, network, collection, entries).await
}

async fn insert_entries<'a>(
    tx: &mut Tx,
    sql: Sql,
    network: NetworkId,
    collection: &CollectionName,
    entries: impl Iterator<Item = (&'a DocumentId, &'a Entry)>,
) -> Result<(), Error> {
    let rows: Vec<_> = entries.map(|(id, (field, key))| (id, field, key.to_hex())).collect();
    if rows.is_empty() {
        return Ok(());
    }
    tx.query(sql).bind(network).bind(collection).bind(to_json(&rows)?).execute().await?;
    Ok(())
}

/// `WHERE TRUE` tells SQLite that `ON` does not belong to a join.
const ADD_MISSING_ENTRIES: Sql = Sql {
    sqlite: "INSERT INTO collection_entries (network_id, collection, id, field, value)
             SELECT $1, $2, e.value ->> 0, e.value ->> 1, unhex(e.value ->> 2) FROM json_each($3) AS e WHERE TRUE
             ON CONFLICT (network_id, collection, id, field) DO NOTHING",
    postgres: "INSERT INTO collection_entries (network_id, collection, id, field, value)
               SELECT $1, $2, e.entry ->> 0, e.entry ->> 1, decode(e.entry ->> 2, 'hex')
               FROM jsonb_array_elements(CAST($3 AS JSONB)) AS e (entry)
               ON CONFLICT (network_id, collection, id, field) DO NOTHING",
};

/// Adds the missing ones of these entries in one statement.
pub(super) async fn add_missing_entries<'a>(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    entries: impl Iterator<Item = (&'a DocumentId, &'a Entry)>,
) -> Result<(), Error> {
    insert_entries(tx, ADD_MISSING_ENTRIES, network, collection, entries).await
}

/// At most `limit` entries strictly between two positions.
#[derive(Clone, Debug)]
pub(super) struct IndexRange {
    pub(super) after: (IndexKey, String),
    pub(super) before: (IndexKey, String),
    pub(super) order: Order,
    pub(super) limit: i64,
}

impl IndexRange {
    /// Range from one end of the index.
    pub(super) fn all(order: Order, limit: i64) -> Self {
        let [after, before] = [IndexKey::MIN, IndexKey::upper_bound()].map(|key| (key, String::new()));
        Self { after, before, order, limit }
    }

    /// Starts the range after a position.
    pub(super) fn continue_behind(&mut self, position: IndexPosition) {
        let position = (position.key, position.id.into_string());
        match self.order {
            Order::Asc if position > self.after => self.after = position,
            Order::Desc if position < self.before => self.before = position,
            _ => {}
        }
    }
}

/// Document found through an index.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct FoundRow {
    #[sqlx(flatten)]
    pub(super) position: IndexPosition,
    #[sqlx(flatten)]
    pub(super) sized: SizedDocument,
}

/// `CROSS JOIN` makes SQLite begin with the index, which provides the order.
macro_rules! find {
    ($direction:literal) => {
        concat!(
            "SELECT e.value, e.id, CAST(octet_length(d.doc) AS BIGINT) AS bytes,
                 CASE WHEN octet_length(d.doc) <= 16384 THEN d.doc END AS doc
             FROM collection_entries AS e CROSS JOIN collection_documents AS d
             WHERE e.network_id = $1 AND e.collection = $2 AND e.field = $3
               AND (e.value, e.id) > ($4, $5) AND (e.value, e.id) < ($6, $7)
               AND d.network_id = $1 AND d.collection = $2 AND d.id = e.id
             ORDER BY e.value ",
            $direction,
            ", e.id ",
            $direction,
            " LIMIT $8"
        )
    };
}
const FIND_ASC: &str = find!("ASC");
const FIND_DESC: &str = find!("DESC");

/// Documents in a range of an index, in its order.
pub(super) async fn find(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
    range: IndexRange,
) -> Result<Vec<FoundRow>, Error> {
    let sql = match range.order {
        Order::Asc => FIND_ASC,
        Order::Desc => FIND_DESC,
    };
    db.query(sql)
        .bind(network)
        .bind(collection)
        .bind(field)
        .bind(&range.after.0)
        .bind(&range.after.1)
        .bind(&range.before.0)
        .bind(&range.before.1)
        .bind(range.limit)
        .all()
        .await
}

#[cfg(test)]
mod tests {
    use hub_db::Config;

    use super::*;

    /// SQLite has no statistics to plan by: it must read a list from the index in order, without sorting.
    #[tokio::test]
    async fn a_list_is_read_from_its_index() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await.unwrap();
        db.migrate().await.unwrap();
        for sql in [FIND_ASC, FIND_DESC] {
            let explain: &'static str = format!("EXPLAIN QUERY PLAN {sql}").leak();
            let plan: Vec<(i64, i64, i64, String)> = db.query(explain).all().await.unwrap();
            let plan: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
            assert_eq!(plan.len(), 2, "{plan:#?}");
            assert!(plan[0].contains("collection_entries_by_value") && plan[0].contains("value"), "{plan:#?}");
            assert!(plan[1].starts_with("SEARCH d") && plan[1].contains("id=?"), "{plan:#?}");
        }
    }
}

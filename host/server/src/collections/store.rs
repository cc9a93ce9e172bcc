//! All SQL of the room.

use hub_db::{Db, Error, Sql, Tx};

use crate::collections::cursor::Place;
use crate::collections::index::{Entry, Key};
use crate::collections::model::{CollectionName, Definition, DocumentId, FieldPath, Order};
use crate::http::document::Document;
use crate::values::NetworkId;

#[derive(sqlx::FromRow)]
struct DefinitionRow {
    name: CollectionName,
    key_field: Option<FieldPath>,
    indexes: String,
}

impl TryFrom<DefinitionRow> for Definition {
    type Error = Error;

    fn try_from(row: DefinitionRow) -> Result<Self, Error> {
        let indexes = serde_json::from_str(&row.indexes).map_err(|error| sqlx::Error::Decode(error.into()))?;
        Ok(Self { name: row.name, key: row.key_field, indexes })
    }
}

pub(super) async fn definition(
    db: &Db,
    network: NetworkId,
    name: &CollectionName,
) -> Result<Option<Definition>, Error> {
    let row: Option<DefinitionRow> = db
        .query("SELECT name, key_field, indexes FROM collections WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name.clone())
        .optional()
        .await?;
    row.map(Definition::try_from).transpose()
}

/// What [`hold_definition`] runs. SQLite has one writer, and needs no lock.
const HOLD: Sql = Sql {
    sqlite: "SELECT name, key_field, indexes FROM collections WHERE network_id = $1 AND name = $2",
    postgres: "SELECT name, key_field, indexes FROM collections WHERE network_id = $1 AND name = $2 FOR SHARE",
};

/// The definition, which stays as it is until this transaction ends.
pub(super) async fn hold_definition(
    tx: &mut Tx,
    network: NetworkId,
    name: &CollectionName,
) -> Result<Option<Definition>, Error> {
    let row: Option<DefinitionRow> = tx.query(HOLD).bind(network).bind(name.clone()).optional().await?;
    row.map(Definition::try_from).transpose()
}

/// The definition, made if there is none, for this transaction alone: who writes a document waits for it, and it waits
/// for them.
pub(super) async fn take_definition(
    tx: &mut Tx,
    network: NetworkId,
    name: &CollectionName,
) -> Result<Definition, Error> {
    let row: DefinitionRow = tx
        .query(
            "INSERT INTO collections (network_id, name, indexes) VALUES ($1, $2, '[]')
             ON CONFLICT (network_id, name) DO UPDATE SET name = excluded.name
             RETURNING name, key_field, indexes",
        )
        .bind(network)
        .bind(name.clone())
        .one()
        .await?;
    row.try_into()
}

pub(super) async fn set_definition(tx: &mut Tx, network: NetworkId, definition: &Definition) -> Result<(), Error> {
    let indexes = serde_json::to_string(&definition.indexes);
    let indexes = indexes.map_err(|error| sqlx::Error::Encode(error.into()))?;
    tx.query("UPDATE collections SET key_field = $3, indexes = $4 WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(definition.name.clone())
        .bind(definition.key.clone())
        .bind(indexes)
        .execute()
        .await?;
    Ok(())
}

pub(super) async fn count_collections(tx: &mut Tx, network: NetworkId) -> Result<i64, Error> {
    let (count,): (i64,) =
        tx.query("SELECT COUNT(*) FROM collections WHERE network_id = $1").bind(network).one().await?;
    Ok(count)
}

/// A document and its id.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct DocumentRow {
    pub(super) id: DocumentId,
    #[sqlx(try_from = "String")]
    pub(super) doc: Document,
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
        .bind(collection.clone())
        .bind(id.clone())
        .optional()
        .await?;
    Ok(row.map(|row| row.doc))
}

/// What [`documents`] runs.
const DOCUMENTS: Sql = Sql {
    sqlite: "SELECT id, doc FROM collection_documents
             WHERE network_id = $1 AND collection = $2 AND id IN (SELECT value FROM json_each($3))",
    postgres: "SELECT id, doc FROM collection_documents WHERE network_id = $1 AND collection = $2
                 AND id IN (SELECT jsonb_array_elements_text(CAST($3 AS JSONB)))",
};

/// Those of these documents that there are, in no order.
pub(super) async fn documents(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
    ids: &[DocumentId],
) -> Result<Vec<DocumentRow>, Error> {
    let ids = serde_json::to_string(ids).map_err(|error| sqlx::Error::Encode(error.into()))?;
    db.query(DOCUMENTS).bind(network).bind(collection.clone()).bind(ids).all().await
}

/// Some documents after `after`, by id.
pub(super) async fn documents_after(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    after: Option<&DocumentId>,
    limit: i64,
) -> Result<Vec<DocumentRow>, Error> {
    tx.query(
        "SELECT id, doc FROM collection_documents WHERE network_id = $1 AND collection = $2 AND id > $3
         ORDER BY id LIMIT $4",
    )
    .bind(network)
    .bind(collection.clone())
    .bind(after.map_or_else(String::new, ToString::to_string))
    .bind(limit)
    .all()
    .await
}

/// Stores a document. It holds the row until the transaction ends, so that the entries of two who store the same one
/// do not mix.
pub(super) async fn put(
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
    .bind(collection.clone())
    .bind(id.clone())
    .bind(doc.as_str().to_owned())
    .execute()
    .await?;
    Ok(())
}

/// Whether there was one.
pub(super) async fn delete(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    id: &DocumentId,
) -> Result<bool, Error> {
    let deleted = tx
        .query("DELETE FROM collection_documents WHERE network_id = $1 AND collection = $2 AND id = $3")
        .bind(network)
        .bind(collection.clone())
        .bind(id.clone())
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
        .bind(collection.clone())
        .bind(id.clone())
        .execute()
        .await?;
    Ok(())
}

/// What [`add_entries`] runs.
const ADD_ENTRIES: Sql = Sql {
    sqlite: "INSERT INTO collection_entries (network_id, collection, id, field, value)
             SELECT $1, $2, e.value ->> 0, e.value ->> 1, unhex(e.value ->> 2) FROM json_each($3) AS e",
    postgres: "INSERT INTO collection_entries (network_id, collection, id, field, value)
               SELECT $1, $2, e.entry ->> 0, e.entry ->> 1, decode(e.entry ->> 2, 'hex')
               FROM jsonb_array_elements(CAST($3 AS JSONB)) AS e (entry)",
};

/// Adds entries of documents, all in one statement.
pub(super) async fn add_entries<'a>(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    entries: impl Iterator<Item = (&'a DocumentId, &'a Entry)>,
) -> Result<(), Error> {
    let rows: Vec<_> = entries.map(|(id, (field, key))| (id, field, key.to_hex())).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let rows = serde_json::to_string(&rows).map_err(|error| sqlx::Error::Encode(error.into()))?;
    tx.query(ADD_ENTRIES).bind(network).bind(collection.clone()).bind(rows).execute().await?;
    Ok(())
}

/// Entries between two places, neither of which is meant, and how many.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) after: (Key, String),
    pub(super) before: (Key, String),
    pub(super) order: Order,
    pub(super) limit: i64,
}

/// A document found by an index, with its value there.
#[derive(Debug, sqlx::FromRow)]
struct FoundRow {
    value: Vec<u8>,
    id: DocumentId,
    #[sqlx(try_from = "String")]
    doc: Document,
}

/// `CROSS JOIN` tells SQLite to begin with the index, which has the order.
const FIND_ASC: &str = "SELECT e.value, e.id, d.doc FROM collection_entries AS e CROSS JOIN collection_documents AS d
     WHERE e.network_id = $1 AND e.collection = $2 AND e.field = $3
       AND (e.value, e.id) > ($4, $5) AND (e.value, e.id) < ($6, $7)
       AND d.network_id = $1 AND d.collection = $2 AND d.id = e.id
     ORDER BY e.value, e.id LIMIT $8";

/// As [`FIND_ASC`], from the other end.
const FIND_DESC: &str = "SELECT e.value, e.id, d.doc FROM collection_entries AS e CROSS JOIN collection_documents AS d
     WHERE e.network_id = $1 AND e.collection = $2 AND e.field = $3
       AND (e.value, e.id) > ($4, $5) AND (e.value, e.id) < ($6, $7)
       AND d.network_id = $1 AND d.collection = $2 AND d.id = e.id
     ORDER BY e.value DESC, e.id DESC LIMIT $8";

/// The documents in a span of an index, in its order, each with its place.
pub(super) async fn find(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
    field: &FieldPath,
    span: Span,
) -> Result<Vec<(Place, Document)>, Error> {
    let sql = match span.order {
        Order::Asc => FIND_ASC,
        Order::Desc => FIND_DESC,
    };
    let rows: Vec<FoundRow> = db
        .query(sql)
        .bind(network)
        .bind(collection.clone())
        .bind(field.clone())
        .bind(span.after.0.into_bytes())
        .bind(span.after.1)
        .bind(span.before.0.into_bytes())
        .bind(span.before.1)
        .bind(span.limit)
        .all()
        .await?;
    Ok(rows.into_iter().map(|row| (Place { key: Key::stored(row.value), id: row.id }, row.doc)).collect())
}

#[cfg(test)]
mod tests {
    use hub_db::Config;

    use super::*;

    /// SQLite has no statistics to plan by: a list must come out of the index in its order, without sorting.
    #[tokio::test]
    async fn a_list_comes_out_of_its_index() {
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

//! Incomplete indexes.

use hub_db::{Db, Error, Sql, Tx};

use crate::collections::model::{CollectionName, FieldPath};
use crate::collections::store::{DocumentRow, to_json};
use crate::values::NetworkId;

/// Unfinished build of a collection's indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::collections) struct IndexBuild {
    /// Indexed fields.
    pub(in crate::collections) fields: Vec<FieldPath>,
    /// Id of the last document added to the indexes.
    pub(in crate::collections) after: String,
}

#[derive(sqlx::FromRow)]
struct BuildRow {
    fields: String,
    after_id: String,
}

impl TryFrom<BuildRow> for IndexBuild {
    type Error = Error;

    fn try_from(row: BuildRow) -> Result<Self, Error> {
        Ok(Self { fields: parse_fields(&row.fields)?, after: row.after_id })
    }
}

pub(super) fn parse_fields(json: &str) -> Result<Vec<FieldPath>, Error> {
    Ok(serde_json::from_str(json).map_err(|error| sqlx::Error::Decode(error.into()))?)
}

/// Some collections with unfinished builds. Crosses networks: any node builds for all.
pub(in crate::collections) async fn unfinished(db: &Db, limit: i64) -> Result<Vec<(NetworkId, CollectionName)>, Error> {
    db.query("SELECT network_id, collection FROM collection_index_builds ORDER BY network_id, collection LIMIT $1")
        .bind(limit)
        .readable()
        .await
}

/// Unfinished build of a collection.
pub(in crate::collections) async fn find(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
) -> Result<Option<IndexBuild>, Error> {
    let row: Option<BuildRow> = db
        .query("SELECT fields, after_id FROM collection_index_builds WHERE network_id = $1 AND collection = $2")
        .bind(network)
        .bind(collection)
        .optional()
        .await?;
    row.map(IndexBuild::try_from).transpose()
}

/// The same, locked until the transaction ends; none if it is locked elsewhere.
pub(in crate::collections) async fn lock(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
) -> Result<Option<IndexBuild>, Error> {
    let row: Option<BuildRow> = tx
        .query(Sql {
            sqlite: "SELECT fields, after_id FROM collection_index_builds WHERE network_id = $1 AND collection = $2",
            postgres: "SELECT fields, after_id FROM collection_index_builds WHERE network_id = $1 AND collection = $2
                       FOR UPDATE SKIP LOCKED",
        })
        .bind(network)
        .bind(collection)
        .optional()
        .await?;
    row.map(IndexBuild::try_from).transpose()
}

/// Begins to build indexes, together with the collection's unfinished ones. The definition is locked.
pub(in crate::collections) async fn begin(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    fields: Vec<FieldPath>,
) -> Result<(), Error> {
    let unfinished: Option<BuildRow> = tx
        .query(Sql {
            sqlite: "SELECT fields, after_id FROM collection_index_builds WHERE network_id = $1 AND collection = $2",
            postgres: "SELECT fields, after_id FROM collection_index_builds WHERE network_id = $1 AND collection = $2
                       FOR UPDATE",
        })
        .bind(network)
        .bind(collection)
        .optional()
        .await?;
    let mut all = unfinished.map_or_else(|| Ok(vec![]), |row| parse_fields(&row.fields))?;
    all.extend(fields);
    tx.query(
        "INSERT INTO collection_index_builds (network_id, collection, fields, after_id) VALUES ($1, $2, $3, '')
         ON CONFLICT (network_id, collection) DO UPDATE SET fields = excluded.fields, after_id = excluded.after_id",
    )
    .bind(network)
    .bind(collection)
    .bind(to_json(&all)?)
    .execute()
    .await?;
    Ok(())
}

/// Records that the documents up to `after` are in the indexes.
pub(in crate::collections) async fn advance(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    after: &str,
) -> Result<(), Error> {
    tx.query("UPDATE collection_index_builds SET after_id = $3 WHERE network_id = $1 AND collection = $2")
        .bind(network)
        .bind(collection)
        .bind(after)
        .execute()
        .await?;
    Ok(())
}

/// Records that the indexes are complete.
pub(in crate::collections) async fn finish(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
) -> Result<(), Error> {
    tx.query("DELETE FROM collection_index_builds WHERE network_id = $1 AND collection = $2")
        .bind(network)
        .bind(collection)
        .execute()
        .await?;
    Ok(())
}

/// True if the collection has a document.
pub(in crate::collections) async fn has_documents(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
) -> Result<bool, Error> {
    let row: Option<(i64,)> = tx
        .query("SELECT CAST(1 AS BIGINT) FROM collection_documents WHERE network_id = $1 AND collection = $2 LIMIT 1")
        .bind(network)
        .bind(collection)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Ids and sizes in bytes of documents after `after`, ordered by id, without reading the documents.
pub(in crate::collections) async fn next_sizes(
    db: &Db,
    network: NetworkId,
    collection: &CollectionName,
    after: &str,
    limit: i64,
) -> Result<Vec<(String, i64)>, Error> {
    db.query(Sql {
        sqlite: "SELECT id, octet_length(doc) FROM collection_documents
                 WHERE network_id = $1 AND collection = $2 AND id > $3 ORDER BY id LIMIT $4",
        postgres: "SELECT id, CAST(octet_length(doc) AS BIGINT) FROM collection_documents
                   WHERE network_id = $1 AND collection = $2 AND id > $3 ORDER BY id LIMIT $4",
    })
    .bind(network)
    .bind(collection)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// Documents after `after` up to `last`, ordered by id, locked until this transaction ends.
pub(in crate::collections) async fn lock_documents(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    after: &str,
    last: &str,
) -> Result<Vec<DocumentRow>, Error> {
    tx.query(Sql {
        sqlite: "SELECT id, doc FROM collection_documents
                 WHERE network_id = $1 AND collection = $2 AND id > $3 AND id <= $4 ORDER BY id",
        postgres: "SELECT id, doc FROM collection_documents
                   WHERE network_id = $1 AND collection = $2 AND id > $3 AND id <= $4 ORDER BY id FOR SHARE",
    })
    .bind(network)
    .bind(collection)
    .bind(after)
    .bind(last)
    .all()
    .await
}

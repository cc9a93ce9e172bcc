//! All SQL of config documents.

use hub_db::{Db, Error, Tx};

use crate::config_documents::model::ConfigKey;
use crate::http::document::Document;
use crate::limits::{Limit, Rows};
use crate::values::NetworkId;

/// All config documents of a network.
pub(super) const CONFIG_DOCUMENTS: Rows =
    Rows::few(Limit::ConfigDocuments, "SELECT COUNT(*) FROM config_documents WHERE network_id = $1");

pub(super) async fn exists(db: &Db, network: NetworkId, key: &ConfigKey) -> Result<bool, Error> {
    let row: Option<(String,)> = db
        .query("SELECT namespace FROM config_documents WHERE network_id = $1 AND doc_group = $2 AND namespace = $3")
        .bind(network)
        .bind(&key.group)
        .bind(&key.namespace)
        .optional()
        .await?;
    Ok(row.is_some())
}

#[derive(sqlx::FromRow)]
struct DocRow {
    #[sqlx(try_from = "String")]
    doc: Document,
}

pub(super) async fn get(db: &Db, network: NetworkId, key: &ConfigKey) -> Result<Option<Document>, Error> {
    let row: Option<DocRow> = db
        .query("SELECT doc FROM config_documents WHERE network_id = $1 AND doc_group = $2 AND namespace = $3")
        .bind(network)
        .bind(&key.group)
        .bind(&key.namespace)
        .optional()
        .await?;
    Ok(row.map(|row| row.doc))
}

/// Stored size of a document's row; 0 without one.
pub(super) async fn stored_bytes(db: &Db, network: NetworkId, key: &ConfigKey) -> Result<i64, Error> {
    let row: Option<(i64,)> = db
        .query(
            "SELECT CAST(64 + octet_length(doc_group) + octet_length(namespace) + octet_length(doc) AS BIGINT)
             FROM config_documents WHERE network_id = $1 AND doc_group = $2 AND namespace = $3",
        )
        .bind(network)
        .bind(&key.group)
        .bind(&key.namespace)
        .optional()
        .await?;
    Ok(row.map_or(0, |(bytes,)| bytes))
}

/// Stores a document. True if that changed anything.
pub(super) async fn put(tx: &mut Tx, network: NetworkId, key: &ConfigKey, doc: &Document) -> Result<bool, Error> {
    const UPSERT: &str = "INSERT INTO config_documents (network_id, doc_group, namespace, doc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (network_id, doc_group, namespace) DO UPDATE SET doc = excluded.doc
         WHERE config_documents.doc <> excluded.doc";
    write(tx, UPSERT, network, key, doc).await
}

/// Stores a document if there is none. True if it was stored.
pub(super) async fn insert(tx: &mut Tx, network: NetworkId, key: &ConfigKey, doc: &Document) -> Result<bool, Error> {
    const INSERT: &str = "INSERT INTO config_documents (network_id, doc_group, namespace, doc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (network_id, doc_group, namespace) DO NOTHING";
    write(tx, INSERT, network, key, doc).await
}

async fn write(
    tx: &mut Tx,
    sql: &'static str,
    network: NetworkId,
    key: &ConfigKey,
    doc: &Document,
) -> Result<bool, Error> {
    let statement = tx.query(sql).bind(network).bind(&key.group).bind(&key.namespace).bind(doc.as_str());
    Ok(statement.execute().await? > 0)
}

/// Groups and names of the documents that a pattern in lower case matches. A network has at most 10,000.
pub(super) async fn search(
    db: &Db,
    network: NetworkId,
    pattern: &str,
    most: i64,
) -> Result<Vec<(String, String)>, Error> {
    db.query(
        "SELECT doc_group, namespace FROM config_documents
         WHERE network_id = $1 AND LOWER(doc_group || '/' || namespace) LIKE $2 ESCAPE '\\'
         ORDER BY doc_group, namespace LIMIT $3",
    )
    .bind(network)
    .bind(pattern)
    .bind(most)
    .all()
    .await
}

//! All SQL of config documents.

use hub_db::{Db, Error};

use crate::config_documents::model::ConfigKey;
use crate::http::document::Document;
use crate::values::NetworkId;

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

/// The size of a document's row, as it is counted; 0 where there is none.
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

/// Stores a document; whether that changed anything.
pub(super) async fn put(db: &Db, network: NetworkId, key: &ConfigKey, doc: &Document) -> Result<bool, Error> {
    const UPSERT: &str = "INSERT INTO config_documents (network_id, doc_group, namespace, doc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (network_id, doc_group, namespace) DO UPDATE SET doc = excluded.doc
         WHERE config_documents.doc <> excluded.doc";
    write(db, UPSERT, network, key, doc).await
}

/// Stores a document where there is none; whether there was none.
pub(super) async fn insert(db: &Db, network: NetworkId, key: &ConfigKey, doc: &Document) -> Result<bool, Error> {
    const INSERT: &str = "INSERT INTO config_documents (network_id, doc_group, namespace, doc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (network_id, doc_group, namespace) DO NOTHING";
    write(db, INSERT, network, key, doc).await
}

async fn write(db: &Db, sql: &'static str, network: NetworkId, key: &ConfigKey, doc: &Document) -> Result<bool, Error> {
    let statement = db.write(sql).bind(network).bind(&key.group).bind(&key.namespace).bind(doc.as_str());
    Ok(statement.execute().await? > 0)
}

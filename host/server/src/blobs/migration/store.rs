//! Blobs in old locations and moved blobs. Reads the tables of all moved blobs.

use hub_db::{Db, Error, Executor, Tx};
use object_store::path::Path;

use super::{Item, Kind};
use crate::blobs::INLINE_LIMIT;
use crate::clock::Millis;
use crate::values::NetworkId;

/// Number of chunks read or deleted at once.
const CHUNKS: i64 = 64;

/// Hash in the row of a blob, if any; none without a row.
pub(super) async fn find_row(on: impl Into<Executor<'_>>, item: &Item) -> Result<Option<Option<String>>, Error> {
    let mut on = on.into();
    let statement = match (item.kind, item.module()) {
        (Kind::Artifact, _) => on
            .query("SELECT sha256 FROM artifacts WHERE network_id = $1 AND artifact_id = $2")
            .bind(item.network)
            .bind(&item.name),
        (Kind::Bundle, _) => on
            .query("SELECT sha256 FROM provisioning_bundles WHERE network_id = $1 AND file_id = $2")
            .bind(item.network)
            .bind(&item.name),
        (Kind::Snapshot, _) => on
            .query("SELECT CAST(NULL AS TEXT) FROM world_blobs WHERE network_id = $1 AND blob_key = $2 AND file = $3")
            .bind(item.network)
            .bind(item.name.rsplit_once('-').map(|(blob_key, _)| blob_key))
            .bind(&item.name),
        (Kind::Upload, Some((name, version))) => on
            .query("SELECT sha256 FROM modules WHERE network_id = $1 AND name = $2 AND version = $3")
            .bind(item.network)
            .bind(name)
            .bind(version),
        (Kind::Component, Some((name, version))) => on
            .query(
                "SELECT component_id FROM modules
                 WHERE network_id = $1 AND name = $2 AND version = $3 AND component_id IS NOT NULL",
            )
            .bind(item.network)
            .bind(name)
            .bind(version),
        (_, None) => return Ok(None),
    };
    let row: Option<(Option<String>,)> = statement.optional().await?;
    Ok(row.map(|(sha256,)| sha256))
}

pub(super) async fn is_moved(db: &Db, item: &Item) -> Result<bool, Error> {
    let row: Option<(Millis,)> = db
        .query("SELECT moved_at FROM blob_moves WHERE network_id = $1 AND kind = $2 AND name = $3")
        .bind(item.network)
        .bind(item.kind.as_str())
        .bind(&item.name)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Records that a blob was moved, unless its row is gone.
pub(super) async fn insert_move(tx: &mut Tx, item: &Item, key: &Path, now: Millis) -> Result<bool, Error> {
    if find_row(&mut *tx, item).await?.is_none() {
        return Ok(false);
    }
    tx.query(
        "INSERT INTO blob_moves (network_id, kind, name, blob_key, moved_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network_id, kind, name) DO NOTHING",
    )
    .bind(item.network)
    .bind(item.kind.as_str())
    .bind(&item.name)
    .bind(key.as_ref())
    .bind(now)
    .execute()
    .await?;
    Ok(true)
}

/// Blobs moved before that time, with their keys. Crosses networks: one run covers all.
pub(super) async fn moved_before(db: &Db, before: Millis, limit: i64) -> Result<Vec<(Item, String)>, Error> {
    let rows: Vec<(NetworkId, String, String, String)> = db
        .query(
            "SELECT network_id, kind, name, blob_key FROM blob_moves WHERE moved_at <= $1 ORDER BY moved_at LIMIT $2",
        )
        .bind(before)
        .bind(limit)
        .all()
        .await?;
    let item = |(network, kind, name, key): (NetworkId, String, String, String)| {
        Some((Item { network, kind: kind.parse().ok()?, name }, key))
    };
    Ok(rows.into_iter().filter_map(item).collect())
}

pub(super) async fn forget_move(db: &Db, item: &Item) -> Result<(), Error> {
    db.write("DELETE FROM blob_moves WHERE network_id = $1 AND kind = $2 AND name = $3")
        .bind(item.network)
        .bind(item.kind.as_str())
        .bind(&item.name)
        .execute()
        .await?;
    Ok(())
}

/// Bytes of a module in an old location.
#[derive(sqlx::FromRow)]
pub(super) struct OldModule {
    pub(super) network_id: NetworkId,
    pub(super) name: String,
    pub(super) version: i64,
    part: String,
    /// Time of the first chunk; the end of time for a single row.
    pub(super) created_at: Millis,
}

impl OldModule {
    pub(super) fn item(&self) -> Option<Item> {
        let kind = self.part.parse().ok()?;
        Some(Item { network: self.network_id, kind, name: format!("{}/{}", self.name, self.version) })
    }
}

/// Modules in old locations. Crosses networks: one run covers all.
pub(super) async fn modules(db: &Db) -> Result<Vec<OldModule>, Error> {
    db.query(
        "SELECT network_id, name, version, part, created_at FROM module_pieces WHERE piece = 0
         UNION ALL SELECT network_id, name, version, 'UPLOAD', $2 FROM module_code WHERE length(upload) > $1
         UNION ALL SELECT network_id, name, version, 'COMPONENT', $2 FROM module_code WHERE length(component) > $1",
    )
    .bind(INLINE_LIMIT as i64)
    .bind(Millis::MAX)
    .all()
    .await
}

/// Reads the bytes of a module from either form in the database.
pub(super) async fn read_module(
    db: &Db,
    network: NetworkId,
    name: &str,
    version: i64,
    kind: Kind,
) -> Result<Vec<u8>, Error> {
    let row: Option<(Option<Vec<u8>>,)> = db
        .query(if kind == Kind::Upload {
            "SELECT upload FROM module_code WHERE network_id = $1 AND name = $2 AND version = $3"
        } else {
            "SELECT component FROM module_code WHERE network_id = $1 AND name = $2 AND version = $3"
        })
        .bind(network)
        .bind(name)
        .bind(version)
        .optional()
        .await?;
    match row {
        Some((Some(bytes),)) if !bytes.is_empty() => Ok(bytes),
        _ => read_chunks(db, network, name, version, kind).await,
    }
}

async fn read_chunks(db: &Db, network: NetworkId, name: &str, version: i64, kind: Kind) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    for first in (0_i64..).step_by(CHUNKS as usize) {
        let chunks: Vec<(Vec<u8>,)> = db
            .query(
                "SELECT bytes FROM module_pieces
                 WHERE network_id = $1 AND name = $2 AND version = $3 AND part = $4 AND piece >= $5 AND piece < $6
                 ORDER BY piece",
            )
            .bind(network)
            .bind(name)
            .bind(version)
            .bind(kind.as_str())
            .bind(first)
            .bind(first + CHUNKS)
            .all()
            .await?;
        for (chunk,) in &chunks {
            bytes.extend_from_slice(chunk);
        }
        if chunks.len() < CHUNKS as usize {
            break;
        }
    }
    Ok(bytes)
}

pub(super) async fn delete_chunks(
    db: &Db,
    network: NetworkId,
    name: &str,
    version: i64,
    kind: Kind,
) -> Result<(), Error> {
    for first in (0_i64..).step_by(CHUNKS as usize) {
        let deleted = db
            .write(
                "DELETE FROM module_pieces
                 WHERE network_id = $1 AND name = $2 AND version = $3 AND part = $4 AND piece >= $5 AND piece < $6",
            )
            .bind(network)
            .bind(name)
            .bind(version)
            .bind(kind.as_str())
            .bind(first)
            .bind(first + CHUNKS)
            .execute()
            .await?;
        if deleted < CHUNKS as u64 {
            break;
        }
    }
    Ok(())
}

/// Empties a large value, which means that the bytes are a blob.
pub(super) async fn clear_code(db: &Db, network: NetworkId, name: &str, version: i64, kind: Kind) -> Result<(), Error> {
    db.write(if kind == Kind::Upload {
        "UPDATE module_code SET upload = $4
         WHERE network_id = $1 AND name = $2 AND version = $3 AND length(upload) > $5"
    } else {
        "UPDATE module_code SET component = $4
         WHERE network_id = $1 AND name = $2 AND version = $3 AND length(component) > $5"
    })
    .bind(network)
    .bind(name)
    .bind(version)
    .bind(Vec::<u8>::new())
    .bind(INLINE_LIMIT as i64)
    .execute()
    .await?;
    Ok(())
}

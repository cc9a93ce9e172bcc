//! Names, versions and their bytes.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;
use crate::modules::model::{ModuleRow, ModuleState, Points};
use crate::modules::store::pieces::{self, Part, Whose};
use crate::values::NetworkId;

pub(in crate::modules) struct NewVersion {
    pub(in crate::modules) name: String,
    pub(in crate::modules) version: i64,
    pub(in crate::modules) sha256: String,
    pub(in crate::modules) size_bytes: i64,
    pub(in crate::modules) created_at: Millis,
}

/// What compiling came to.
#[derive(Clone, Debug)]
pub(in crate::modules) struct Verdict {
    pub(in crate::modules) state: ModuleState,
    pub(in crate::modules) component_id: Option<String>,
    pub(in crate::modules) points: Points,
    pub(in crate::modules) world_version: Option<String>,
    pub(in crate::modules) reason: Option<String>,
}

/// Takes the name's next number. Until the transaction ends, nobody else changes anything about this name.
pub(in crate::modules) async fn next_version(tx: &mut Tx, network: NetworkId, name: &str) -> Result<i64, Error> {
    let (version,) = tx
        .query(
            "INSERT INTO module_names (network_id, name, last_version) VALUES ($1, $2, 1)
             ON CONFLICT (network_id, name) DO UPDATE SET last_version = module_names.last_version + 1
             RETURNING last_version",
        )
        .bind(network)
        .bind(name.to_owned())
        .one()
        .await?;
    Ok(version)
}

/// Until the transaction ends, nobody else changes anything about this name.
pub(in crate::modules) async fn lock_name(tx: &mut Tx, network: NetworkId, name: &str) -> Result<(), Error> {
    tx.query("UPDATE module_names SET last_version = last_version WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// What of the upload is in pieces was stored before.
pub(in crate::modules) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    new: &NewVersion,
    upload: &[u8],
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO modules (network_id, name, version, sha256, size_bytes, points, state, created_at)
         VALUES ($1, $2, $3, $4, $5, '', $6, $7)",
    )
    .bind(network)
    .bind(new.name.clone())
    .bind(new.version)
    .bind(new.sha256.clone())
    .bind(new.size_bytes)
    .bind(ModuleState::Compiling.as_str().to_owned())
    .bind(new.created_at)
    .execute()
    .await?;
    tx.query("INSERT INTO module_code (network_id, name, version, upload) VALUES ($1, $2, $3, $4)")
        .bind(network)
        .bind(new.name.clone())
        .bind(new.version)
        .bind(pieces::value(upload))
        .execute()
        .await?;
    Ok(())
}

/// Writes down what compiling came to; none where the version is gone or was settled before. What of the component is in pieces
/// was stored before.
pub(in crate::modules) async fn settle(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    version: i64,
    verdict: Verdict,
    component: Option<&[u8]>,
) -> Result<Option<ModuleRow>, Error> {
    if let Some(component) = component {
        tx.query("UPDATE module_code SET component = $4 WHERE network_id = $1 AND name = $2 AND version = $3")
            .bind(network)
            .bind(name.to_owned())
            .bind(version)
            .bind(pieces::value(component))
            .execute()
            .await?;
    }
    tx.query(
        "UPDATE modules SET state = $4, component_id = $5, points = $6, world_version = $7, reason = $8
         WHERE network_id = $1 AND name = $2 AND version = $3 AND state = 'COMPILING'
         RETURNING *",
    )
    .bind(network)
    .bind(name.to_owned())
    .bind(version)
    .bind(verdict.state.as_str().to_owned())
    .bind(verdict.component_id)
    .bind(verdict.points.to_text())
    .bind(verdict.world_version)
    .bind(verdict.reason)
    .optional()
    .await
}

pub(in crate::modules) async fn find(
    db: &Db,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<Option<ModuleRow>, Error> {
    db.query("SELECT * FROM modules WHERE network_id = $1 AND name = $2 AND version = $3")
        .bind(network)
        .bind(name.to_owned())
        .bind(version)
        .optional()
        .await
}

pub(in crate::modules) async fn is_ready(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<bool, Error> {
    let row: Option<(i64,)> = tx
        .query("SELECT version FROM modules WHERE network_id = $1 AND name = $2 AND version = $3 AND state = 'READY'")
        .bind(network)
        .bind(name.to_owned())
        .bind(version)
        .optional()
        .await?;
    Ok(row.is_some())
}

const BY_SHA256: &str = "SELECT * FROM modules WHERE network_id = $1 AND name = $2 AND sha256 = $3";

pub(in crate::modules) async fn find_same(
    db: &Db,
    network: NetworkId,
    name: &str,
    sha256: &str,
) -> Result<Option<ModuleRow>, Error> {
    db.query(BY_SHA256).bind(network).bind(name.to_owned()).bind(sha256.to_owned()).optional().await
}

pub(in crate::modules) async fn find_same_in(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    sha256: &str,
) -> Result<Option<ModuleRow>, Error> {
    tx.query(BY_SHA256).bind(network).bind(name.to_owned()).bind(sha256.to_owned()).optional().await
}

/// The newest version of each name, by name, and how many names there are.
pub(in crate::modules) async fn list_newest(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ModuleRow>, i64), Error> {
    let (total,) =
        db.query("SELECT COUNT(DISTINCT name) FROM modules WHERE network_id = $1").bind(network).one().await?;
    let rows = db
        .query(
            "SELECT m.* FROM modules m
             JOIN (SELECT name, MAX(version) AS version FROM modules WHERE network_id = $1 GROUP BY name) newest
               ON newest.name = m.name AND newest.version = m.version
             WHERE m.network_id = $1 ORDER BY m.name LIMIT $2 OFFSET $3",
        )
        .bind(network)
        .bind(limit)
        .bind(offset)
        .all()
        .await?;
    Ok((rows, total))
}

/// The name's versions, newest first, and how many there are.
pub(in crate::modules) async fn list_versions(
    db: &Db,
    network: NetworkId,
    name: &str,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ModuleRow>, i64), Error> {
    let (total,) = db
        .query("SELECT COUNT(*) FROM modules WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name.to_owned())
        .one()
        .await?;
    let rows = db
        .query("SELECT * FROM modules WHERE network_id = $1 AND name = $2 ORDER BY version DESC LIMIT $3 OFFSET $4")
        .bind(network)
        .bind(name.to_owned())
        .bind(limit)
        .bind(offset)
        .all()
        .await?;
    Ok((rows, total))
}

/// The bytes as they were uploaded.
pub(in crate::modules) async fn upload(db: &Db, whose: Whose<'_>) -> Result<Option<Vec<u8>>, Error> {
    let row: Option<(Vec<u8>,)> = db
        .query("SELECT upload FROM module_code WHERE network_id = $1 AND name = $2 AND version = $3")
        .bind(whose.network)
        .bind(whose.name.to_owned())
        .bind(whose.version)
        .optional()
        .await?;
    whole(db, whose, Part::Upload, row.map(|(bytes,)| bytes)).await
}

/// The component that runs.
pub(in crate::modules) async fn component(db: &Db, whose: Whose<'_>) -> Result<Option<Vec<u8>>, Error> {
    let row: Option<(Option<Vec<u8>>,)> = db
        .query("SELECT component FROM module_code WHERE network_id = $1 AND name = $2 AND version = $3")
        .bind(whose.network)
        .bind(whose.name.to_owned())
        .bind(whose.version)
        .optional()
        .await?;
    match row {
        Some((Some(component),)) => whole(db, whose, Part::Component, Some(component)).await,
        Some((None,)) => upload(db, whose).await,
        None => Ok(None),
    }
}

/// A value of `module_code`, or the pieces that it stands for.
async fn whole(db: &Db, whose: Whose<'_>, part: Part, value: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, Error> {
    match value {
        Some(bytes) if bytes.is_empty() => pieces::read(db, whose, part).await.map(Some),
        other => Ok(other),
    }
}

/// Deletes a version; false where there is none. Its pieces may go later.
pub(in crate::modules) async fn delete(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<bool, Error> {
    tx.query("DELETE FROM module_code WHERE network_id = $1 AND name = $2 AND version = $3")
        .bind(network)
        .bind(name.to_owned())
        .bind(version)
        .execute()
        .await?;
    let rows = tx
        .query("DELETE FROM modules WHERE network_id = $1 AND name = $2 AND version = $3")
        .bind(network)
        .bind(name.to_owned())
        .bind(version)
        .execute()
        .await?;
    Ok(rows > 0)
}

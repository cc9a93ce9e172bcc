//! Names, versions and their bytes.

use hub_db::{Db, Error, Executor, Tx};

use crate::blobs::INLINE_LIMIT;
use crate::clock::Millis;
use crate::limits::{Limit, Rows};
use crate::modules::model::{ModuleRow, ModuleState, Points};
use crate::values::NetworkId;

/// The columns of a [`ModuleRow`].
macro_rules! module_columns {
    () => {
        "name, version, sha256, component_id, size_bytes, points, world_version, manifest, state, reason, created_at,
         created_by"
    };
}

/// Reference to a version.
#[derive(Clone, Copy, Debug)]
pub(in crate::modules) struct VersionRef<'a> {
    pub(in crate::modules) network: NetworkId,
    pub(in crate::modules) name: &'a str,
    pub(in crate::modules) version: i64,
}

#[derive(Clone)]
pub(in crate::modules) struct NewVersion {
    pub(in crate::modules) name: String,
    pub(in crate::modules) version: i64,
    pub(in crate::modules) sha256: String,
    pub(in crate::modules) size_bytes: i64,
    pub(in crate::modules) created_at: Millis,
    pub(in crate::modules) created_by: Option<String>,
}

/// Outcome of compiling a version.
#[derive(Clone, Debug)]
pub(in crate::modules) struct CompileOutcome {
    pub(in crate::modules) state: ModuleState,
    pub(in crate::modules) component_id: Option<String>,
    pub(in crate::modules) points: Points,
    pub(in crate::modules) world_version: Option<String>,
    pub(in crate::modules) manifest: Option<String>,
    pub(in crate::modules) reason: Option<String>,
}

/// All versions of a network's modules.
pub(in crate::modules) const MODULES: Rows =
    Rows::few(Limit::Modules, "SELECT COUNT(*) FROM modules WHERE network_id = $1");

pub(in crate::modules) async fn next_version(tx: &mut Tx, network: NetworkId, name: &str) -> Result<i64, Error> {
    let (version,) = tx
        .query(
            "INSERT INTO module_names (network_id, name, last_version) VALUES ($1, $2, 1)
             ON CONFLICT (network_id, name) DO UPDATE SET last_version = module_names.last_version + 1
             RETURNING last_version",
        )
        .bind(network)
        .bind(name)
        .one()
        .await?;
    Ok(version)
}

/// Versions that a key or person uploaded.
pub(in crate::modules) async fn of_creator(
    tx: &mut Tx,
    network: NetworkId,
    creator: &str,
) -> Result<Vec<(String, i64)>, Error> {
    tx.query("SELECT name, version FROM modules WHERE network_id = $1 AND created_by = $2 ORDER BY name, version")
        .bind(network)
        .bind(creator)
        .all()
        .await
}

/// Has the versions of a key count as another's.
pub(in crate::modules) async fn pass_on(
    tx: &mut Tx,
    network: NetworkId,
    from: &str,
    to: Option<&str>,
) -> Result<(), Error> {
    let pass = "UPDATE modules SET created_by = $3 WHERE network_id = $1 AND created_by = $2";
    tx.query(pass).bind(network).bind(from).bind(to).execute().await?;
    Ok(())
}

/// Locks the name: other transactions wait with any change of it until this one ends.
pub(in crate::modules) async fn lock_name(tx: &mut Tx, network: NetworkId, name: &str) -> Result<(), Error> {
    tx.query("UPDATE module_names SET last_version = last_version WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name)
        .execute()
        .await?;
    Ok(())
}

/// Value of a column of `module_code`: the bytes, or nothing if they are a blob.
fn inline(bytes: &[u8]) -> &[u8] {
    if bytes.len() > INLINE_LIMIT { &[] } else { bytes }
}

/// Inserts a version. An upload too large for its row is a blob already.
pub(in crate::modules) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    new: &NewVersion,
    upload: &[u8],
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO modules (network_id, name, version, sha256, size_bytes, points, state, created_at, created_by)
         VALUES ($1, $2, $3, $4, $5, '', $6, $7, $8)",
    )
    .bind(network)
    .bind(&new.name)
    .bind(new.version)
    .bind(&new.sha256)
    .bind(new.size_bytes)
    .bind(ModuleState::Compiling.as_str())
    .bind(new.created_at)
    .bind(&new.created_by)
    .execute()
    .await?;
    tx.query("INSERT INTO module_code (network_id, name, version, upload) VALUES ($1, $2, $3, $4)")
        .bind(network)
        .bind(&new.name)
        .bind(new.version)
        .bind(inline(upload))
        .execute()
        .await?;
    Ok(())
}

/// Records the outcome of compiling; none if the version is gone or has one. A component too large for its row is a
/// blob already.
pub(in crate::modules) async fn record_outcome(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    version: i64,
    outcome: &CompileOutcome,
    component: Option<&[u8]>,
) -> Result<Option<ModuleRow>, Error> {
    let row = tx
        .query(concat!(
            "UPDATE modules SET state = $4, component_id = $5, points = $6, world_version = $7, reason = $8, manifest = $9
             WHERE network_id = $1 AND name = $2 AND version = $3 AND state = 'COMPILING'
             RETURNING ",
            module_columns!()
        ))
        .bind(network)
        .bind(name)
        .bind(version)
        .bind(outcome.state.as_str())
        .bind(&outcome.component_id)
        .bind(outcome.points.to_text())
        .bind(&outcome.world_version)
        .bind(&outcome.reason)
        .bind(&outcome.manifest)
        .optional()
        .await?;
    if row.is_some()
        && let Some(component) = component
    {
        tx.query("UPDATE module_code SET component = $4 WHERE network_id = $1 AND name = $2 AND version = $3")
            .bind(network)
            .bind(name)
            .bind(version)
            .bind(inline(component))
            .execute()
            .await?;
    }
    Ok(row)
}

pub(in crate::modules) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<Option<ModuleRow>, Error> {
    on.into()
        .query(concat!(
            "SELECT ",
            module_columns!(),
            " FROM modules WHERE network_id = $1 AND name = $2 AND version = $3"
        ))
        .bind(network)
        .bind(name)
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
        .bind(name)
        .bind(version)
        .optional()
        .await?;
    Ok(row.is_some())
}

pub(in crate::modules) async fn find_same(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    name: &str,
    sha256: &str,
) -> Result<Option<ModuleRow>, Error> {
    on.into()
        .query(concat!(
            "SELECT ",
            module_columns!(),
            " FROM modules WHERE network_id = $1 AND name = $2 AND sha256 = $3"
        ))
        .bind(network)
        .bind(name)
        .bind(sha256)
        .optional()
        .await
}

/// Names of modules with versions.
pub(in crate::modules) async fn names(db: &Db, network: NetworkId) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> =
        db.query("SELECT DISTINCT name FROM modules WHERE network_id = $1 ORDER BY name").bind(network).all().await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

/// The newest version of each name, by name, and the number of names.
pub(in crate::modules) async fn list_newest(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ModuleRow>, i64), Error> {
    db.page(
        "SELECT COUNT(DISTINCT name) FROM modules WHERE network_id = $1",
        "SELECT m.name, m.version, m.sha256, m.component_id, m.size_bytes, m.points, m.world_version, m.manifest,
             m.state, m.reason, m.created_at, m.created_by
         FROM modules m
         JOIN (SELECT name, MAX(version) AS version FROM modules WHERE network_id = $1 GROUP BY name) newest
           ON newest.name = m.name AND newest.version = m.version
         WHERE m.network_id = $1 ORDER BY m.name LIMIT $2 OFFSET $3",
        |statement| statement.bind(network),
        limit,
        offset,
    )
    .await
}

/// The name's versions, newest first, and their number.
pub(in crate::modules) async fn list_versions(
    db: &Db,
    network: NetworkId,
    name: &str,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ModuleRow>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM modules WHERE network_id = $1 AND name = $2",
        concat!(
            "SELECT ",
            module_columns!(),
            " FROM modules WHERE network_id = $1 AND name = $2 ORDER BY version DESC LIMIT $3 OFFSET $4"
        ),
        |statement| statement.bind(network).bind(name),
        limit,
        offset,
    )
    .await
}

/// Number of a module's versions.
pub(in crate::modules) async fn count_of_name(tx: &mut Tx, network: NetworkId, name: &str) -> Result<i64, Error> {
    let (count,) = tx
        .query("SELECT COUNT(*) FROM modules WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name)
        .one()
        .await?;
    Ok(count)
}

/// Bytes of a version: in its row, or a blob with this hash if the row has none.
#[derive(sqlx::FromRow)]
pub(in crate::modules) struct StoredCode {
    pub(in crate::modules) sha256: String,
    pub(in crate::modules) upload: Vec<u8>,
    /// None if the upload runs unchanged.
    pub(in crate::modules) component_id: Option<String>,
    pub(in crate::modules) component: Option<Vec<u8>>,
}

pub(in crate::modules) async fn code(db: &Db, of: VersionRef<'_>) -> Result<Option<StoredCode>, Error> {
    db.query(
        "SELECT m.sha256, c.upload, m.component_id, c.component FROM modules m
         JOIN module_code c ON c.network_id = m.network_id AND c.name = m.name AND c.version = m.version
         WHERE m.network_id = $1 AND m.name = $2 AND m.version = $3",
    )
    .bind(of.network)
    .bind(of.name)
    .bind(of.version)
    .optional()
    .await
}

/// Deletes the bytes of a version; its row stays.
pub(in crate::modules) async fn delete_code(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<(), Error> {
    tx.query("DELETE FROM module_code WHERE network_id = $1 AND name = $2 AND version = $3")
        .bind(network)
        .bind(name)
        .bind(version)
        .execute()
        .await?;
    Ok(())
}

/// Deletes a version. Returns the hashes of its upload and of its component, if there is one.
pub(in crate::modules) async fn delete(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<Option<(String, Option<String>)>, Error> {
    delete_code(tx, network, name, version).await?;
    tx.query("DELETE FROM modules WHERE network_id = $1 AND name = $2 AND version = $3 RETURNING sha256, component_id")
        .bind(network)
        .bind(name)
        .bind(version)
        .optional()
        .await
}

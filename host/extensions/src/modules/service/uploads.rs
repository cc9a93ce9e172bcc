//! From uploaded bytes to a numbered version that can be used in a chain.

use std::future::{Future, ready};
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use hub_sandbox::{PrepareError, Prepared, UploadPermit};
use serde_json::json;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::blobs::{self, Blob, Blobs};
use crate::clock::millis;
use crate::limits::{self, check_rows};
use crate::modules::Modules;
use crate::modules::handlers;
use crate::modules::model::{LinkSpec, ModuleName, ModuleRow, ModuleState};
use crate::modules::service::error::ModulesError;
use crate::modules::service::storing::{self, Inserted, evaluate, insert, record_outcome};
use crate::modules::store::chains as chain_store;
use crate::modules::store::versions::{self as store, VersionRef};
use crate::values::NetworkId;

/// Time an upload waits for its module to be READY before the answer is COMPILING.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Time an upload waits, unread, for its permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(20);
/// Age from which a COMPILING version counts as abandoned by a hub that stopped.
const ABANDONED_AFTER: Duration = Duration::from_secs(90);

/// Outcome of an upload.
pub(in crate::modules) enum Uploaded {
    /// A new version, READY.
    New(ModuleRow),
    /// The same bytes already exist.
    Known(ModuleRow),
    /// A version that is still being compiled.
    Compiling(ModuleRow),
}

/// Preparation that may outlast its request. It returns the permit, which is held until the bytes are stored.
type Preparing = Pin<Box<dyn Future<Output = (Result<Prepared, PrepareError>, UploadPermit)> + Send>>;

/// Waits for the permit to read an upload.
pub(in crate::modules) async fn permit(app: &App, network: NetworkId) -> Result<UploadPermit, ModulesError> {
    let network = network.to_string();
    tokio::select! {
        // A free permit counts even if it is found late.
        biased;
        permit = app.state::<Modules>().sandbox.upload_permit(&network) => Ok(permit),
        () = app.clock.sleep(PERMIT_TIMEOUT) => Err(ModulesError::TooManyUploads),
    }
}

/// Makes the bytes the name's next version, unless they already exist.
pub(in crate::modules) async fn upload(
    app: &App,
    network: NetworkId,
    name: ModuleName,
    bytes: Bytes,
    permit: UploadPermit,
    origin: &Origin,
) -> Result<Uploaded, ModulesError> {
    let sha256 = hash(app, bytes.clone()).await?;
    if let Some(row) = store::find_same(&app.db, network, name.as_str(), &sha256).await? {
        return known(app, network, row);
    }
    let _adding = check_rows::<ModulesError>(app, network, store::MODULES, 1, ready(Ok(false))).await?;
    blobs::check_bytes(app, network, bytes.len() as u64).await?;
    let mut preparing = prepare(app, bytes.clone(), permit);
    tokio::select! {
        (outcome, _permit) = &mut preparing => {
            let (compiled, component) = evaluate(outcome)?;
            if let Some(reason) = compiled.reason {
                return Err(ModulesError::InvalidModule(reason));
            }
            match insert(app, network, &name, sha256, &bytes, Some((compiled, component)), origin).await? {
                Inserted::New(row) => Ok(Uploaded::New(row)),
                Inserted::Known(row) => known(app, network, row),
            }
        }
        () = app.clock.sleep(ANSWER_TIMEOUT) => {
            match insert(app, network, &name, sha256, &bytes, None, origin).await? {
                Inserted::New(row) => {
                    spawn_compile(app, network, &row, preparing);
                    Ok(Uploaded::Compiling(row))
                }
                Inserted::Known(row) => known(app, network, row),
            }
        }
    }
}

async fn hash(app: &App, bytes: Bytes) -> Result<String, ModulesError> {
    let sum = app.state::<Modules>().sandbox.sha256(bytes).await;
    sum.map(|sum| sum.to_string()).map_err(|error| ModulesError::Sandbox(error.to_string()))
}

fn prepare(app: &App, bytes: Bytes, permit: UploadPermit) -> Preparing {
    let sandbox = app.state::<Modules>().sandbox.clone();
    Box::pin(async move { (sandbox.prepare_for(&permit, bytes).await, permit) })
}

/// Answer to bytes that already exist.
fn known(app: &App, network: NetworkId, row: ModuleRow) -> Result<Uploaded, ModulesError> {
    match row.state {
        ModuleState::Ready => Ok(Uploaded::Known(row)),
        ModuleState::Compiling => {
            resume_compile(app, network, &row);
            Ok(Uploaded::Compiling(row))
        }
        ModuleState::Rejected => Err(ModulesError::InvalidModule(row.reason.unwrap_or_default())),
    }
}

/// Prepares a COMPILING version in the background and records the outcome.
fn spawn_compile(app: &App, network: NetworkId, row: &ModuleRow, preparing: Preparing) {
    let key = (network, row.name.clone(), row.version);
    if !app.state::<Modules>().compiling.lock().insert(key.clone()) {
        return;
    }
    let task = app.clone();
    app.spawn(async move {
        let (outcome, _permit) = preparing.await;
        if let Err(error) = record_outcome(&task, network, &key.1, key.2, outcome).await {
            // It stays COMPILING and is resumed at its next read.
            tracing::error!(module = key.1, version = key.2, %error, "could not prepare a module");
        }
        task.state::<Modules>().compiling.lock().remove(&key);
    });
}

/// Resumes an abandoned COMPILING version.
fn resume_compile(app: &App, network: NetworkId, row: &ModuleRow) {
    let is_abandoned = app.clock.now().saturating_sub(row.created_at) >= millis(ABANDONED_AFTER);
    if row.state != ModuleState::Compiling || !is_abandoned {
        return;
    }
    let (task, name, version) = (app.clone(), row.name.clone(), row.version);
    let preparing: Preparing = Box::pin(async move {
        let sandbox = &task.state::<Modules>().sandbox;
        let permit = sandbox.upload_permit(&network.to_string()).await;
        let outcome =
            match storing::read_upload(&task.db, task.state::<Blobs>(), VersionRef { network, name: &name, version })
                .await
            {
                Ok(Some(upload)) => sandbox.prepare_for(&permit, upload).await,
                Ok(None) => Err(PrepareError::Internal("it has been deleted".to_owned())),
                Err(error) => Err(PrepareError::Internal(error.to_string())),
            };
        (outcome, permit)
    });
    spawn_compile(app, network, row, preparing);
}

/// One version.
pub(in crate::modules) async fn find(
    app: &App,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<ModuleRow, ModulesError> {
    let row = store::find(&app.db, network, name, version).await?;
    let row = row.ok_or_else(|| unknown(name, version))?;
    resume_compile(app, network, &row);
    Ok(row)
}

fn unknown(name: &str, version: i64) -> ModulesError {
    ModulesError::UnknownModule(format!("{name} version {version}"))
}

/// Opens the uploaded bytes of a version for reading.
pub(in crate::modules) async fn open(
    app: &App,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<Blob, ModulesError> {
    let upload = storing::open_upload(&app.db, app.state::<Blobs>(), VersionRef { network, name, version }).await?;
    upload.ok_or_else(|| unknown(name, version))
}

/// The newest version of each name, and the number of names.
pub(in crate::modules) async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ModuleRow>, i64), ModulesError> {
    Ok(store::list_newest(&app.db, network, limit, offset).await?)
}

/// Versions of a name, newest first, and their number; an error if there is none.
pub(in crate::modules) async fn versions(
    app: &App,
    network: NetworkId,
    name: &str,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ModuleRow>, i64), ModulesError> {
    let (rows, total) = store::list_versions(&app.db, network, name, limit, offset).await?;
    if total == 0 {
        return Err(ModulesError::UnknownModule(name.to_owned()));
    }
    Ok((rows, total))
}

/// Deletes a version that no chain uses.
pub(in crate::modules) async fn delete(
    app: &App,
    network: NetworkId,
    name: &str,
    version: i64,
    origin: &Origin,
) -> Result<(), ModulesError> {
    let keys = app
        .db
        .transaction(async |mut tx| {
            store::lock_name(&mut tx, network, name).await?;
            for point in chain_store::list(&mut tx, network).await? {
                let links: Vec<LinkSpec> = serde_json::from_str(&point.chain)?;
                if links.iter().any(|link| link.name == name && link.version == version) {
                    return Err(ModulesError::InUse(name.to_owned(), version, point.point));
                }
            }
            let deleted = store::delete(&mut tx, network, name, version).await?;
            let (sha256, component_id) = deleted.ok_or_else(|| unknown(name, version))?;
            let keys = storing::keys(VersionRef { network, name, version }, &sha256, component_id.as_deref());
            for key in &keys {
                blobs::mark_unreferenced(&mut tx, key).await?;
            }
            let change =
                Change::new(Action::ModuleDeleted, format!("{name}/{version}")).before(json!({"sha256": sha256}));
            audit::record(&mut tx, network, origin, change).await?;
            handlers::end_of_module(app, &mut tx, network, name).await?;
            Ok(keys)
        })
        .await?;
    app.state::<Blobs>().delete_unreferenced(&keys).await;
    Ok(())
}

/// Number of the versions of a network's modules.
pub async fn version_count(app: &App, network: NetworkId) -> Result<i64, hub_db::Error> {
    limits::used(app, network, store::MODULES).await
}

/// Names of a network's modules. It has at most as many as versions.
pub async fn names(app: &App, network: NetworkId) -> Result<Vec<String>, hub_db::Error> {
    store::names(&app.db, network).await
}

//! From uploaded bytes to a numbered version that can be put into a chain.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use hub_sandbox::{PrepareError, Prepared, UploadPlace};

use crate::app::App;
use crate::blobs;
use crate::clock::millis;
use crate::modules::model::{LinkSpec, ModuleName, ModuleRow, ModuleState};
use crate::modules::service::ModulesError;
use crate::modules::service::storing::{self, evaluate, insert, record_outcome};
use crate::modules::store::chains as chain_store;
use crate::modules::store::versions::{self as store, VersionRef};
use crate::values::NetworkId;

/// How long an upload waits for its module to be READY before it is answered with COMPILING.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// How long an upload waits, unread, for a place.
const PLACE_WITHIN: Duration = Duration::from_secs(20);
/// A version that is COMPILING for this long and that this hub is not at work on was left behind by one that stopped.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(90);

/// What became of an upload.
pub(in crate::modules) enum Uploaded {
    /// It is a new version, READY.
    New(ModuleRow),
    /// The same bytes were there already.
    Known(ModuleRow),
    /// It is a version that is still being compiled.
    Compiling(ModuleRow),
}

/// Preparing that can go on after its request was answered. Its end brings the place back, which is held until the bytes are
/// stored.
type Preparing = Pin<Box<dyn Future<Output = (Result<Prepared, PrepareError>, UploadPlace)> + Send>>;

/// A place for an upload of so many bytes at most, which is about to be read.
pub(in crate::modules) async fn place(
    app: &App,
    network: NetworkId,
    bytes: usize,
) -> Result<UploadPlace, ModulesError> {
    let network = network.to_string();
    tokio::select! {
        // A place that is there counts, however late it is looked for.
        biased;
        place = app.modules.sandbox.upload_place(&network, bytes) => Ok(place),
        () = app.clock.sleep(PLACE_WITHIN) => Err(ModulesError::TooManyUploads),
    }
}

/// Receives an upload behind everything else: a large one is page after page of new memory.
pub(in crate::modules) async fn receive<T: Send + 'static>(
    app: &App,
    reading: impl Future<Output = T> + Send + 'static,
) -> Result<T, ModulesError> {
    app.modules.sandbox.giving_way(reading).await.map_err(|error| sandbox(&error))
}

/// Makes the bytes the name's next version, unless it has them already.
pub(in crate::modules) async fn upload(
    app: &App,
    network: NetworkId,
    name: ModuleName,
    bytes: Bytes,
    mut place: UploadPlace,
) -> Result<Uploaded, ModulesError> {
    place.received(bytes.len());
    let sha256 = hash(app, bytes.clone()).await?;
    if let Some(row) = store::find_same(&app.db, network, name.as_str(), &sha256).await? {
        return known(app, network, row);
    }
    let mut preparing = prepare(app, network, bytes.clone(), place);
    tokio::select! {
        (outcome, _place) = &mut preparing => {
            let (compiled, component) = evaluate(outcome)?;
            if let Some(reason) = compiled.reason {
                return Err(ModulesError::InvalidModule(reason));
            }
            insert(app, network, &name, sha256, &bytes, Some((compiled, component))).await
        }
        () = app.clock.sleep(ANSWER_WITHIN) => {
            let uploaded = insert(app, network, &name, sha256, &bytes, None).await?;
            if let Uploaded::New(row) = uploaded {
                go_on(app, network, &row, preparing);
                return Ok(Uploaded::Compiling(row));
            }
            Ok(uploaded)
        }
    }
}

async fn hash(app: &App, bytes: Bytes) -> Result<String, ModulesError> {
    let sum = app.modules.sandbox.sum(bytes).await.map_err(|error| sandbox(&error))?;
    Ok(sum.to_string())
}

fn sandbox(error: &PrepareError) -> ModulesError {
    ModulesError::Sandbox(error.to_string())
}

fn prepare(app: &App, network: NetworkId, bytes: Bytes, mut place: UploadPlace) -> Preparing {
    let sandbox = app.modules.sandbox.clone();
    Box::pin(async move { (sandbox.prepare_for(&mut place, &network.to_string(), bytes).await, place) })
}

/// The answer to bytes that are there already.
pub(super) fn known(app: &App, network: NetworkId, row: ModuleRow) -> Result<Uploaded, ModulesError> {
    match row.state {
        ModuleState::Ready => Ok(Uploaded::Known(row)),
        ModuleState::Compiling => {
            take_up(app, network, &row);
            Ok(Uploaded::Compiling(row))
        }
        ModuleState::Rejected => Err(ModulesError::InvalidModule(row.reason.unwrap_or_default())),
    }
}

/// Goes on preparing a COMPILING version and writes down what it comes to.
fn go_on(app: &App, network: NetworkId, row: &ModuleRow, preparing: Preparing) {
    let key = (network, row.name.clone(), row.version);
    if !app.modules.compiling.lock().insert(key.clone()) {
        return;
    }
    let task = app.clone();
    app.spawn(async move {
        let (outcome, _place) = preparing.await;
        if let Err(error) = record_outcome(&task, network, &key.1, key.2, outcome).await {
            // It stays COMPILING, and is taken up again when somebody asks for it.
            tracing::error!(module = key.1, version = key.2, %error, "a module could not be prepared");
        }
        task.modules.compiling.lock().remove(&key);
    });
}

/// Prepares a COMPILING version that was left behind.
fn take_up(app: &App, network: NetworkId, row: &ModuleRow) {
    let left_behind = app.clock.now().saturating_sub(row.created_at) >= millis(LEFT_BEHIND_AFTER);
    if row.state != ModuleState::Compiling || !left_behind {
        return;
    }
    let (task, name, version) = (app.clone(), row.name.clone(), row.version);
    let preparing: Preparing = Box::pin(async move {
        let (sandbox, key) = (&task.modules.sandbox, network.to_string());
        let mut place = sandbox.upload_place(&key, 0).await;
        let outcome =
            match storing::read_upload(&task.db, &task.blobs, VersionRef { network, name: &name, version }).await {
                Ok(Some(upload)) => sandbox.prepare_for(&mut place, &key, upload).await,
                Ok(None) => Err(PrepareError::Internal("it was deleted".to_owned())),
                Err(error) => Err(PrepareError::Internal(error.to_string())),
            };
        (outcome, place)
    });
    go_on(app, network, row, preparing);
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
    take_up(app, network, &row);
    Ok(row)
}

fn unknown(name: &str, version: i64) -> ModulesError {
    ModulesError::UnknownModule(format!("{name} version {version}"))
}

/// The bytes of a version as they were uploaded.
pub(in crate::modules) async fn bytes(
    app: &App,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<Bytes, ModulesError> {
    let bytes = storing::read_upload(&app.db, &app.blobs, VersionRef { network, name, version }).await?;
    bytes.ok_or_else(|| unknown(name, version))
}

/// The newest version of each name, and how many names there are.
pub(in crate::modules) async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ModuleRow>, i64), ModulesError> {
    Ok(store::list_newest(&app.db, network, limit, offset).await?)
}

/// The versions of a name, newest first, and how many there are; unknown where there is none.
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

/// Deletes a version that no chain names.
pub(in crate::modules) async fn delete(
    app: &App,
    network: NetworkId,
    name: &str,
    version: i64,
) -> Result<(), ModulesError> {
    let keys = app
        .db
        .transaction(async |mut tx| {
            store::lock_name(&mut tx, network, name).await?;
            for point in chain_store::all_in(&mut tx, network).await? {
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
            Ok(keys)
        })
        .await?;
    app.blobs.delete_unreferenced(&keys).await;
    Ok(())
}

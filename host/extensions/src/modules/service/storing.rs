//! Storing versions and their bytes.

use bytes::Bytes;
use hub_db::Db;
use hub_sandbox::{PrepareError, Prepared};
use serde_json::json;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::blobs::{self, Blob, BlobError, BlobKey, Blobs, INLINE_LIMIT, TemporaryBlob};
use crate::http::error::ApiError;
use crate::modules::model::{ModuleName, ModuleRow, ModuleState, Points};
use crate::modules::service::error::ModulesError;
use crate::modules::store::versions::{self as store, CompileOutcome, NewVersion, VersionRef};
use crate::values::NetworkId;

/// Outcome of preparing an upload, with the component if the upload had to be wrapped into one. Fails if the hub
/// failed.
pub(super) fn evaluate(
    outcome: Result<Prepared, PrepareError>,
) -> Result<(CompileOutcome, Option<Bytes>), ModulesError> {
    match outcome {
        Ok(prepared) => {
            let is_wrapped = prepared.id != prepared.sha256;
            let outcome = CompileOutcome {
                state: ModuleState::Ready,
                component_id: Some(prepared.id.to_string()),
                points: Points(prepared.points),
                world_version: Some(prepared.world_version),
                manifest: prepared.manifest.as_ref().map(serde_json::to_string).transpose()?,
                reason: None,
            };
            Ok((outcome, is_wrapped.then_some(prepared.component)))
        }
        Err(PrepareError::Invalid(reason)) => {
            let outcome = CompileOutcome {
                state: ModuleState::Rejected,
                component_id: None,
                points: Points::default(),
                world_version: None,
                manifest: None,
                // It may quote the module, which may contain anything; PostgreSQL's text cannot hold NUL.
                reason: Some(reason.replace('\0', "\u{fffd}").trim_end_matches('.').to_owned()),
            };
            Ok((outcome, None))
        }
        Err(PrepareError::Internal(reason)) => Err(ModulesError::Sandbox(reason)),
    }
}

/// Writes bytes that are too large for their row to the store.
async fn write_large(app: &App, bytes: Option<&Bytes>) -> Result<Option<TemporaryBlob>, ModulesError> {
    match bytes {
        Some(bytes) if bytes.len() > INLINE_LIMIT => {
            Ok(Some(app.state::<Blobs>().write(bytes, app.clock.now(), &app.ids).await?))
        }
        _ => Ok(None),
    }
}

/// Stores a version, with the outcome of compiling it or still COMPILING.
pub(super) async fn insert(
    app: &App,
    network: NetworkId,
    name: &ModuleName,
    sha256: String,
    bytes: &Bytes,
    compiled: Option<(CompileOutcome, Option<Bytes>)>,
    origin: &Origin,
) -> Result<Inserted, ModulesError> {
    let component = compiled.as_ref().and_then(|(_, component)| component.clone());
    let upload_blob = write_large(app, Some(bytes)).await?;
    let component_blob = write_large(app, component.as_ref()).await?;
    let new = NewVersion {
        name: name.as_str().to_owned(),
        version: 0,
        sha256,
        size_bytes: bytes.len() as i64,
        created_at: app.clock.now(),
        created_by: Some(origin.actor.id.clone()),
    };
    let blobs = Parts { upload: upload_blob, component: component_blob };
    // A separate task: the upload counts even if the client disconnects from here on.
    let (task, bytes, origin) = (app.clone(), bytes.clone(), origin.clone());
    let inserting = async move { insert_version(&task, network, new, bytes, blobs, compiled, origin).await };
    tokio::spawn(hub_db::with_tenant(network.0, inserting)).await.map_err(BlobError::from)?
}

/// A version's large bytes, in the store but still without a key.
struct Parts {
    upload: Option<TemporaryBlob>,
    component: Option<TemporaryBlob>,
}

/// A stored version, or the existing one with the same bytes.
pub(super) enum Inserted {
    New(ModuleRow),
    Known(ModuleRow),
}

async fn insert_version(
    app: &App,
    network: NetworkId,
    mut new: NewVersion,
    bytes: Bytes,
    parts: Parts,
    compiled: Option<(CompileOutcome, Option<Bytes>)>,
    origin: Origin,
) -> Result<Inserted, ModulesError> {
    let (outcome, component) = compiled.unzip();
    let component = component.flatten();
    // Keys of blobs contain the number.
    let mut keys = vec![];
    if parts.upload.is_some() || parts.component.is_some() {
        let name = &new.name;
        new.version = app.db.transaction(async |mut tx| store::next_version(&mut tx, network, name).await).await?;
    }
    if let Some(blob) = parts.upload {
        keys.push(BlobKey::module_upload(network, &new.sha256, &new.name, new.version));
        blob.store(&keys[0], new.created_at).await?;
    }
    if let (Some(blob), Some(id)) = (parts.component, outcome.as_ref().and_then(|it| it.component_id.as_deref())) {
        let key = BlobKey::module_component(network, id, &new.name, new.version);
        blob.store(&key, new.created_at).await?;
        keys.push(key);
    }
    let inserted = app
        .db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            let mut new = new.clone();
            if new.version == 0 {
                new.version = store::next_version(&mut tx, network, &new.name).await?;
            } else {
                store::lock_name(&mut tx, network, &new.name).await?;
            }
            if let Some(same) = store::find_same(&mut tx, network, &new.name, &new.sha256).await? {
                // The transaction's rollback also returns the number.
                return Err(NotInserted::Same(Box::new(same)));
            }
            store::insert(&mut tx, network, &new, &bytes).await?;
            for key in &keys {
                blobs::mark_referenced(&mut tx, key).await?;
            }
            let shown = json!({"sha256": new.sha256, "sizeBytes": new.size_bytes});
            let target = format!("{}/{}", new.name, new.version);
            audit::record(&mut tx, network, &origin, Change::new(Action::ModuleUploaded, target).after(shown)).await?;
            let Some(outcome) = &outcome else { return Ok(compiling(new)) };
            let (name, version) = (&new.name, new.version);
            let row = store::record_outcome(&mut tx, network, name, version, outcome, component.as_deref()).await?;
            row.ok_or(hub_db::Error::NotFound.into())
        })
        .await;
    match inserted {
        Ok(row) => Ok(Inserted::New(row)),
        Err(NotInserted::Same(row)) => {
            app.state::<Blobs>().delete_unreferenced(&keys).await;
            Ok(Inserted::Known(*row))
        }
        Err(NotInserted::Refused(refusal)) => {
            app.state::<Blobs>().delete_unreferenced(&keys).await;
            Err(refusal.into())
        }
        Err(NotInserted::Failed(error)) => Err(error.into()),
    }
}

/// Reason for which a version was not inserted.
enum NotInserted {
    Same(Box<ModuleRow>),
    /// The caller may no longer do it.
    Refused(ApiError),
    /// The commit may be uncertain: its blobs stay for the sweep.
    Failed(hub_db::Error),
}

impl From<ApiError> for NotInserted {
    fn from(refusal: ApiError) -> Self {
        Self::Refused(refusal)
    }
}

impl From<hub_db::Error> for NotInserted {
    fn from(error: hub_db::Error) -> Self {
        Self::Failed(error)
    }
}

fn compiling(new: NewVersion) -> ModuleRow {
    ModuleRow {
        name: new.name,
        version: new.version,
        sha256: new.sha256,
        component_id: None,
        size_bytes: new.size_bytes,
        points: Points::default(),
        world_version: None,
        manifest: None,
        state: ModuleState::Compiling,
        reason: None,
        created_at: new.created_at,
        created_by: new.created_by,
    }
}

/// Records the outcome of a COMPILING version. A REJECTED one keeps its row, with the reason, but no bytes.
pub(super) async fn record_outcome(
    app: &App,
    network: NetworkId,
    name: &str,
    version: i64,
    outcome: Result<Prepared, PrepareError>,
) -> Result<(), ModulesError> {
    let (outcome, component) = evaluate(outcome)?;
    let mut large = None;
    if let (Some(blob), Some(id)) = (write_large(app, component.as_ref()).await?, &outcome.component_id) {
        let key = BlobKey::module_component(network, id, name, version);
        blob.store_for_row(&key).await?;
        large = Some(key);
    }
    let recorded = app.db.transaction(async |mut tx| {
        let row = store::record_outcome(&mut tx, network, name, version, &outcome, component.as_deref()).await?;
        let mut unreferenced = vec![];
        if let Some(row) = &row
            && row.state == ModuleState::Rejected
        {
            store::delete_code(&mut tx, network, name, version).await?;
            unreferenced = keys(VersionRef { network, name, version }, &row.sha256, None);
            for key in &unreferenced {
                blobs::mark_unreferenced(&mut tx, key).await?;
            }
        }
        // If another node was quicker, its component is the same.
        let is_there = row.is_some() || store::find(&mut tx, network, name, version).await?.is_some();
        Ok::<_, hub_db::Error>((is_there, unreferenced))
    });
    let (is_there, unreferenced) = recorded.await?;
    app.state::<Blobs>().delete_unreferenced(&unreferenced).await;
    if !is_there && let Some(key) = large {
        app.state::<Blobs>().delete(&key).await?;
    }
    Ok(())
}

/// Keys of a version's bytes that are blobs.
pub(super) fn keys(of: VersionRef<'_>, sha256: &str, component_id: Option<&str>) -> Vec<BlobKey> {
    let VersionRef { network, name, version } = of;
    let upload = BlobKey::module_upload(network, sha256, name, version);
    let component =
        component_id.filter(|id| *id != sha256).map(|id| BlobKey::module_component(network, id, name, version));
    [upload].into_iter().chain(component).collect()
}

/// Opens the uploaded bytes of a version for reading.
pub(super) async fn open_upload(db: &Db, blobs: &Blobs, of: VersionRef<'_>) -> Result<Option<Blob>, ModulesError> {
    let Some(code) = store::code(db, of).await? else { return Ok(None) };
    if !code.upload.is_empty() {
        return Ok(Some(Blob::of_bytes(code.upload.into())));
    }
    open_blob(blobs, &BlobKey::module_upload(of.network, &code.sha256, of.name, of.version)).await.map(Some)
}

/// Uploaded bytes of a version.
pub(super) async fn read_upload(db: &Db, blobs: &Blobs, of: VersionRef<'_>) -> Result<Option<Bytes>, ModulesError> {
    let Some(upload) = open_upload(db, blobs, of).await? else { return Ok(None) };
    Ok(Some(upload.bytes().await?))
}

/// Component of a version, which runs.
pub(super) async fn read_component(db: &Db, blobs: &Blobs, of: VersionRef<'_>) -> Result<Option<Bytes>, ModulesError> {
    let Some(code) = store::code(db, of).await? else { return Ok(None) };
    match (code.component, code.component_id) {
        (Some(bytes), Some(id)) if bytes.is_empty() => {
            let key = BlobKey::module_component(of.network, &id, of.name, of.version);
            Ok(Some(open_blob(blobs, &key).await?.bytes().await?))
        }
        (Some(bytes), _) => Ok(Some(bytes.into())),
        (None, _) => read_upload(db, blobs, of).await,
    }
}

async fn open_blob(blobs: &Blobs, key: &BlobKey) -> Result<Blob, ModulesError> {
    Ok(blobs.get(key).await?.ok_or_else(|| BlobError::Missing(key.to_string()))?)
}

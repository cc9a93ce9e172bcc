//! The rules of imports.

use axum::http::StatusCode;
use serde_json::json;
use thiserror::Error;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Caller;
use crate::blobs::{self, BlobError, BlobKey, Blobs, ReceivedBlob, Upload};
use crate::http::error::ApiError;
use crate::imports::model::{Import, ImportKind, ImportOptions, ImportState};
use crate::imports::report::Report;
use crate::imports::{Imports, run, store};
use crate::limits::{self, Limit};
use crate::values::NetworkId;

/// Maximum file size in bytes. A literal because it is part of a type, where release builds cannot evaluate a call.
pub(super) const FILE_LIMIT: u64 = 256 * 1_024 * 1_024;
const _: () = assert!(FILE_LIMIT == Limit::ImportBytes.bound().unsigned_abs());
const ID_LENGTH: usize = 16;

/// Errors of requests about imports.
#[derive(Debug, Error)]
pub(super) enum ImportsError {
    /// No such import in the caller's network.
    #[error("This network has no such import.")]
    Unknown,
    /// Another import is running.
    #[error("Another import of this network is running; wait for it or cancel it.")]
    Running,
    /// The caller may no longer do it.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// Blob store error.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ImportsError> for ApiError {
    fn from(error: ImportsError) -> Self {
        let message = error.to_string();
        match error {
            ImportsError::Unknown => Self::not_found("unknown_import", message),
            ImportsError::Running => Self::new(StatusCode::CONFLICT, "import_running", message),
            ImportsError::Refused(refusal) => refusal,
            ImportsError::Blob(error) => error.into(),
            ImportsError::Database(error) => error.into(),
        }
    }
}

/// Receives a file and queues its import.
pub(super) async fn create(
    app: &App,
    caller: Caller,
    (kind, dry_run, options): (ImportKind, bool, ImportOptions),
    upload: Upload<FILE_LIMIT>,
) -> Result<Import, ImportsError> {
    let (network, origin) = (caller.network, caller.origin(app));
    if store::is_busy(&app.db, network).await? {
        return Err(ImportsError::Running);
    }
    let limit = limits::bound(app, Limit::ImportBytes).unsigned_abs();
    let ReceivedBlob { blob, sha256, size } = blobs::receive(app, network, upload.0, limit).await?;
    let now = app.clock.now();
    let import = Import {
        network,
        id: app.ids.token(ID_LENGTH),
        kind,
        dry_run,
        options,
        sha256,
        file_size: i64::try_from(size).unwrap_or(i64::MAX),
        state: ImportState::Queued,
        done: 0,
        total: None,
        report: Report::default(),
        failure: None,
        key: caller.key,
        created_at: now,
        started_at: None,
        finished_at: None,
    };
    // In a separate task: from here on the upload completes even if the client disconnects.
    let app = app.clone();
    let inserting = tokio::spawn(hub_db::with_tenant(network.0, async move {
        let key = BlobKey::import(network, &import.sha256, &import.id);
        blob.store(&key, now).await?;
        let kept = limits::bound(&app, Limit::Imports).max(1);
        let inserted = app.db.transaction(async |mut tx| {
            // The upload may have taken hours.
            origin.still_may(&mut tx).await?;
            let inserted = store::insert(&mut tx, &import).await?;
            if inserted {
                run::enqueue(&app, &mut tx, &import).await?;
                blobs::mark_referenced(&mut tx, &key).await?;
                store::forget_oldest(&mut tx, network, kept).await?;
                let started = json!({"kind": import.kind, "dryRun": import.dry_run, "sha256": import.sha256});
                let change = Change::new(Action::ImportStarted, &import.id).after(started);
                audit::record(&mut tx, network, &origin, change).await?;
            }
            Ok::<_, ImportsError>(inserted)
        });
        let refusal = match inserted.await {
            Ok(true) => return Ok(import),
            Ok(false) => ImportsError::Running,
            Err(ImportsError::Refused(refusal)) => ImportsError::Refused(refusal),
            // The commit may be uncertain: its blob stays for the sweep.
            Err(error) => return Err(error),
        };
        app.state::<Blobs>().delete_unreferenced(std::slice::from_ref(&key)).await;
        Err(refusal)
    }));
    inserting.await.map_err(BlobError::from)?
}

/// Returns one import.
pub(super) async fn get(app: &App, network: NetworkId, id: &str) -> Result<Import, ImportsError> {
    store::find(&app.db, network, id).await?.ok_or(ImportsError::Unknown)
}

/// Page of the network's imports, newest first, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Import>, i64), ImportsError> {
    Ok(store::list(&app.db, network, limit, offset).await?)
}

/// Ends an import at once, or after the batch that is being written. An import that has already ended is unchanged.
pub(super) async fn cancel(app: &App, caller: &Caller, id: &str) -> Result<Import, ImportsError> {
    let import = get(app, caller.network, id).await?;
    run::end(app, &import, (ImportState::Cancelled, None), &caller.origin(app)).await?;
    app.state::<Imports>().cancel(&import);
    get(app, caller.network, id).await
}

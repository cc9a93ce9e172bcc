//! Rules of bundles.

use axum::response::Response;
use serde_json::{Value, json};
use thiserror::Error;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::blobs::{self, BLOB_LIMIT, BlobError, BlobKey, Blobs, ReceivedBlob, Upload, Validator};
use crate::http::error::ApiError;
use crate::limits::{QuotaExceeded, check_rows};
use crate::provisioning::store::{self, Bundle};
use crate::values::{Identifier, NetworkId};

const FILE_ID_LENGTH: usize = 16;
/// Maximum number of retries after concurrent replacements.
const ATTEMPTS: usize = 10;

/// Reason for the failure of a request about bundles.
#[derive(Debug, Error)]
pub(super) enum BundlesError {
    /// The server type has no bundle.
    #[error("This network has no bundle for the server type `{0}`.")]
    None(Identifier),
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The caller may no longer do it.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<BundlesError> for ApiError {
    fn from(error: BundlesError) -> Self {
        let message = error.to_string();
        match error {
            BundlesError::None(_) => Self::not_found("unknown_bundle", message),
            BundlesError::Refused(refusal) => refusal,
            BundlesError::Quota(exceeded) => exceeded.into(),
            BundlesError::Blob(error) => error.into(),
            BundlesError::Database(error) => error.into(),
        }
    }
}

/// Stores a bundle, replacing the existing one.
pub(super) async fn put(
    app: &App,
    network: NetworkId,
    server_type: Identifier,
    upload: Upload<BLOB_LIMIT>,
    origin: Origin,
) -> Result<Bundle, BundlesError> {
    let is_there = async { Ok(store::find(&app.db, network, &server_type).await?.is_some()) };
    let _adding = check_rows::<BundlesError>(app, network, store::BUNDLES, 1, is_there).await?;
    let ReceivedBlob { blob, sha256, size } = blobs::receive(app, network, upload.0, BLOB_LIMIT).await?;
    let now = app.clock.now();
    let file_id = app.ids.token(FILE_ID_LENGTH);
    let bundle = Bundle { server_type, file_id, sha256, size_bytes: size as i64, updated_at: now };
    let app = app.clone();
    // A separate task: the upload counts even if the client disconnects from here on.
    let replacing = tokio::spawn(hub_db::with_tenant(network.0, async move {
        blob.store(&key(network, &bundle), now).await?;
        let superfluous = match replace(&app, network, &bundle, &origin).await {
            Err(BundlesError::Refused(refusal)) => Err((key(network, &bundle), refusal)),
            replaced => Ok(replaced?),
        };
        let unreferenced = superfluous.as_ref().map_or_else(|(new, _)| std::slice::from_ref(new), Vec::as_slice);
        app.state::<Blobs>().delete_unreferenced(unreferenced).await;
        superfluous.map_err(|(_, refusal)| refusal)?;
        Ok(bundle)
    }));
    replacing.await.map_err(BlobError::from)?
}

/// A bundle's form in the audit log.
fn shown(bundle: &Bundle) -> Value {
    json!({"sha256": bundle.sha256, "sizeBytes": bundle.size_bytes})
}

/// Makes the bundle the current one of its type. Returns the key of the previous one.
async fn replace(
    app: &App,
    network: NetworkId,
    bundle: &Bundle,
    origin: &Origin,
) -> Result<Vec<BlobKey>, BundlesError> {
    for _ in 0..ATTEMPTS {
        let replaced = app.db.transaction(async |mut tx| {
            // The upload may have taken hours.
            origin.still_may(&mut tx).await?;
            let before = store::find(&mut tx, network, &bundle.server_type).await?;
            let is_done = match &before {
                Some(before) => store::replace(&mut tx, network, &before.file_id, bundle).await?,
                None => store::insert(&mut tx, network, bundle).await?,
            };
            if !is_done {
                return Ok(None);
            }
            blobs::mark_referenced(&mut tx, &key(network, bundle)).await?;
            let change = Change::new(Action::BundlePut, &bundle.server_type).after(shown(bundle));
            let change = if let Some(before) = &before { change.before(shown(before)) } else { change };
            audit::record(&mut tx, network, origin, change).await?;
            let before: Vec<_> = before.iter().map(|before| key(network, before)).collect();
            for key in &before {
                blobs::mark_unreferenced(&mut tx, key).await?;
            }
            Ok::<_, BundlesError>(Some(before))
        });
        if let Some(before) = replaced.await? {
            return Ok(before);
        }
    }
    Err(hub_db::Error::Conflict.into())
}

/// The bundle as a response.
pub(super) async fn send(
    app: &App,
    network: NetworkId,
    server_type: Identifier,
    has: &Validator,
) -> Result<Response, BundlesError> {
    let mut attempt = 1;
    loop {
        let found = store::find(&app.db, network, &server_type).await?;
        let Some(bundle) = found else { return Err(BundlesError::None(server_type)) };
        let size = u64::try_from(bundle.size_bytes).unwrap_or_default();
        match app.state::<Blobs>().send(&key(network, &bundle), &bundle.sha256, size, has).await {
            // It was replaced in between.
            Err(BlobError::Missing(_)) if attempt < ATTEMPTS => attempt += 1,
            answered => return Ok(answered?),
        }
    }
}

/// Bundles by server type, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Bundle>, i64), BundlesError> {
    Ok(store::list(&app.db, network, limit, offset).await?)
}

/// Deletes a bundle.
pub(super) async fn delete(
    app: &App,
    network: NetworkId,
    server_type: Identifier,
    origin: &Origin,
) -> Result<(), BundlesError> {
    let deleted = app.db.transaction(async |mut tx| {
        let Some(bundle) = store::delete(&mut tx, network, &server_type).await? else { return Ok(None) };
        let key = key(network, &bundle);
        blobs::mark_unreferenced(&mut tx, &key).await?;
        let change = Change::new(Action::BundleDeleted, &server_type).before(shown(&bundle));
        audit::record(&mut tx, network, origin, change).await?;
        Ok::<_, hub_db::Error>(Some(key))
    });
    let Some(key) = deleted.await? else { return Err(BundlesError::None(server_type)) };
    app.state::<Blobs>().delete_unreferenced(&[key]).await;
    Ok(())
}

fn key(network: NetworkId, bundle: &Bundle) -> BlobKey {
    BlobKey::bundle(network, &bundle.sha256, &bundle.file_id)
}

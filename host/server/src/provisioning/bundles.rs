//! The rules of bundles.

use std::path::PathBuf;

use axum::response::Response;
use thiserror::Error;

use crate::app::App;
use crate::files::{self, FILE_LIMIT, FileError, Upload, Validator};
use crate::http::error::ApiError;
use crate::provisioning::store::{self, Bundle};
use crate::values::{Identifier, NetworkId};

/// Where the room's files are.
pub(crate) const FOLDER: &str = "bundles";
const FILE_ID_LENGTH: usize = 16;
/// How often somebody else may be faster.
const ATTEMPTS: usize = 10;

/// What can be wrong with a request about bundles.
#[derive(Debug, Error)]
pub(super) enum BundlesError {
    /// There is none.
    #[error("This network has no bundle for the server type `{0}`.")]
    None(Identifier),
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<BundlesError> for ApiError {
    fn from(error: BundlesError) -> Self {
        let message = error.to_string();
        match error {
            BundlesError::None(_) => Self::not_found("unknown_bundle", message),
            BundlesError::File(error) => error.into(),
            BundlesError::Database(error) => error.into(),
        }
    }
}

/// Takes a bundle in, over the one that is there.
pub(super) async fn put(
    app: &App,
    network: NetworkId,
    server_type: Identifier,
    upload: Upload<FILE_LIMIT>,
) -> Result<Bundle, BundlesError> {
    let received = app.files.receive(upload).await?;
    let bundle = Bundle {
        server_type,
        file_id: app.ids.token(FILE_ID_LENGTH),
        sha256: received.sha256.clone(),
        size_bytes: received.size as i64,
        updated_at: app.clock.now(),
    };
    let app = app.clone();
    // On its own from here on: a caller who hangs up leaves no file without its row.
    let settled = tokio::spawn(async move {
        let place = place(&app, network, &bundle.file_id);
        received.keep(&place).await?;
        match point_to(&app, network, &bundle).await {
            Ok(before) => {
                if let Some(before) = before {
                    app.files.remove(&self::place(&app, network, &before)).await;
                }
                Ok(bundle)
            }
            Err(error) => {
                app.files.remove(&place).await;
                Err(error.into())
            }
        }
    });
    settled.await.map_err(|error| FileError::Disk(std::io::Error::other(error)))?
}

/// Makes the bundle the one of its type; the file of the one before, which nobody else replaced.
async fn point_to(app: &App, network: NetworkId, bundle: &Bundle) -> Result<Option<String>, hub_db::Error> {
    for _ in 0..ATTEMPTS {
        let before = store::find(&app.db, network, &bundle.server_type).await?.map(|before| before.file_id);
        let done = match &before {
            Some(before) => store::replace(&app.db, network, before, bundle).await?,
            None => store::insert(&app.db, network, bundle).await?,
        };
        if done {
            return Ok(before);
        }
    }
    Err(hub_db::Error::Conflict)
}

/// The bundle as an answer.
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
        match files::send(&place(app, network, &bundle.file_id), &bundle.sha256, size, has).await {
            // It was replaced between the two looks.
            Err(FileError::Disk(error)) if error.kind() == std::io::ErrorKind::NotFound && attempt < ATTEMPTS => {
                attempt += 1;
            }
            answered => return Ok(answered?),
        }
    }
}

/// By server type, and how many there are.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Bundle>, i64), BundlesError> {
    Ok(store::list(&app.db, network, limit, offset).await?)
}

/// Removes a bundle.
pub(super) async fn delete(app: &App, network: NetworkId, server_type: Identifier) -> Result<(), BundlesError> {
    let file = store::delete(&app.db, network, &server_type).await?.ok_or(BundlesError::None(server_type))?;
    app.files.remove(&place(app, network, &file)).await;
    Ok(())
}

fn place(app: &App, network: NetworkId, file_id: &str) -> PathBuf {
    app.files.place(FOLDER, network, file_id)
}

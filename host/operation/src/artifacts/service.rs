//! The rules of artifacts.

use std::slice;

use axum::response::Response;
use serde_json::{Value, json};
use thiserror::Error;

use crate::app::App;
use crate::artifacts::link::{self, Claims};
use crate::artifacts::model::{Artifact, ArtifactLabel};
use crate::artifacts::store;
use crate::audit::{self, Action as AuditAction, Change};
use crate::auth::{Caller, Origin};
use crate::blobs::{self, BLOB_LIMIT, BlobError, BlobKey, Blobs, ReceivedBlob, Upload, Validator};
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::control::service::ControlError;
use crate::control::{self, Action};
use crate::http::error::ApiError;
use crate::limits::{QuotaExceeded, check_rows};
use crate::networks;
use crate::networks::service::NetworksError;
use crate::presence;
use crate::secrets::signing_key;
use crate::values::{Identifier, NetworkId};

const ID_LENGTH: usize = 16;

/// Errors of requests about artifacts.
#[derive(Debug, Error)]
pub(super) enum ArtifactsError {
    /// The version exists with other bytes.
    #[error("`{0}` {1} exists with other bytes; versions never change, so upload these under a new version.")]
    VersionExists(ArtifactLabel, ArtifactLabel),
    /// No such artifact.
    #[error("This network has no such artifact.")]
    Unknown,
    /// No such server.
    #[error("This network has no server `{0}`.")]
    UnknownServer(Identifier),
    /// The link was not signed by this hub.
    #[error("Invalid link signature; install the artifact again to get a new link.")]
    InvalidLink,
    /// The link has expired.
    #[error("This link has expired; install the artifact again to get a new link.")]
    LinkExpired,
    /// The caller may no longer do it.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The link's network is suspended or gone.
    #[error(transparent)]
    Network(#[from] NetworksError),
    /// The agent was not notified.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Limit of the network reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// Blob store error.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ArtifactsError> for ApiError {
    fn from(error: ArtifactsError) -> Self {
        use axum::http::StatusCode;
        let message = error.to_string();
        match error {
            ArtifactsError::VersionExists(..) => Self::bad_request("version_exists", message),
            ArtifactsError::Refused(refusal) => refusal,
            ArtifactsError::Unknown => Self::not_found("unknown_artifact", message),
            ArtifactsError::UnknownServer(_) => Self::not_found("unknown_server", message),
            ArtifactsError::InvalidLink => Self::new(StatusCode::FORBIDDEN, "invalid_link", message),
            ArtifactsError::LinkExpired => Self::new(StatusCode::GONE, "link_expired", message),
            ArtifactsError::Network(error) => error.into(),
            ArtifactsError::Control(error) => error.into(),
            ArtifactsError::Quota(exceeded) => exceeded.into(),
            ArtifactsError::Blob(error) => error.into(),
            ArtifactsError::Database(error) => error.into(),
        }
    }
}

/// Result of an upload.
pub(super) enum Uploaded {
    /// A new version.
    New(Artifact),
    /// The version exists with the same bytes.
    Known(Artifact),
}

/// Stores an archive as a version.
pub(super) async fn upload(
    app: &App,
    network: NetworkId,
    name: ArtifactLabel,
    version: ArtifactLabel,
    upload: Upload<BLOB_LIMIT>,
    origin: Origin,
) -> Result<Uploaded, ArtifactsError> {
    let is_there = async { Ok(store::find_version(&app.db, network, &name, &version).await?.is_some()) };
    let _adding = check_rows::<ArtifactsError>(app, network, store::ARTIFACTS, 1, is_there).await?;
    let ReceivedBlob { blob, sha256, size } = blobs::receive(app, network, upload.0, BLOB_LIMIT).await?;
    let now = app.clock.now();
    let artifact = Artifact {
        artifact_id: app.ids.token(ID_LENGTH),
        name,
        version,
        sha256,
        size_bytes: size as i64,
        created_at: now,
    };
    // Independent of the request: from here on the upload completes even if the client disconnects.
    let app = app.clone();
    let inserting = tokio::spawn(hub_db::with_tenant(network.0, async move {
        let key = key(network, &artifact);
        blob.store(&key, now).await?;
        let inserted = app.db.transaction(async |mut tx| {
            // The upload may have taken hours.
            origin.still_may(&mut tx).await?;
            let inserted = store::insert(&mut tx, network, &artifact).await?;
            if inserted {
                blobs::mark_referenced(&mut tx, &key).await?;
                let change = Change::new(AuditAction::ArtifactUploaded, &artifact.artifact_id).after(shown(&artifact));
                audit::record(&mut tx, network, &origin, change).await?;
            }
            Ok::<_, ArtifactsError>(inserted)
        });
        let refusal = match inserted.await {
            Ok(true) => return Ok(Uploaded::New(artifact)),
            Ok(false) => None,
            Err(ArtifactsError::Refused(refusal)) => Some(refusal),
            // The commit may be uncertain: its blob stays for the sweep.
            Err(error) => return Err(error),
        };
        app.state::<Blobs>().delete_unreferenced(slice::from_ref(&key)).await;
        if let Some(refusal) = refusal {
            return Err(refusal.into());
        }
        match store::find_version(&app.db, network, &artifact.name, &artifact.version).await? {
            Some(known) if known.sha256 == artifact.sha256 => Ok(Uploaded::Known(known)),
            _ => Err(ArtifactsError::VersionExists(artifact.name, artifact.version)),
        }
    }));
    inserting.await.map_err(BlobError::from)?
}

/// Audit log form of an artifact.
fn shown(artifact: &Artifact) -> Value {
    json!({
        "name": artifact.name.to_string(), "version": artifact.version.to_string(), "sha256": artifact.sha256,
        "sizeBytes": artifact.size_bytes,
    })
}

fn key(network: NetworkId, artifact: &Artifact) -> BlobKey {
    BlobKey::artifact(network, &artifact.sha256, &artifact.artifact_id)
}

/// Artifacts of the network, newest first, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Artifact>, i64), ArtifactsError> {
    Ok(store::list(&app.db, network, limit, offset).await?)
}

/// Deletes an artifact; its links become invalid.
pub(super) async fn delete(app: &App, network: NetworkId, id: &str, origin: &Origin) -> Result<(), ArtifactsError> {
    let deleted = app.db.transaction(async |mut tx| {
        let Some(artifact) = store::delete(&mut tx, network, id).await? else { return Ok(None) };
        let key = key(network, &artifact);
        blobs::mark_unreferenced(&mut tx, &key).await?;
        let change = Change::new(AuditAction::ArtifactDeleted, id).before(shown(&artifact));
        audit::record(&mut tx, network, origin, change).await?;
        Ok::<_, hub_db::Error>(Some(key))
    });
    let key = deleted.await?.ok_or(ArtifactsError::Unknown)?;
    app.state::<Blobs>().delete_unreferenced(&[key]).await;
    Ok(())
}

/// A new link.
pub(super) struct Link {
    pub(super) token: String,
    pub(super) expires_at: Millis,
}

/// Install command for a server's agent.
pub(super) struct Install {
    pub(super) url: String,
    pub(super) artifact: Artifact,
    pub(super) expires_at: Millis,
}

/// Creates a link and queues the installation at the server's agent; `url` builds the link's address.
pub(super) async fn install(
    app: &App,
    caller: &Caller,
    id: &str,
    server: Identifier,
    url: impl FnOnce(&str) -> String,
    lease: &RequestLease,
) -> Result<Install, ArtifactsError> {
    let network = caller.network;
    let artifact = store::find(&app.db, network, id).await?.ok_or(ArtifactsError::Unknown)?;
    if !presence::service::is_known_server(app, network, &server).await? {
        return Err(ArtifactsError::UnknownServer(server));
    }
    let link = sign(app, caller, &artifact).await?;
    let install = Install { url: url(&link.token), artifact, expires_at: link.expires_at };
    tell_agent(app, network, &server, &install, lease, &caller.origin(app)).await?;
    Ok(install)
}

async fn sign(app: &App, caller: &Caller, artifact: &Artifact) -> Result<Link, ArtifactsError> {
    let ttl = Millis::try_from(app.settings.artifact_link_ttl).unwrap_or(Millis::MAX);
    let expires_at = app.clock.now().saturating_add(ttl);
    // A link ends with the key that made it.
    let expires_at = caller.expires_at.map_or(expires_at, |own| own.min(expires_at));
    let claims = Claims { network: caller.network, artifact_id: artifact.artifact_id.clone(), expires_at };
    let key = signing_key(app, link::PURPOSE).await?;
    Ok(Link { token: link::sign(&key, &claims), expires_at })
}

/// Queues an INSTALL command for the server's agent until the link expires. The agent need not be connected yet: it
/// may be starting.
async fn tell_agent(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    install: &Install,
    lease: &RequestLease,
    origin: &Origin,
) -> Result<(), ControlError> {
    let Install { url, artifact, expires_at } = install;
    let action = Action::Install {
        url: url.clone(),
        name: artifact.name.to_string(),
        version: artifact.version.to_string(),
        sha256: artifact.sha256.clone(),
    };
    control::service::queue_action(app, network, server, action, *expires_at, lease, origin).await
}

/// Serves the artifact of a link's token.
pub(super) async fn send(app: &App, token: &str, has: &Validator) -> Result<Response, ArtifactsError> {
    let claims = link::read(&signing_key(app, link::PURPOSE).await?, token).ok_or(ArtifactsError::InvalidLink)?;
    if claims.expires_at <= app.clock.now() {
        return Err(ArtifactsError::LinkExpired);
    }
    let artifact = async {
        networks::service::require_active(&app.db, claims.network).await?;
        Ok::<_, ArtifactsError>(store::find(&app.db, claims.network, &claims.artifact_id).await?)
    };
    let artifact = hub_db::with_tenant(claims.network.0, artifact).await?.ok_or(ArtifactsError::Unknown)?;
    let size = u64::try_from(artifact.size_bytes).unwrap_or_default();
    Ok(app.state::<Blobs>().send(&key(claims.network, &artifact), &artifact.sha256, size, has).await?)
}

//! The rules of artifacts.

use std::path::PathBuf;

use thiserror::Error;

use crate::app::App;
use crate::artifacts::link::{self, Claims};
use crate::artifacts::model::{Artifact, Label};
use crate::artifacts::store;
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::control::service::ControlError;
use crate::control::{self, Action};
use crate::files::{FILE_LIMIT, FileError, Upload};
use crate::http::error::ApiError;
use crate::secrets::signing_key;
use crate::servers;
use crate::values::{Identifier, NetworkId};

/// Where the room's files are.
pub(crate) const FOLDER: &str = "artifacts";
const ID_LENGTH: usize = 16;

/// What can be wrong with a request about artifacts.
#[derive(Debug, Error)]
pub enum ArtifactsError {
    /// The version is there with other bytes.
    #[error("`{0}` {1} is there already with other bytes; a version never changes, so give these a new one.")]
    VersionExists(Label, Label),
    /// No such artifact.
    #[error("This network has no such artifact.")]
    Unknown,
    /// No such server.
    #[error("This network has no server `{0}`.")]
    UnknownServer(Identifier),
    /// The hub did not make this link.
    #[error("This is not a link the hub has signed; install the artifact again to get one.")]
    InvalidLink,
    /// The link's time is over.
    #[error("This link has expired; install the artifact again to get a new one.")]
    LinkExpired,
    /// The agent was not told.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
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
            ArtifactsError::Unknown => Self::not_found("unknown_artifact", message),
            ArtifactsError::UnknownServer(_) => Self::not_found("unknown_server", message),
            ArtifactsError::InvalidLink => Self::new(StatusCode::FORBIDDEN, "invalid_link", message),
            ArtifactsError::LinkExpired => Self::new(StatusCode::GONE, "link_expired", message),
            ArtifactsError::Control(error) => error.into(),
            ArtifactsError::File(error) => error.into(),
            ArtifactsError::Database(error) => error.into(),
        }
    }
}

/// What became of an upload.
pub(super) enum Uploaded {
    /// A new version.
    New(Artifact),
    /// The same bytes are there under that version.
    Known(Artifact),
}

/// Takes an archive in.
pub(super) async fn upload(
    app: &App,
    network: NetworkId,
    name: Label,
    version: Label,
    upload: Upload<FILE_LIMIT>,
) -> Result<Uploaded, ArtifactsError> {
    let received = app.files.receive(upload).await?;
    let artifact = Artifact {
        artifact_id: app.ids.token(ID_LENGTH),
        name,
        version,
        sha256: received.sha256.clone(),
        size_bytes: received.size as i64,
        created_at: app.clock.now(),
    };
    let place = place(app, network, &artifact.artifact_id);
    // On its own from here on: a caller who hangs up leaves no file without its row.
    let app = app.clone();
    let settled = tokio::spawn(async move {
        received.keep(&place).await?;
        match store::insert(&app.db, network, &artifact).await {
            Ok(true) => return Ok(Uploaded::New(artifact)),
            Ok(false) => app.files.remove(&place).await,
            Err(error) => {
                app.files.remove(&place).await;
                return Err(error.into());
            }
        }
        match store::find_version(&app.db, network, &artifact.name, &artifact.version).await? {
            Some(known) if known.sha256 == artifact.sha256 => Ok(Uploaded::Known(known)),
            _ => Err(ArtifactsError::VersionExists(artifact.name, artifact.version)),
        }
    });
    settled.await.map_err(|error| FileError::Disk(std::io::Error::other(error)))?
}

/// The network's artifacts, newest first, and how many there are.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Artifact>, i64), ArtifactsError> {
    Ok(store::list(&app.db, network, limit, offset).await?)
}

/// Removes an artifact; its links lead nowhere from now on.
pub(super) async fn delete(app: &App, network: NetworkId, id: &str) -> Result<(), ArtifactsError> {
    if !store::delete(&app.db, network, id).await? {
        return Err(ArtifactsError::Unknown);
    }
    app.files.remove(&place(app, network, id)).await;
    Ok(())
}

/// A link that was just made.
pub(super) struct Link {
    pub(super) token: String,
    pub(super) expires_at: Millis,
}

/// What a server's agent is told to install.
pub(super) struct Install {
    pub(super) url: String,
    pub(super) artifact: Artifact,
    pub(super) expires_at: Millis,
}

/// Makes a link and tells the server's agent to install what it leads to; `url` makes the link's address.
pub(super) async fn install(
    app: &App,
    network: NetworkId,
    id: &str,
    server: Identifier,
    url: impl FnOnce(&str) -> String,
    lease: &RequestLease,
) -> Result<Install, ArtifactsError> {
    let artifact = store::find(&app.db, network, id).await?.ok_or(ArtifactsError::Unknown)?;
    if !servers::service::is_known_server(app, network, &server).await? {
        return Err(ArtifactsError::UnknownServer(server));
    }
    let link = sign(app, network, &artifact).await?;
    let install = Install { url: url(&link.token), artifact, expires_at: link.expires_at };
    tell_agent(app, network, &server, &install, lease).await?;
    Ok(install)
}

async fn sign(app: &App, network: NetworkId, artifact: &Artifact) -> Result<Link, ArtifactsError> {
    let ttl = Millis::try_from(app.settings.artifact_link_ttl).unwrap_or(Millis::MAX);
    let expires_at = app.clock.now().saturating_add(ttl);
    let claims = Claims { network, artifact_id: artifact.artifact_id.clone(), expires_at };
    let key = signing_key(app, link::PURPOSE).await?;
    Ok(Link { token: link::sign(&key, &claims), expires_at })
}

/// Puts an INSTALL into the queue of the server's agent, to be fetched before the link ends. The agent need not be there
/// yet: it may be on its way up.
async fn tell_agent(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    install: &Install,
    lease: &RequestLease,
) -> Result<(), ControlError> {
    let Install { url, artifact, expires_at } = install;
    let action = Action::Install {
        url: url.clone(),
        name: artifact.name.to_string(),
        version: artifact.version.to_string(),
        sha256: artifact.sha256.clone(),
    };
    control::service::queue_action(app, network, server, action, *expires_at, lease).await
}

/// A file a link leads to.
pub(super) struct Download {
    pub(super) place: PathBuf,
    pub(super) artifact: Artifact,
}

/// What the token in a link stands for.
pub(super) async fn open(app: &App, token: &str) -> Result<Download, ArtifactsError> {
    let claims = link::read(&signing_key(app, link::PURPOSE).await?, token).ok_or(ArtifactsError::InvalidLink)?;
    if claims.expires_at <= app.clock.now() {
        return Err(ArtifactsError::LinkExpired);
    }
    let artifact = store::find(&app.db, claims.network, &claims.artifact_id).await?;
    let artifact = artifact.ok_or(ArtifactsError::Unknown)?;
    Ok(Download { place: place(app, claims.network, &artifact.artifact_id), artifact })
}

fn place(app: &App, network: NetworkId, id: &str) -> PathBuf {
    app.files.place(FOLDER, network, id)
}

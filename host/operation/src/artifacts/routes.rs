//! `/api/manage/artifacts` for owners, `/api/artifacts/{token}` for holders of a link.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::artifacts::model::{Artifact, ArtifactLabel};
use crate::artifacts::service::{self, ArtifactsError, Uploaded};
use crate::auth::{NetworkManage, Scope};
use crate::blobs::{BLOB_LIMIT, Bytes, Upload, Validator};
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::endpoints::{Endpoints, endpoints, public_endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::hub_url::HubUrl;
use crate::http::page::{Page, PageQuery};
use crate::values::Identifier;

/// Routes of the owner.
pub(super) fn router() -> Endpoints {
    endpoints![upload: any_node, list, install: retry_on_owner secret, delete: retry_on_owner]
}

/// Routes without a key.
pub(super) fn public() -> Endpoints {
    let without_token = async || ApiError::from(ArtifactsError::InvalidLink);
    public_endpoints![download]
        .undocumented("/api/artifacts", get(without_token))
        .undocumented("/api/artifacts/", get(without_token))
}

/// Archive that can be installed on servers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Artifact)]
struct ArtifactBody {
    #[schema(example = "Zk3vXq0aP1mB7s2T")]
    artifact_id: String,
    #[schema(example = "my-plugin")]
    name: String,
    #[schema(example = "1.4.0")]
    version: String,
    /// SHA-256 of the bytes.
    #[schema(example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    sha256: String,
    #[schema(example = 48213)]
    size_bytes: i64,
    /// Time of the upload.
    #[schema(example = 1804680000000_i64)]
    created_at: Millis,
}

impl From<Artifact> for ArtifactBody {
    fn from(artifact: Artifact) -> Self {
        Self {
            artifact_id: artifact.artifact_id,
            name: artifact.name.to_string(),
            version: artifact.version.to_string(),
            sha256: artifact.sha256,
            size_bytes: artifact.size_bytes,
            created_at: artifact.created_at,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct UploadQuery {
    /// Name: 1 to 128 of A-Z, a-z, 0-9, `_`, `.`, `-` and `+`, beginning with a letter or digit.
    #[param(required = true, example = "my-plugin", max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
    name: Option<String>,
    /// Version, of the same characters.
    #[param(required = true, example = "1.4.0", max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
    version: Option<String>,
}

fn label(field: &str, sent: Option<String>) -> Result<ArtifactLabel, ApiError> {
    sent.unwrap_or_default()
        .parse()
        .map_err(|reason: String| ApiError::invalid(format!("In the query, `{field}`: {reason}.")))
}

/// Upload an artifact
///
/// The bytes of a plugin's archive, up to 512 MiB; the hub does not inspect them. A version never changes: uploading
/// the same bytes again returns 200 with the existing version, other bytes return 400 `version_exists`.
#[utoipa::path(post, path = "/api/manage/artifacts", operation_id = "upload_artifact", tag = "Artifacts",
    security(("apiKey" = ["network:manage"])), params(UploadQuery),
    request_body(content = Bytes, content_type = "application/octet-stream", description = "The archive's bytes"),
    responses((status = 201, body = ArtifactBody, description = "A new version"),
        (status = 200, body = ArtifactBody, description = "The same bytes exist already"),
        (status = 503, body = ErrorBody, description = "The hub's storage is full")))]
async fn upload(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<UploadQuery>,
    upload: Upload<BLOB_LIMIT>,
) -> Result<(StatusCode, Json<ArtifactBody>), ApiError> {
    let (name, version) = (label("name", query.name)?, label("version", query.version)?);
    let (status, artifact) =
        match service::upload(&app, caller.network, name, version, upload, caller.origin(&app)).await? {
            Uploaded::New(artifact) => (StatusCode::CREATED, artifact),
            Uploaded::Known(artifact) => (StatusCode::OK, artifact),
        };
    Ok((status, Json(artifact.into())))
}

/// List the network's artifacts
///
/// Newest first.
#[utoipa::path(get, path = "/api/manage/artifacts", operation_id = "list_artifacts", tag = "Artifacts",
    security(("apiKey" = ["network:manage"])), params(PageQuery), responses((status = 200, body = Page<ArtifactBody>)))]
async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<ArtifactBody>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::list(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(ArtifactBody::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ArtifactInstallation)]
struct InstallBody {
    /// Server on which to install it.
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ArtifactLink)]
struct Installing {
    /// Download link; anyone who has it can use it.
    #[schema(example = "https://hub.example/api/artifacts/AAAA.BBBB")]
    url: String,
    /// Expiry of the link: that of the key, if it is earlier.
    #[schema(example = 1804680600000_i64)]
    expires_at: Millis,
}

/// Install an artifact on a server
///
/// Creates a download link and queues an INSTALL command with it for the server's agent, which can fetch it until the
/// link expires. The response does not wait for the agent. What is installed runs on the server: the key also needs the
/// scope `servers:control`.
#[utoipa::path(post, path = "/api/manage/artifacts/{artifactId}/install", operation_id = "install_artifact",
    tag = "Artifacts", security(("apiKey" = ["network:manage"])), params(("artifactId" = String, Path)),
    responses((status = 201, body = Installing, description = "The command is queued"),
        (status = 404, body = ErrorBody, description = "No such artifact, or no such server")))]
async fn install(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    lease: RequestLease,
    Path(id): Path<String>,
    hub: HubUrl,
    Json(body): Json<InstallBody>,
) -> Result<(StatusCode, Json<Installing>), ApiError> {
    caller.require(&[Scope::ServersControl])?;
    let hub = hub.required()?;
    let url = |token: &str| format!("{hub}/api/artifacts/{token}");
    let install = service::install(&app, &caller, &id, body.server_id, url, &lease).await?;
    Ok((StatusCode::CREATED, Json(Installing { url: install.url, expires_at: install.expires_at })))
}

/// Delete an artifact
///
/// Links to it become invalid. Installed copies stay.
#[utoipa::path(delete, path = "/api/manage/artifacts/{artifactId}", operation_id = "delete_artifact",
    tag = "Artifacts", security(("apiKey" = ["network:manage"])), params(("artifactId" = String, Path)),
    responses((status = 204, description = "Deleted"),
        (status = 404, body = ErrorBody, description = "No such artifact")))]
async fn delete(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::delete(&app, caller.network, &id, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Download an artifact
///
/// The link is the permission; no key is needed. The `ETag` is the SHA-256 of the bytes.
#[utoipa::path(get, path = "/api/artifacts/{token}", operation_id = "download_artifact", tag = "Artifacts",
    params(("token" = String, Path, description = "Token of the download link")),
    responses((status = 200, body = Bytes, content_type = "application/octet-stream", description = "The archive"),
        (status = 304, description = "`If-None-Match` matches the `ETag`"),
        (status = 403, body = ErrorBody, description = "Malformed token, invalid signature, or suspended network"),
        (status = 404, body = ErrorBody, description = "The artifact was deleted"),
        (status = 410, body = ErrorBody, description = "The link has expired")))]
async fn download(State(app): State<App>, Path(token): Path<String>, has: Validator) -> Result<Response, ApiError> {
    Ok(service::send(&app, &token, &has).await?)
}

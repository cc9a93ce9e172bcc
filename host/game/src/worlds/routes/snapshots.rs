//! Snapshots stored by the hub itself, by signed links.

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::blobs::Bytes;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::worlds::service;

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoredSnapshot)]
pub(super) struct Stored {
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e/12/3-1")]
    blob_key: String,
    /// Number of received bytes.
    #[schema(example = 1_048_576)]
    size_bytes: i64,
}

/// Upload a snapshot
///
/// The link is that of `upload-url`. With the answer 200 the snapshot is on disk, and its world boots from it next.
/// Refused once the link's lease has ended (400 `lease_ended`), so that a returning node never overwrites its
/// successor's.
#[utoipa::path(put, path = "/api/worlds/blobs/{token}", tag = "Worlds",
    params(("token" = String, Path, description = "The signed part of the link")),
    request_body(content_type = "application/octet-stream", content = Bytes),
    responses((status = 200, body = Stored), (status = 403, body = ErrorBody, description = "Invalid link, or its network is suspended"),
        (status = 404, body = ErrorBody, description = "The upload no longer exists"),
        (status = 410, body = ErrorBody, description = "The link has expired")))]
pub(super) async fn put_world_blob(
    State(app): State<App>,
    Path(token): Path<String>,
    request: Request,
) -> Result<Json<Stored>, ApiError> {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let snapshot = service::receive(&app, &token, length, request.into_body()).await?;
    Ok(Json(Stored { blob_key: snapshot.blob_key, size_bytes: snapshot.size_bytes.unwrap_or_default() }))
}

/// Download a snapshot
///
/// The link is the `snapshotUrl` of `WORLD_OPEN`.
#[utoipa::path(get, path = "/api/worlds/blobs/{token}", tag = "Worlds",
    params(("token" = String, Path, description = "The signed part of the link")),
    responses((status = 200, description = "The snapshot's bytes", content_type = "application/octet-stream", body = Bytes),
        (status = 403, body = ErrorBody, description = "Invalid link, or its network is suspended"),
        (status = 404, body = ErrorBody, description = "The snapshot no longer exists"),
        (status = 410, body = ErrorBody, description = "The link has expired")))]
pub(super) async fn get_world_blob(State(app): State<App>, Path(token): Path<String>) -> Result<Response, ApiError> {
    let blob = service::read(&app, &token).await?;
    let headers = [(CONTENT_TYPE, "application/octet-stream".to_owned()), (CACHE_CONTROL, "no-store".to_owned())];
    Ok((headers, blob).into_response())
}

//! Actions on a world: release, save, begin an upload.

use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{LeaseAnswer, snapshot_base};
use crate::app::App;
use crate::auth::{Agent, Plugin};
use crate::clock::Millis;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::http::hub_url::HubUrl;
use crate::values::{Text, blank_as_absent};
use crate::worlds::service;

/// Release a world
///
/// A hint that it is unused: if it is up, it is saved and unloaded at once. A world that is booting, or has ended,
/// stays unchanged. A key bound to servers releases only their worlds (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/plugin/worlds/{id}/release", tag = "Worlds", security(("apiKey" = ["plugin"])),
    params(("id" = i64, Path, example = 17)), responses((status = 200, body = LeaseAnswer),
        (status = 404, body = ErrorBody, description = "No such lease")))]
pub(super) async fn release_world(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path(id): Path<i64>,
) -> Result<Json<LeaseAnswer>, ApiError> {
    let lease = service::release(&app, &caller, id).await?;
    Ok(Json(LeaseAnswer::of(&app, lease)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SnapshotRequest)]
pub(super) struct Snapshot {
    /// Passed to the node. Default: `REQUESTED`.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "BEFORE_BOSS_FIGHT")]
    reason: Option<Text<255>>,
}

/// Request a save point
///
/// The node of a world that is up gets a `WORLD_SNAPSHOT` event. 400 `world_not_ready` while it boots, `not_persistent`
/// if it is EPHEMERAL. A key bound to servers asks only for their worlds (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/plugin/worlds/{id}/snapshot", tag = "Worlds", security(("apiKey" = ["plugin"])),
    params(("id" = i64, Path, example = 17)), responses((status = 200, body = LeaseAnswer),
        (status = 404, body = ErrorBody, description = "No such lease")))]
pub(super) async fn snapshot_world(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path(id): Path<i64>,
    Json(body): Json<Snapshot>,
) -> Result<Json<LeaseAnswer>, ApiError> {
    let reason = body.reason.map_or_else(|| "REQUESTED".to_owned(), Text::into_string);
    let lease = service::ask_snapshot(&app, &caller, id, reason).await?;
    Ok(Json(LeaseAnswer::of(&app, lease)))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SnapshotUpload)]
pub(super) struct UploadUrl {
    /// Destination of the bytes.
    #[schema(example = "https://hub.example.org/api/worlds/blobs/…")]
    url: String,
    #[schema(value_type = String, example = "PUT")]
    method: &'static str,
    /// Headers of the upload.
    headers: BTreeMap<String, String>,
    /// Name of the snapshot for `unloaded` and `heartbeat`.
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e/12/3-1")]
    blob_key: String,
    /// Time until which the upload may begin.
    #[schema(example = 1_804_680_900_000_i64)]
    expires_at: Millis,
}

/// Create an upload URL for a snapshot
///
/// Valid for 15 minutes and only for this lease. Each upload needs its own. A key bound to servers gets URLs only for
/// their leases (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/plugin/worlds/{id}/upload-url", tag = "Worlds", operation_id = "create_world_upload_url",
    security(("apiKey" = ["plugin"]), ("apiKey" = ["agent"])), params(("id" = i64, Path, example = 17)),
    responses((status = 200, body = UploadUrl), (status = 404, body = ErrorBody, description = "No such lease")))]
pub(super) async fn mint_world_upload_url(
    Agent(caller): Agent,
    State(app): State<App>,
    Path(id): Path<i64>,
    hub: HubUrl,
) -> Result<Json<UploadUrl>, ApiError> {
    let upload = service::mint(&app, &caller, id, &snapshot_base(&app, hub)?).await?;
    Ok(Json(UploadUrl {
        url: upload.url,
        method: "PUT",
        headers: BTreeMap::new(),
        blob_key: upload.blob_key,
        expires_at: upload.expires_at,
    }))
}

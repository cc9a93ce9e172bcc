//! `/api/manage/players/{uuid}/data/{gameMode}/{namespace}/snapshots`.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{NetworkManage, PlayerRecordsRead};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::players::model::DataKey;
use crate::players::routes::data::DataEntry;
use crate::players::sessions::{restore, snapshots};
use crate::players::store::snapshots::{Snapshot, SnapshotEntry};
use crate::values::{Identifier, Label, PlayerId};

pub(super) fn router() -> Endpoints {
    endpoints![list_snapshots, get_snapshot, restore_snapshot: transactional]
}

/// Content of a namespace at the end of a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names, reason = "the wire calls it snapshotId")]
struct DataSnapshot {
    #[schema(example = 42)]
    snapshot_id: i64,
    /// Time at which the session ended.
    #[schema(example = 1_804_680_000_000_i64)]
    at: Millis,
    /// Version of the data.
    #[schema(example = 3)]
    version: i64,
    /// Size of the data in bytes.
    #[schema(example = 1_024)]
    size_bytes: i64,
    /// Server that had the session.
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Fence of the session.
    #[schema(example = 42)]
    fence: i64,
}

impl From<SnapshotEntry> for DataSnapshot {
    fn from(entry: SnapshotEntry) -> Self {
        let SnapshotEntry { fence, server_id, at, version, size_bytes } = entry;
        Self { snapshot_id: fence, at, version, size_bytes, server_id, fence }
    }
}

/// A snapshot with its data.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DataSnapshotContent)]
struct SnapshotContent {
    #[serde(flatten)]
    snapshot: DataSnapshot,
    /// JSON text as written.
    #[schema(example = r#"{"coins":5}"#)]
    data: String,
}

/// List the snapshots of a player's data
///
/// Newest first, at most 16: the content at the end of each session that changed it.
#[utoipa::path(get, path = "/api/manage/players/{uuid}/data/{gameMode}/{namespace}/snapshots", tag = "Player sessions",
    operation_id = "list_data_snapshots", security(("apiKey" = ["players:read", "network:manage"])),
    params(("uuid" = PlayerId, Path), ("gameMode" = Label, Path), ("namespace" = Label, Path, example = "inventory"), PageQuery),
    responses((status = 200, body = Page<DataSnapshot>)))]
async fn list_snapshots(
    PlayerRecordsRead(caller): PlayerRecordsRead,
    State(app): State<App>,
    Path((player, game_mode, namespace)): Path<(PlayerId, Label, Label)>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<DataSnapshot>>, ApiError> {
    let key = DataKey { player, game_mode, namespace };
    let offset = query.page.offset(query.limit);
    let (entries, total) = snapshots::list(&app, caller.network, &key, query.limit.0, offset).await?;
    Ok(Json(Page::new(entries, query.page, query.limit, total).map(DataSnapshot::from)))
}

/// Get a snapshot of a player's data
#[utoipa::path(get, path = "/api/manage/players/{uuid}/data/{gameMode}/{namespace}/snapshots/{snapshotId}", tag = "Player sessions",
    operation_id = "get_data_snapshot", security(("apiKey" = ["players:read", "network:manage"])),
    params(("uuid" = PlayerId, Path), ("gameMode" = Label, Path), ("namespace" = Label, Path, example = "inventory"),
        ("snapshotId" = i64, Path, description = "Id of the snapshot", example = 1)),
    responses((status = 200, body = SnapshotContent), (status = 404, body = ErrorBody, description = "No such snapshot")))]
async fn get_snapshot(
    PlayerRecordsRead(caller): PlayerRecordsRead,
    State(app): State<App>,
    Path((player, game_mode, namespace, id)): Path<(PlayerId, Label, Label, i64)>,
) -> Result<Json<SnapshotContent>, ApiError> {
    let key = DataKey { player, game_mode, namespace };
    let Snapshot { entry, data } = snapshots::get(&app, caller.network, &key, id).await?;
    Ok(Json(SnapshotContent { snapshot: entry.into(), data }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RestoreQuery {
    /// End the player's open session, which then writes nothing more. Default: false.
    #[param(required = false, example = true)]
    force: Option<bool>,
}

/// Restore a snapshot of a player's data
///
/// Writes the snapshot's data as a new version. While the player has an open session it is 409 `session_open`; `force` ends
/// that session, and its server gets `SESSION_ENDED`.
#[utoipa::path(post, path = "/api/manage/players/{uuid}/data/{gameMode}/{namespace}/snapshots/{snapshotId}/restore", tag = "Player sessions",
    operation_id = "restore_data_snapshot", security(("apiKey" = ["network:manage"])),
    params(("uuid" = PlayerId, Path), ("gameMode" = Label, Path), ("namespace" = Label, Path, example = "inventory"),
        ("snapshotId" = i64, Path, description = "Id of the snapshot", example = 1), RestoreQuery),
    responses((status = 200, body = DataEntry), (status = 404, body = ErrorBody, description = "No such snapshot"),
        (status = 409, body = ErrorBody, description = "The player has an open session")))]
async fn restore_snapshot(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path((player, game_mode, namespace, id)): Path<(PlayerId, Label, Label, i64)>,
    Query(query): Query<RestoreQuery>,
) -> Result<Json<DataEntry>, ApiError> {
    let key = DataKey { player, game_mode, namespace };
    let force = query.force.unwrap_or(false);
    let (data, version) = restore::restore(&app, caller.network, &key, id, force, &caller.origin(&app)).await?;
    let DataKey { game_mode, namespace, .. } = key;
    Ok(Json(DataEntry { game_mode, namespace, data, version }))
}

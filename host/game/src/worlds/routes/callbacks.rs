//! Callbacks of nodes.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::LeaseAnswer;
use crate::app::App;
use crate::auth::Agent;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::presence::Count;
use crate::values::{Identifier, Text, blank_as_absent};
use crate::worlds::model::LeaseHolder;
use crate::worlds::service::{self, SavedSnapshot};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NodeRelease)]
pub(super) struct ReleaseAll {
    /// Node that restarted.
    #[schema(example = "island-node-1")]
    node_server_id: Identifier,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NodeReleaseCount)]
pub(super) struct Released {
    /// Number of leases that this ended.
    #[schema(example = 2)]
    released: usize,
}

/// Drop all leases of a node
///
/// Called by a node at its start: all its earlier leases become LOST, and their worlds boot from their newest snapshots
/// when they are opened again.
#[utoipa::path(post, path = "/api/plugin/worlds/release-all", tag = "Worlds",
    security(("apiKey" = ["plugin"]), ("apiKey" = ["agent"])), responses((status = 200, body = Released)))]
pub(super) async fn release_all_worlds(
    Agent(caller): Agent,
    State(app): State<App>,
    Json(body): Json<ReleaseAll>,
) -> Result<Json<Released>, ApiError> {
    let released = service::release_all(&app, caller.network, body.node_server_id).await?;
    Ok(Json(Released { released }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorldHeartbeat)]
pub(super) struct Heartbeat {
    #[schema(example = "island-node-1")]
    node_server_id: Identifier,
    /// Fence of the lease, from `WORLD_OPEN`.
    #[schema(example = 3)]
    fence: i64,
    /// Number of players in the world. Default: unchanged.
    player_count: Option<Count>,
    /// `blobKey` of a snapshot uploaded since. Required only if snapshots go to another store than the hub itself.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = json!(null))]
    blob_key: Option<Text<1000>>,
    /// Size of the snapshot.
    #[schema(example = json!(null))]
    size_bytes: Option<Size>,
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = u64, example = 1_048_576)]
pub(super) struct Size(i64);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let size = i64::deserialize(deserializer)?;
        if size < 0 {
            return Err(serde::de::Error::custom("must not be negative"));
        }
        Ok(Self(size))
    }
}

fn saved(blob_key: Option<Text<1000>>, size: Option<Size>) -> Option<SavedSnapshot> {
    let blob_key = blob_key?.into_string();
    Some(SavedSnapshot { blob_key, size_bytes: size.map(|Size(size)| size) })
}

/// Renew a lease
///
/// Called by a node while it has the world, also while it boots or saves it: about every 20 seconds. The answer's
/// `state` is the desired one: DRAINING means that the node must save and unload the world. A world without players for
/// 5 minutes is drained. An expired lease is not renewed: `lease_ended`, and the node discards the world without saving
/// it.
#[utoipa::path(post, path = "/api/plugin/worlds/{id}/heartbeat", tag = "Worlds", operation_id = "send_world_heartbeat",
    security(("apiKey" = ["plugin"]), ("apiKey" = ["agent"])), params(("id" = i64, Path, example = 17)),
    responses((status = 200, body = LeaseAnswer), (status = 404, body = ErrorBody, description = "No such lease")))]
pub(super) async fn heartbeat_world(
    Agent(caller): Agent,
    State(app): State<App>,
    Path(id): Path<i64>,
    Json(body): Json<Heartbeat>,
) -> Result<Json<LeaseAnswer>, ApiError> {
    let by = LeaseHolder { id, node: body.node_server_id, fence: body.fence };
    let players = body.player_count.map(|count| i64::from(count.0));
    let saved = saved(body.blob_key, body.size_bytes);
    let lease = service::heartbeat(&app, caller.network, &by, players, saved).await?;
    Ok(Json(LeaseAnswer::of(&app, lease)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorldReadyReport)]
pub(super) struct Ready {
    #[schema(example = "island-node-1")]
    node_server_id: Identifier,
    /// Fence of the lease, from `WORLD_OPEN`.
    #[schema(example = 3)]
    fence: i64,
}

/// Report that a world is up
///
/// Every server of the network gets a `WORLD_READY` event. A repeated report has no effect.
#[utoipa::path(post, path = "/api/plugin/worlds/{id}/ready", tag = "Worlds", operation_id = "report_world_ready",
    security(("apiKey" = ["plugin"]), ("apiKey" = ["agent"])), params(("id" = i64, Path, example = 17)),
    responses((status = 200, body = LeaseAnswer), (status = 404, body = ErrorBody, description = "No such lease")))]
pub(super) async fn ready_world(
    Agent(caller): Agent,
    State(app): State<App>,
    Path(id): Path<i64>,
    Json(body): Json<Ready>,
) -> Result<Json<LeaseAnswer>, ApiError> {
    let by = LeaseHolder { id, node: body.node_server_id, fence: body.fence };
    let lease = service::ready(&app, caller.network, &by).await?;
    Ok(Json(LeaseAnswer::of(&app, lease)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorldUnloadReport)]
pub(super) struct Unloaded {
    #[schema(example = "island-node-1")]
    node_server_id: Identifier,
    /// `blobKey` of the final snapshot's upload. Default: no snapshot newer than the known ones.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e/12/3-1")]
    blob_key: Option<Text<1000>>,
    /// Size of the snapshot; ignored if the hub stores it, which measures it itself.
    size_bytes: Option<Size>,
    /// Fence of the lease, from `WORLD_OPEN`.
    #[schema(example = 3)]
    fence: i64,
}

/// Report that a world was unloaded
///
/// Ends the lease; the world boots from this snapshot next. A repeated report gets the same answer. 400
/// `unknown_snapshot` if the key was created for another purpose, `snapshot_missing` if nothing was uploaded under it;
/// the lease then continues. A key that the hub did not create is accepted unchecked, for nodes with a store of their
/// own: `WORLD_OPEN` returns it, without a `snapshotUrl`, and this node is preferred for the world.
#[utoipa::path(post, path = "/api/plugin/worlds/{id}/unloaded", tag = "Worlds", operation_id = "report_world_unloaded",
    security(("apiKey" = ["plugin"]), ("apiKey" = ["agent"])), params(("id" = i64, Path, example = 17)),
    responses((status = 200, body = LeaseAnswer), (status = 404, body = ErrorBody, description = "No such lease")))]
pub(super) async fn unloaded_world(
    Agent(caller): Agent,
    State(app): State<App>,
    Path(id): Path<i64>,
    Json(body): Json<Unloaded>,
) -> Result<Json<LeaseAnswer>, ApiError> {
    let by = LeaseHolder { id, node: body.node_server_id, fence: body.fence };
    let saved = saved(body.blob_key, body.size_bytes);
    let lease = service::unloaded(&app, caller.network, &by, saved).await?;
    Ok(Json(LeaseAnswer::of(&app, lease)))
}

// Generated from the hub's OpenAPI document by connectors/generate.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::LiveServer;

/// State of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum WorldLeaseState {
    Loading,
    Ready,
    Draining,
    Unloaded,
    Lost,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum WorldOpenStatus {
    Ready,
    Loading,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Persistence of a world after it is unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WorldPersistence {
    Persistent,
    Ephemeral,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeRelease {
    /// Node that restarted.
    pub node_server_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NodeReleaseCount {
    /// Number of leases that this ended.
    pub released: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenedWorld {
    /// Human-readable reason; null on success.
    pub error_message: Option<String>,
    /// Server on which it is up.
    pub matched_server: Option<LiveServer>,
    /// Null if it is unavailable now.
    pub status: Option<WorldOpenStatus>,
    pub success: bool,
    /// Id of the slot that is reserved for the owner for 15 seconds; null if none is needed or free.
    pub transfer_id: Option<Uuid>,
    /// Number of the lease, repeated by `WORLD_READY`; as a `worldId`, the world's name on its server.
    pub world_instance_id: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotRequest {
    /// Passed to the node. Default: `REQUESTED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SnapshotUpload {
    /// Name of the snapshot for `unloaded` and `heartbeat`.
    pub blob_key: String,
    /// Time until which the upload may begin.
    pub expires_at: i64,
    /// Headers of the upload.
    pub headers: HashMap<String, String>,
    pub method: String,
    /// Destination of the bytes.
    pub url: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldHeartbeat {
    /// `blobKey` of a snapshot uploaded since. Required only if snapshots go to another store than the hub itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob_key: Option<String>,
    /// Fence of the lease, from `WORLD_OPEN`.
    pub fence: i64,
    pub node_server_id: String,
    /// Number of players in the world. Default: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_count: Option<u32>,
    /// Size of the snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// Current state of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldLease {
    /// Expiry; meaningless for a lease that has ended.
    pub expires_at: i64,
    /// Sent by the node in each callback.
    pub fence: i64,
    /// Duration of the lease from each heartbeat.
    pub lease_ms: i64,
    /// Node that holds it; null while it waits for the previous lease to end.
    pub node_server_id: Option<String>,
    /// Number of players in it, as last reported by its node.
    pub player_count: i64,
    pub state: WorldLeaseState,
    /// Number of the lease, as text.
    pub world_instance_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldReadyReport {
    /// Fence of the lease, from `WORLD_OPEN`.
    pub fence: i64,
    pub node_server_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldRequest {
    /// Game, which is the type of the servers that can boot it.
    pub game_id: String,
    /// Owner of the world.
    pub owner_id: String,
    /// Type of the owner; with `player`, and their UUID as `ownerId`, a slot is reserved for them if the world is up.
    pub owner_scope: String,
    /// Default: PERSISTENT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<WorldPersistence>,
    /// Server that should boot it, if it is online with room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefer_node: Option<String>,
    /// Source of a new world; passed to the node unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<WorldSeedInput>,
    /// Passed to the node unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_gen: Option<String>,
    /// Key among the owner's worlds. Default: `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_key: Option<String>,
}

/// Source of a new world; passed to the node unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldSeedInput {
    /// Format of `ref`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Initial content, such as a template's name or a URL.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Position in the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldUnloadReport {
    /// `blobKey` of the final snapshot's upload. Default: no snapshot newer than the known ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob_key: Option<String>,
    /// Fence of the lease, from `WORLD_OPEN`.
    pub fence: i64,
    pub node_server_id: String,
    /// Size of the snapshot; ignored if the hub stores it, which measures it itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

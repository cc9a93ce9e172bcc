// Generated from the hub's OpenAPI document by connectors/generate.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::LiveServer;

/// Where a lease is in its life.
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

/// Whether a world is kept when it is unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WorldPersistence {
    Persistent,
    Ephemeral,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeRelease {
    /// The node that started anew.
    pub node_server_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NodeReleaseCount {
    /// How many leases that ended.
    pub released: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenedWorld {
    /// The reason, for a person; null for a success.
    pub error_message: Option<String>,
    /// Where it is up.
    pub matched_server: Option<LiveServer>,
    /// Null where it cannot be had now.
    pub status: Option<WorldOpenStatus>,
    pub success: bool,
    /// Names the slot that is kept for the owner for 15 seconds; null where none is needed or free.
    pub transfer_id: Option<String>,
    /// The lease's number, as `WORLD_READY` repeats it; as a `worldId`, the world's name on its server.
    pub world_instance_id: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotRequest {
    /// Handed to the node; `REQUESTED` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SnapshotUpload {
    /// The snapshot's name for `unloaded` and `heartbeat`.
    pub blob_key: String,
    /// Until when the upload may begin.
    pub expires_at: i64,
    /// Headers to send with them.
    pub headers: HashMap<String, String>,
    pub method: String,
    /// Where the bytes go.
    pub url: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldHeartbeat {
    /// A snapshot that was uploaded since, by its `blobKey`. Needed only where snapshots go to another store than the
    /// hub itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob_key: Option<String>,
    /// The lease's, as `WORLD_OPEN` told it.
    pub fence: i64,
    pub node_server_id: String,
    /// Players in the world; absent: as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_count: Option<u32>,
    /// Its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// A lease as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldLease {
    /// When it runs out; meaningless for one that has ended.
    pub expires_at: i64,
    /// Sent along by the node with each callback.
    pub fence: i64,
    /// How long it lasts from each heartbeat.
    pub lease_ms: i64,
    /// The node that holds it; null while it waits for the lease before it to end.
    pub node_server_id: Option<String>,
    /// Players in it, as its node last said.
    pub player_count: i64,
    pub state: WorldLeaseState,
    /// The lease's number, as text.
    pub world_instance_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldReadyReport {
    /// The lease's, as `WORLD_OPEN` told it.
    pub fence: i64,
    pub node_server_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldRequest {
    /// The game, which is the type of the servers that can boot it.
    pub game_id: String,
    /// Whose world it is.
    pub owner_id: String,
    /// What kind of owner; with `player`, and their UUID as `ownerId`, a slot is kept for them where the world is up.
    pub owner_scope: String,
    /// PERSISTENT when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<WorldPersistence>,
    /// The server that shall boot it, if it is online with room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefer_node: Option<String>,
    /// What a new world is made from; handed to the node as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<WorldSeedInput>,
    /// Handed to the node as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_gen: Option<String>,
    /// Which of the owner's worlds; `default` when absent or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_key: Option<String>,
}

/// What a new world is made from; handed to the node as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldSeedInput {
    /// What `ref` is written in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What to begin with, such as a template's name or a URL.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Where in the world it goes.
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
    /// The snapshot it was unloaded with, by the `blobKey` of its upload; absent: there is none newer than those known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob_key: Option<String>,
    /// The lease's, as `WORLD_OPEN` told it.
    pub fence: i64,
    pub node_server_id: String,
    /// Its size; what came to the hub's own disk the hub has measured itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

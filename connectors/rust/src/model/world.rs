//! Worlds on demand.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::LiveServer;

/// A world to be opened for its owner: `OpenWorldRequest { world_key: Some("nether".into()), ..OpenWorldRequest::for_player("islands", uuid) }`.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenWorldRequest {
    /// The game, which is the type of the servers that run its worlds.
    pub game_id: String,
    /// The kind of owner, such as `player`.
    pub owner_scope: String,
    /// Which one.
    pub owner_id: String,
    /// Which of the owner's worlds; none: `default`.
    pub world_key: Option<String>,
    /// The server to run it on, if it has room.
    pub prefer_node: Option<String>,
    /// What a new world is made from.
    pub seed: Option<WorldSeed>,
    /// `PERSISTENT`, unless set, or `EPHEMERAL`: it is not saved.
    pub persistence: Option<String>,
    /// How a new world is made.
    pub world_gen: Option<String>,
}

impl OpenWorldRequest {
    /// A world of any owner.
    pub fn new(game_id: &str, owner_scope: &str, owner_id: &str) -> Self {
        let [game_id, owner_scope, owner_id] = [game_id, owner_scope, owner_id].map(str::to_owned);
        Self { game_id, owner_scope, owner_id, ..Self::default() }
    }

    /// A player's world. A slot for them is reserved when it is up.
    pub fn for_player(game_id: &str, player: Uuid) -> Self {
        Self::new(game_id, "player", &player.to_string())
    }
}

/// What a world is made from, as the node understands it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorldSeed {
    /// A reference, such as a template's name.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// The reference's format.
    pub format: Option<String>,
    /// A position.
    pub x: Option<f64>,
    /// A position.
    pub y: Option<f64>,
    /// A position.
    pub z: Option<f64>,
}

/// The answer to opening a world.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenedWorld {
    /// Whether it is or will be up.
    pub success: bool,
    /// `READY` or `LOADING`; none where it cannot be had now.
    pub status: Option<String>,
    /// The lease.
    pub world_instance_id: Option<String>,
    /// Why it cannot be had.
    pub error_message: Option<String>,
    /// Where it is up.
    pub matched_server: Option<LiveServer>,
    /// Names the reservation of a slot.
    pub transfer_id: Option<String>,
}

/// The right to run a world, as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldLease {
    /// The lease, as text.
    pub world_instance_id: String,
    /// `LOADING`, `READY`, `DRAINING`, `UNLOADED` or `LOST`.
    pub state: String,
    /// To be sent with each callback.
    pub fence: i64,
    /// The node that holds it; none while it waits.
    pub node_server_id: Option<String>,
    /// Players in it.
    pub player_count: u32,
    /// How long it lasts from each heartbeat, in milliseconds.
    pub lease_ms: i64,
    /// When it ends without another heartbeat.
    pub expires_at: i64,
}

/// Tells a node to boot a world.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldOpenCommand {
    /// The lease.
    pub world_id: i64,
    /// To be sent with each callback.
    pub fence: i64,
    /// How long the lease lasts from each heartbeat, in milliseconds.
    pub lease_ms: i64,
    /// Which of the owner's worlds.
    pub world_key: String,
    /// The game.
    pub game_id: String,
    /// Whose it is.
    pub owner: WorldOwner,
    /// `PERSISTENT` or `EPHEMERAL`.
    pub persistence: String,
    /// What to make it from.
    pub seed: Option<WorldSeed>,
    /// How to make it.
    pub world_gen: Option<String>,
    /// Its snapshot, for nodes with a store of their own.
    pub blob_key: Option<String>,
    /// Its snapshot, to be fetched without a key.
    pub snapshot_url: Option<String>,
}

/// Whose world it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct WorldOwner {
    /// The kind of owner, such as `player`.
    pub scope: String,
    /// Which one.
    pub id: String,
}

/// Where to upload a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SnapshotUpload {
    /// The address.
    pub url: String,
    /// The method.
    pub method: String,
    /// To be sent along.
    pub headers: HashMap<String, String>,
    /// Names the upload.
    pub blob_key: String,
    /// Until when the address is good.
    pub expires_at: i64,
}

// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{LiveServer, Punishment, WorldLeaseState};

/// What happened to a punishment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum PunishmentAction {
    Created,
    Revoked,
    Expired,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// The catalog's version after a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CatalogVersion {
    pub version: i64,
}

/// A line of chat, as it is sent to the hub and as the `CHAT` event carries it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChatMessage {
    /// Whether the name has the rank's color, too.
    pub color_name_also: Option<bool>,
    pub message: String,
    pub player_name: String,
    pub player_uuid: Uuid,
    /// What is shown before the name.
    pub rank: Option<String>,
    pub rank_bold: Option<bool>,
    pub rank_color: Option<String>,
    /// The server it was said on.
    pub server_id: String,
    pub server_type: Option<String>,
    /// The world it was said in.
    pub world: Option<String>,
}

/// What a document is known by.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConfigKey {
    /// Whom it is for, such as a type of server.
    pub group: String,
    /// What it is about, such as a plugin.
    pub namespace: String,
}

/// A server is to run a console command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConsoleCommandOrder {
    pub command: String,
    /// To be sent back with the outcome.
    pub request_id: String,
    /// How long the caller waits for the outcome.
    pub timeout_ms: i64,
}

/// What of a network's permissions changed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionsChange {
    /// The group that was put or deleted: what all players may do may have changed.
    pub group_id: Option<String>,
    /// The player whose own nodes changed.
    pub player_uuid: Option<Uuid>,
    /// Rises with every change; effective permissions of this revision or a later one have it.
    pub revision: i64,
}

/// A player came online, went offline or went to another server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerPresence {
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    /// The server the player came from; null unless they switched.
    pub previous_server_id: Option<String>,
    /// The server the player is on now, or has left.
    pub server_id: String,
}

/// A punishment was created, revoked, or has expired.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PunishmentChange {
    pub action: PunishmentAction,
    pub punishment: Punishment,
}

/// A world that was opened is up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadyWorld {
    /// Its node; null where it went offline meanwhile.
    pub server: Option<LiveServer>,
    /// The lease's number, as `open` answered it.
    pub world_instance_id: String,
}

/// The signing secret was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReplacedSigningSecret {
    /// The new one.
    pub signing_secret: String,
    /// Until when the old one is good, too.
    pub valid_until: i64,
}

/// A server came online or went offline.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerPresence {
    /// The server as it is now, or as it was last.
    pub server: LiveServer,
}

/// A player is to be sent to another server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SignedTransferCommand {
    pub expires_at: i64,
    /// Where players reach the target.
    pub host: String,
    pub issued_at: i64,
    pub player_uuid: Uuid,
    pub port: u32,
    pub target_server_id: String,
    pub target_world_id: Option<String>,
    pub transfer_id: Uuid,
    /// For each signing secret that is good, `v1,` and the base64 of an HMAC; spaces between.
    pub signature: String,
}

/// A node is to boot a world.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldBootOrder {
    /// The newest snapshot; null: the world begins anew.
    pub blob_key: Option<String>,
    /// To be sent back in the callbacks.
    pub fence: i64,
    pub game_id: String,
    /// How long the lease lasts unless a heartbeat renews it.
    pub lease_ms: i64,
    pub owner: WorldOwner,
    /// PERSISTENT or EPHEMERAL.
    pub persistence: String,
    pub seed: Option<WorldSeed>,
    /// Where to get it; null where there is none, or where a node keeps it in a store of its own.
    pub snapshot_url: Option<String>,
    pub world_gen: Option<String>,
    /// The lease, which the node names in its callbacks.
    pub world_id: i64,
    pub world_key: String,
}

/// Whose world it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldOwner {
    pub id: String,
    pub scope: String,
}

/// A node is to save a world, or to unload it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldSaveOrder {
    /// To be sent back in the callbacks.
    pub fence: i64,
    /// `IDLE`, `RELEASED`, or what the caller of `snapshot` said.
    pub reason: String,
    /// The lease.
    pub world_id: i64,
}

/// What a new world is made from; handed to the node as it was sent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldSeed {
    /// What `ref` is written in.
    pub format: Option<String>,
    /// What to begin with, such as a template's name or a URL.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// Where in the world it goes.
    pub x: Option<f64>,
    pub y: Option<f64>,
    pub z: Option<f64>,
}

/// The state that a world's lease has come to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldStateChange {
    pub state: WorldLeaseState,
    /// The lease's number, as text.
    pub world_instance_id: String,
}

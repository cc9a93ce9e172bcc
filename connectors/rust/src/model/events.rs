// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{Actor, Delivery, LiveServer, Match, Punishment, ReportState, Verdict, WorldLeaseState};

/// Decision on an appeal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum AppealDecision {
    Accept,
    Reduce,
    Reject,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// State of an appeal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum AppealState {
    Open,
    Accepted,
    Rejected,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Change of a punishment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum PunishmentAction {
    Created,
    Updated,
    Revoked,
    Expired,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// An appeal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Appeal {
    /// Staff's answer to the player.
    pub answer: Option<String>,
    pub appeal_id: String,
    pub at: i64,
    /// Way to reach the player.
    pub contact: Option<String>,
    pub decided_at: Option<i64>,
    pub decided_by: Option<Actor>,
    /// Null until it is decided.
    pub decision: Option<AppealDecision>,
    pub punishment_id: i64,
    pub state: AppealState,
    pub text: String,
}

/// A punished player appealed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AppealCreated {
    pub appeal: Appeal,
}

/// Version of the catalog after a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CatalogVersion {
    pub version: i64,
}

/// Chat message, as sent to the hub and in the `CHAT` event.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChatMessage {
    /// True if the name also has the rank's color.
    pub color_name_also: Option<bool>,
    pub message: String,
    pub player_name: String,
    pub player_uuid: Uuid,
    /// Prefix shown before the name.
    pub rank: Option<String>,
    pub rank_bold: Option<bool>,
    pub rank_color: Option<String>,
    /// Server on which it was sent.
    pub server_id: String,
    pub server_type: Option<String>,
    /// World in which it was sent.
    pub world: Option<String>,
}

/// Chat line with the decision about it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChatVerdict {
    /// Call of the modules. Null if no module was called.
    pub call_id: Option<String>,
    /// True if the name also has the rank's color.
    pub color_name_also: Option<bool>,
    /// Rises with time. Null if the network keeps no lines.
    pub id: Option<String>,
    /// Text as it was sent, or refused.
    pub message: String,
    /// Module that decided, if only one did.
    pub module: Option<String>,
    /// Text before it was rewritten.
    pub original: Option<String>,
    pub player_name: String,
    pub player_uuid: Uuid,
    /// Prefix shown before the name.
    pub rank: Option<String>,
    pub rank_bold: Option<bool>,
    pub rank_color: Option<String>,
    /// Server on which it was sent.
    pub server_id: String,
    pub server_type: Option<String>,
    pub verdict: Verdict,
    pub version: Option<i64>,
    /// World in which it was sent.
    pub world: Option<String>,
}

/// Key of a document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConfigKey {
    /// Target group, for example a type of server.
    pub group: String,
    /// Subject, for example a plugin.
    pub namespace: String,
}

/// Request to run a console command on a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConsoleCommandOrder {
    pub command: String,
    /// Id to return with the outcome.
    pub request_id: String,
    /// Time for which the caller waits for the outcome.
    pub timeout_ms: i64,
}

/// A delivery can be claimed at the server where its player is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeliveryReady {
    pub delivery_id: i64,
    pub kind: String,
    pub player_uuid: Uuid,
}

/// A delivery has ended, or is held.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeliverySettled {
    pub delivery: Delivery,
}

/// An event that a module emitted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EmittedEvent {
    /// Key of its order; null: it is about the network.
    pub key: Option<String>,
    pub module: String,
    /// Its name in the module.
    pub name: String,
    pub payload: Value,
    pub version: i64,
}

/// A module did not handle an event.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModuleDeadLetterNotice {
    /// Code of the last failure.
    pub code: String,
    pub dead_letter_id: String,
    /// Id of the event that was not handled; empty without one.
    pub event_id: String,
    /// Type of that event, or `TICK`, `TIMER` or `OVERFLOW`.
    pub event_type: String,
    pub module: String,
    pub version: i64,
}

/// Events wait for a module for more than a minute.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModuleLaggingNotice {
    /// Number of events that wait.
    pub lag_events: i64,
    /// Age of the oldest event that waits.
    pub lag_ms: i64,
    pub module: String,
}

/// A change of a network's permissions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionsChange {
    /// Group that was put or deleted: the effective permissions of all players may have changed.
    pub group_id: Option<String>,
    /// Player whose own nodes changed.
    pub player_uuid: Option<Uuid>,
    /// Rises with every change; effective permissions of this revision or a later one include it.
    pub revision: i64,
}

/// A player came online, went offline or switched servers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerPresence {
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    /// Previous server of a player who switched; else null.
    pub previous_server_id: Option<String>,
    /// The server the player is on now, or has left.
    pub server_id: String,
}

/// A punishment was created, changed or revoked, or has expired.
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
    /// Its node; null if it went offline meanwhile.
    pub server: Option<LiveServer>,
    /// Number of the lease, as in the answer of `open`.
    pub world_instance_id: String,
}

/// The signing secret was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReplacedSigningSecret {
    /// New secret.
    pub signing_secret: String,
    /// Time until which the old secret is valid.
    pub valid_until: i64,
}

/// A report about a player.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    pub at: i64,
    /// The reported player.
    pub player_uuid: Uuid,
    pub reason: String,
    /// Counted from 1 in the network.
    pub report_id: i64,
    /// Null for an erased player.
    pub reporter_uuid: Option<Uuid>,
    /// Staff's answer.
    pub resolution: Option<String>,
    /// Server on which it was written.
    pub server_id: Option<String>,
    pub state: ReportState,
    /// Staff member who works, or worked, on it.
    pub taken_by: Option<Actor>,
}

/// A player reported another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReportCreated {
    pub report: Report,
}

/// A server came online or went offline.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerPresence {
    /// The server's current or last state.
    pub server: LiveServer,
}

/// Event to a server whose session was ended by others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionEnd {
    /// Fence of the session that ended.
    pub fence: i64,
    pub player_uuid: Uuid,
}

/// Event to the server that holds a session: save it and close it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionRequest {
    /// Time at which the session ends if it is not closed.
    pub deadline: i64,
    /// Fence of the session to close.
    pub fence: i64,
    pub player_uuid: Uuid,
    /// Server that asks for the player.
    pub server_id: String,
}

/// Command to transfer a player to another server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SignedTransferCommand {
    pub expires_at: i64,
    /// Address of the target for players.
    pub host: String,
    pub issued_at: i64,
    pub player_uuid: Uuid,
    pub port: u32,
    pub target_server_id: String,
    pub target_world_id: Option<String>,
    pub transfer_id: Uuid,
    /// For each valid signing secret, `v1,` and the base64 of an HMAC, separated by spaces.
    pub signature: String,
}

/// A message of a module to players.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SystemMessage {
    /// Name of the module.
    pub module: String,
    pub prefix: Option<String>,
    pub target: SystemMessageTarget,
    pub text: String,
}

/// Players to whom a message is shown. Without any field: all of the network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SystemMessageTarget {
    /// This player.
    pub player_uuid: Option<Uuid>,
    /// Those on this server.
    pub server_id: Option<String>,
    /// Those on servers of this type.
    pub server_type: Option<String>,
}

/// A ticket was matched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TicketMatched {
    /// The match; its `transferId` holds the slots for 15 seconds.
    #[serde(rename = "match")]
    pub matched: Match,
    /// The rest of the party.
    pub party: Vec<Uuid>,
    pub player_uuid: Uuid,
    pub ticket_id: Uuid,
}

/// A waiting player's place changed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TicketUpdated {
    /// Estimated time until the match, in milliseconds; null if unknown.
    pub eta_ms: Option<i64>,
    pub player_uuid: Uuid,
    /// Place among the players who wait in the line, from 1.
    pub position: u64,
    pub ticket_id: Uuid,
    /// Number of players who wait in the line.
    pub waiting: u64,
}

/// Order to a node to boot a world.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldBootOrder {
    /// Newest snapshot; null: the world starts empty.
    pub blob_key: Option<String>,
    /// Fence for the callbacks.
    pub fence: i64,
    pub game_id: String,
    /// Duration of the lease unless a heartbeat renews it.
    pub lease_ms: i64,
    pub owner: WorldOwner,
    /// PERSISTENT or EPHEMERAL.
    pub persistence: String,
    pub seed: Option<WorldSeed>,
    /// URL of the snapshot; null if there is none, or if a node keeps it in its own store.
    pub snapshot_url: Option<String>,
    pub world_gen: Option<String>,
    /// The lease, which the node names in its callbacks.
    pub world_id: i64,
    pub world_key: String,
}

/// Owner of a world.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldOwner {
    pub id: String,
    pub scope: String,
}

/// Order to a node to save or unload a world.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldSaveOrder {
    /// Fence for the callbacks.
    pub fence: i64,
    /// `IDLE`, `RELEASED`, or the reason of the caller of `snapshot`.
    pub reason: String,
    /// Number of the lease.
    pub world_id: i64,
}

/// Source of a new world; passed to the node unchanged.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldSeed {
    /// Format of `ref`.
    pub format: Option<String>,
    /// Initial content, such as a template's name or a URL.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// Position in the world.
    pub x: Option<f64>,
    pub y: Option<f64>,
    pub z: Option<f64>,
}

/// New state of a world's lease.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldStateChange {
    pub state: WorldLeaseState,
    /// Number of the lease, as text.
    pub world_instance_id: String,
}

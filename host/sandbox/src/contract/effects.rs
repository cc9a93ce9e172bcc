//! `effects.wit`: changes that a handler asks the hub for.
//!
//! In JSON an effect is `{"modifyCurrency": {…}, "optional": true}`, amounts are decimals and texts of JSON are JSON.

use super::PunishmentKind;
use super::json_form::{decimal, json_text};
use serde::{Deserialize, Serialize, de::Error as _};
use wasmtime::component::{ComponentType, Lift, Lower};

/// Maximum number of effects of one call.
pub const MAX_EFFECTS: usize = 64;

/// One change that the hub applies with the call's other changes, or not at all.
#[derive(Clone, Debug, PartialEq, Serialize, ComponentType, Lift)]
#[component(record)]
pub struct Effect {
    /// The change.
    #[component(name = "action")]
    #[serde(flatten)]
    pub action: Action,
    /// True if the call's other changes are applied even if the hub refuses this one.
    #[component(name = "optional")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// Flattened, serde forgets the name of an unknown change.
impl<'de> Deserialize<'de> for Effect {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = serde_json::Map::deserialize(deserializer)?;
        let optional = fields.remove("optional").map(serde_json::from_value).transpose().map_err(D::Error::custom)?;
        let action = serde_json::from_value(fields.into()).map_err(D::Error::custom)?;
        Ok(Self { action, optional: optional.unwrap_or_default() })
    }
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ComponentType, Lift)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Adds to a balance.
    #[component(name = "modify-currency")]
    ModifyCurrency(ModifyCurrency),
    /// Adds to several balances, or to none.
    #[component(name = "transaction")]
    Transaction(Transaction),
    /// Adds to a statistic.
    #[component(name = "increment-statistic")]
    IncrementStatistic(IncrementStatistic),
    /// Writes a player's data.
    #[component(name = "put-player-data")]
    PutPlayerData(PutPlayerData),
    /// Deletes a player's data.
    #[component(name = "delete-player-data")]
    DeletePlayerData(DeletePlayerData),
    /// Writes a document of a collection.
    #[component(name = "put-document")]
    PutDocument(PutDocument),
    /// Deletes a document of a collection.
    #[component(name = "delete-document")]
    DeleteDocument(DeleteDocument),
    /// Sets a player's permission node.
    #[component(name = "put-permission")]
    PutPermission(PutPermission),
    /// Removes a player's permission node.
    #[component(name = "remove-permission")]
    RemovePermission(RemovePermission),
    /// Punishes a player. The chain of the point `punishment` is asked before.
    #[component(name = "punish")]
    Punish(Punish),
    /// Revokes a punishment.
    #[component(name = "revoke-punishment")]
    RevokePunishment(RevokePunishment),
    /// Shows a message to players.
    #[component(name = "send-chat")]
    SendChat(SendChat),
    /// Publishes an event `MODULE_EVENT`.
    #[component(name = "emit")]
    Emit(Emit),
    /// Creates a delivery.
    #[component(name = "deliver")]
    Deliver(Deliver),
    /// Runs a command on a server.
    #[component(name = "run-command")]
    RunCommand(RunCommand),
    /// Sends a player to a server.
    #[component(name = "transfer")]
    Transfer(Transfer),
    /// Calls one webhook of the network.
    #[component(name = "call-webhook")]
    CallWebhook(CallWebhook),
    /// Sets a timer, replacing one with the same key.
    #[component(name = "set-timer")]
    SetTimer(SetTimer),
    /// Cancels a timer, if it is set.
    #[component(name = "cancel-timer")]
    CancelTimer(CancelTimer),
}

impl Action {
    /// The name in JSON and in messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ModifyCurrency(_) => "modifyCurrency",
            Self::Transaction(_) => "transaction",
            Self::IncrementStatistic(_) => "incrementStatistic",
            Self::PutPlayerData(_) => "putPlayerData",
            Self::DeletePlayerData(_) => "deletePlayerData",
            Self::PutDocument(_) => "putDocument",
            Self::DeleteDocument(_) => "deleteDocument",
            Self::PutPermission(_) => "putPermission",
            Self::RemovePermission(_) => "removePermission",
            Self::Punish(_) => "punish",
            Self::RevokePunishment(_) => "revokePunishment",
            Self::SendChat(_) => "sendChat",
            Self::Emit(_) => "emit",
            Self::Deliver(_) => "deliver",
            Self::RunCommand(_) => "runCommand",
            Self::Transfer(_) => "transfer",
            Self::CallWebhook(_) => "callWebhook",
            Self::SetTimer(_) => "setTimer",
            Self::CancelTimer(_) => "cancelTimer",
        }
    }

    /// Scope that the link's grants need for it; `None`: none.
    pub fn scope(&self) -> Option<&'static str> {
        Some(match self {
            Self::ModifyCurrency(_) | Self::Transaction(_) => "economy:write",
            Self::IncrementStatistic(it) if it.owner_type != "player" => "economy:write",
            Self::IncrementStatistic(_) | Self::PutPlayerData(_) | Self::DeletePlayerData(_) => "players:write",
            Self::PutDocument(_) | Self::DeleteDocument(_) => "collections:write",
            Self::PutPermission(_) | Self::RemovePermission(_) => "permissions:write",
            Self::Punish(_) | Self::RevokePunishment(_) => "punishments:write",
            Self::SendChat(_) => "chat:send",
            Self::Deliver(_) => "deliveries:write",
            Self::RunCommand(_) => "servers:control",
            Self::Transfer(_) => "matchmaking",
            Self::CallWebhook(_) => "webhooks:call",
            Self::Emit(_) | Self::SetTimer(_) | Self::CancelTimer(_) => return None,
        })
    }
}

/// Adds to a balance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModifyCurrency {
    /// Kind of owner, such as `player`.
    #[component(name = "owner-type")]
    pub owner_type: String,
    /// The owner: for players their UUID.
    #[component(name = "owner-key")]
    pub owner_key: String,
    /// Name of the currency.
    #[component(name = "currency")]
    pub currency: String,
    /// In ten-thousandths of the currency's unit; negative takes away.
    #[component(name = "amount")]
    #[serde(with = "decimal")]
    pub amount: i64,
    /// Reason in the ledger.
    #[component(name = "reason")]
    pub reason: Option<String>,
    /// True if it is refused where the balance can't change by all of the amount.
    #[component(name = "exact")]
    #[serde(default)]
    pub exact: bool,
}

/// One part of a [`Transaction`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Operation {
    /// Kind of owner.
    #[component(name = "owner-type")]
    pub owner_type: String,
    /// The owner.
    #[component(name = "owner-key")]
    pub owner_key: String,
    /// Name of the currency.
    #[component(name = "currency")]
    pub currency: String,
    /// In ten-thousandths of the currency's unit.
    #[component(name = "amount")]
    #[serde(with = "decimal")]
    pub amount: i64,
}

/// Adds to several balances, or to none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Transaction {
    /// Its parts.
    #[component(name = "operations")]
    pub operations: Vec<Operation>,
    /// Reason in the ledger.
    #[component(name = "reason")]
    pub reason: Option<String>,
}

/// Adds to a statistic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IncrementStatistic {
    /// Kind of owner.
    #[component(name = "owner-type")]
    pub owner_type: String,
    /// The owner.
    #[component(name = "owner-key")]
    pub owner_key: String,
    /// Name of the statistic.
    #[component(name = "name")]
    pub name: String,
    /// `None`: `global`.
    #[component(name = "game-mode")]
    pub game_mode: Option<String>,
    /// Finite; negative takes away.
    #[component(name = "amount")]
    pub amount: f64,
}

/// Writes a player's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PutPlayerData {
    /// The player.
    #[component(name = "player-uuid")]
    pub player_uuid: String,
    /// Game mode of the entry.
    #[component(name = "game-mode")]
    pub game_mode: String,
    /// Namespace of the entry.
    #[component(name = "namespace")]
    pub namespace: String,
    /// The data, a text.
    #[component(name = "data")]
    pub data: String,
    /// Version that the entry must have, as read; `None`: any.
    #[component(name = "version")]
    pub version: Option<u64>,
}

/// Deletes a player's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeletePlayerData {
    /// The player.
    #[component(name = "player-uuid")]
    pub player_uuid: String,
    /// Game mode of the entry.
    #[component(name = "game-mode")]
    pub game_mode: String,
    /// Namespace of the entry.
    #[component(name = "namespace")]
    pub namespace: String,
    /// Version that the entry must have; `None`: any.
    #[component(name = "version")]
    pub version: Option<u64>,
}

/// Writes a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PutDocument {
    /// Name of the collection.
    #[component(name = "collection")]
    pub collection: String,
    /// Id of the document.
    #[component(name = "id")]
    pub id: String,
    /// Text of one JSON object.
    #[component(name = "document")]
    #[serde(with = "json_text")]
    pub document: String,
    /// The document that must be there, as read; `None`: any, or none.
    #[component(name = "expected")]
    #[serde(default, with = "json_text::option")]
    pub expected: Option<String>,
}

/// Deletes a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteDocument {
    /// Name of the collection.
    #[component(name = "collection")]
    pub collection: String,
    /// Id of the document.
    #[component(name = "id")]
    pub id: String,
    /// The document that must be there, as read; `None`: any, or none.
    #[component(name = "expected")]
    #[serde(default, with = "json_text::option")]
    pub expected: Option<String>,
}

/// Sets a player's permission node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PutPermission {
    /// The player.
    #[component(name = "player-uuid")]
    pub player_uuid: String,
    /// The node; it matches one of the grants' patterns.
    #[component(name = "node")]
    pub node: String,
    /// True grants it, false denies it.
    #[component(name = "value")]
    pub value: bool,
    /// In this context alone.
    #[component(name = "context")]
    pub context: Option<String>,
    /// In this world alone.
    #[component(name = "world")]
    pub world: Option<String>,
    /// Time of its end, in milliseconds since the Unix epoch.
    #[component(name = "expires-at-ms")]
    #[serde(rename = "expiresAt")]
    pub expires_at_ms: Option<u64>,
}

/// Removes a player's permission node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RemovePermission {
    /// The player.
    #[component(name = "player-uuid")]
    pub player_uuid: String,
    /// The node; it matches one of the grants' patterns.
    #[component(name = "node")]
    pub node: String,
    /// Its context.
    #[component(name = "context")]
    pub context: Option<String>,
    /// Its world.
    #[component(name = "world")]
    pub world: Option<String>,
}

/// Punishes a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Punish {
    /// The player; needed without a name.
    #[component(name = "player-uuid")]
    pub player_uuid: Option<String>,
    /// The player's name; needed without a UUID.
    #[component(name = "player-name")]
    pub player_name: Option<String>,
    /// Kind of punishment.
    #[component(name = "kind")]
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
    /// `None`: permanent.
    #[component(name = "duration-ms")]
    pub duration_ms: Option<u64>,
    /// Shown to the player.
    #[component(name = "reason")]
    pub reason: String,
}

/// Revokes a punishment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RevokePunishment {
    /// Its id in the network.
    #[component(name = "id")]
    pub id: u64,
    /// Kept with the punishment.
    #[component(name = "reason")]
    pub reason: Option<String>,
}

/// Players to whom a message is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(variant)]
pub enum ChatTarget {
    /// All players of the network.
    #[component(name = "network")]
    #[serde(rename = "NETWORK")]
    Network,
    /// Those on servers of this type.
    #[component(name = "server-type")]
    #[serde(rename = "serverType")]
    ServerType(String),
    /// Those on this server.
    #[component(name = "server")]
    #[serde(rename = "serverId")]
    Server(String),
    /// This player; refused as `player_offline` if they are offline.
    #[component(name = "player")]
    #[serde(rename = "playerUuid")]
    Player(String),
}

/// Shows a message to players.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendChat {
    /// The players.
    #[component(name = "target")]
    pub target: ChatTarget,
    /// 1 to 1,024 characters without control characters.
    #[component(name = "text")]
    pub text: String,
    /// Up to 64 characters.
    #[component(name = "prefix")]
    pub prefix: Option<String>,
}

/// Publishes an event `MODULE_EVENT`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Emit {
    /// Its name: 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
    #[component(name = "name")]
    pub name: String,
    /// Key of its order: 1 to 128 characters; `None`: the network.
    #[component(name = "key")]
    pub key: Option<String>,
    /// Text of one JSON object, up to 16 KiB.
    #[component(name = "payload")]
    #[serde(with = "json_text")]
    pub payload: String,
}

/// Fate of a delivery whose server vanished while it carried it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(enum)]
#[serde(rename_all = "UPPERCASE")]
#[repr(u8)]
pub enum OnLost {
    /// It waits for the staff.
    #[component(name = "hold")]
    Hold,
    /// It is carried out again.
    #[component(name = "retry")]
    Retry,
}

/// Creates a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deliver {
    /// The player; needed without a name.
    #[component(name = "player-uuid")]
    pub player_uuid: Option<String>,
    /// The player's name; needed without a UUID.
    #[component(name = "player-name")]
    pub player_name: Option<String>,
    /// Kind of delivery.
    #[component(name = "kind")]
    pub kind: String,
    /// Text of one JSON object, up to 16 KiB.
    #[component(name = "payload")]
    #[serde(with = "json_text")]
    pub payload: String,
    /// Servers of this type alone carry it out.
    #[component(name = "server-type")]
    pub server_type: Option<String>,
    /// This server alone carries it out.
    #[component(name = "server-id")]
    pub server_id: Option<String>,
    /// Not before this time, in milliseconds since the Unix epoch.
    #[component(name = "not-before-ms")]
    #[serde(rename = "notBefore")]
    pub not_before_ms: Option<u64>,
    /// Not after this time.
    #[component(name = "expires-at-ms")]
    #[serde(rename = "expiresAt")]
    pub expires_at_ms: Option<u64>,
    /// The shop's own id.
    #[component(name = "reference")]
    pub reference: Option<String>,
    /// `None`: [`OnLost::Hold`].
    #[component(name = "on-lost")]
    pub on_lost: Option<OnLost>,
}

/// Runs a command on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunCommand {
    /// The server.
    #[component(name = "server-id")]
    pub server_id: String,
    /// The command; its first word is one of the grants' commands.
    #[component(name = "command")]
    pub command: String,
    /// `None`: the route's default.
    #[component(name = "timeout-ms")]
    pub timeout_ms: Option<u64>,
}

/// Sends a player to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Transfer {
    /// The player.
    #[component(name = "player-uuid")]
    pub player_uuid: String,
    /// The server.
    #[component(name = "target-server-id")]
    pub target_server_id: String,
    /// The world on it.
    #[component(name = "target-world-id")]
    pub target_world_id: Option<String>,
}

/// Calls one webhook of the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallWebhook {
    /// The webhook.
    #[component(name = "webhook-id")]
    pub webhook_id: String,
    /// Name of the event it gets: 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
    #[component(name = "name")]
    pub name: String,
    /// Text of one JSON object, up to 16 KiB.
    #[component(name = "payload")]
    #[serde(with = "json_text")]
    pub payload: String,
}

/// Sets a timer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetTimer {
    /// 1 to 128 characters; `player:<uuid>` is deleted with its player.
    #[component(name = "key")]
    pub key: String,
    /// Time, in milliseconds since the Unix epoch.
    #[component(name = "at-ms")]
    #[serde(rename = "at")]
    pub at_ms: u64,
    /// Text of one JSON value, up to 4 KiB.
    #[component(name = "payload")]
    #[serde(with = "json_text")]
    pub payload: String,
}

/// Cancels a timer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelTimer {
    /// Its key.
    #[component(name = "key")]
    pub key: String,
}
